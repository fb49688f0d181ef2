// Which sizes a family takes, by the rules of the server, with the nearest legal value: backend/schedule/families/
// rules.py and registry.py do the same.
import { memoized } from "../memoized.ts";
import { CONSTRUCTED } from "./construct.ts";
import { ofSizes } from "./table.ts";
import { withChunks } from "../schedule/per_chunk.ts";
import type { ChunkRange, Rule, Spec, SpecError } from "../schedule/types.ts";

const FARTHEST = 4096; // how far from a refused value the nearest legal one is looked for
const MOST_STEPS = 8;

/** A family, also one that is searched. */
type Sized = { v: ChunkRange; legal: Rule[] };

const condition = memoized((rule: Rule) => ofSizes(rule.where));

const holds = (rule: Rule, spec: Spec) => condition(rule)(spec) !== 0;

/** Whether a family takes the sizes of a spec. */
export function isLegal(spec: Spec, { v, legal }: Sized) {
  return v.min <= spec.v && spec.v <= v.max && legal.every((rule) => holds(rule, spec));
}

/** The reason why a family does not take the sizes of a spec, null where it does. */
export function refusal(spec: Spec): SpecError | null {
  const { title, v, legal } = CONSTRUCTED[spec.family];
  if (spec.v < v.min || spec.v > v.max) return refusedChunks(spec, title, v);
  const broken = legal.find((rule) => !holds(rule, spec));
  if (!broken) return null;
  const value = ofSizes(broken.field === "group" ? "g" : broken.field)(spec);
  const nearest = nearestLegal(broken, spec, value);
  const holes = Object.entries(broken.holes).map(([name, tree]) => [name, ofSizes(tree)(spec)]);
  return error(broken.field, value, nearest, broken.code, broken.template, {
    ...{ family: title, nearest: nearest ?? 0 },
    ...Object.fromEntries(holes),
  });
}

/** family: its title. */
function refusedChunks({ v }: Spec, family: string, { min: least, max: most }: { min: number; max: number }) {
  const nearest = v < least ? least : most;
  return least === most
    ? error("v", v, nearest, "schedule.family_takes_v_exactly", "{family} takes v exactly {v}", { family, v: least })
    : error("v", v, nearest, "schedule.family_takes_v_from", "{family} takes v from {least} to {most}", {
        ...{ family, least, most },
      });
}

/** The closest value from 1 up with which a rule holds, of two the larger one. */
function nearestLegal(rule: Rule, spec: Spec, value: number) {
  for (let distance = 1; distance < FARTHEST; distance++) {
    for (const each of [value + distance, value - distance])
      if (each > 0 && holds(rule, { ...spec, [rule.field]: each })) return each;
  }
  return null;
}

function error(
  field: string,
  value: number,
  nearest: number | null,
  code: string,
  template: string, // the server's English, with holes
  values: Record<string, string | number>,
): SpecError {
  const params = Object.fromEntries(Object.entries(values).filter(([name]) => template.includes(`{${name}}`)));
  const message = template.replace(/\{(\w+)\}/g, (_, name) => String(params[name]));
  return { field, value, nearest, code, params, message };
}

/**
 * The legal spec next to one: refused fields take the nearest legal values, one after the other. Null where there is
 * none.
 */
export function legalNear(spec: Spec): Spec | null {
  let near = spec;
  for (let step = 0; step < MOST_STEPS; step++) {
    const problem = refusal(near);
    if (!problem) return near;
    if (problem.nearest === null) return null;
    const { field, nearest } = problem;
    near = field === "v" ? withChunks(near, Number(nearest)) : { ...near, [field]: nearest };
  }
  return null;
}
