// Which sizes a family takes, by the rules of the server, with the nearest legal value: backend/schedule/families/
// rules.py and registry.py do the same.
import { CONSTRUCTED } from "./construct.js";
import { ofSizes } from "./table.js";
import { withChunks } from "../schedule/per_chunk.js";

/** @import {ChunkRange, Rule, Spec, SpecError} from "../schedule/types.js" */

const FARTHEST = 4096; // how far from a refused value the nearest legal one is looked for
const MOST_STEPS = 8;

/** @typedef {{v: ChunkRange, legal: Rule[]}} Sized  a family, also one that is searched */

/** @type {WeakMap<Rule, (spec: Spec) => number>} */
const conditions = new WeakMap();

/** @param {Rule} rule @param {Spec} spec */
function holds(rule, spec) {
  let where = conditions.get(rule);
  if (!where) conditions.set(rule, (where = ofSizes(rule.where)));
  return where(spec) !== 0;
}

/** Whether a family takes the sizes of a spec. @param {Spec} spec @param {Sized} family */
export function isLegal(spec, { v, legal }) {
  return v.min <= spec.v && spec.v <= v.max && legal.every((rule) => holds(rule, spec));
}

/** The reason why a family does not take the sizes of a spec, null where it does. @param {Spec} spec
 * @returns {SpecError | null} */
export function refusal(spec) {
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

/** @param {Spec} spec @param {string} family its title @param {{min: number, max: number}} range */
function refusedChunks({ v }, family, { min: least, max: most }) {
  const nearest = v < least ? least : most;
  return least === most
    ? error("v", v, nearest, "schedule.family_takes_v_exactly", "{family} takes v exactly {v}", { family, v: least })
    : error("v", v, nearest, "schedule.family_takes_v_from", "{family} takes v from {least} to {most}", {
        ...{ family, least, most },
      });
}

/** The closest value from 1 up with which a rule holds, of two the larger one. @param {Rule} rule @param {Spec} spec
 * @param {number} value */
function nearestLegal(rule, spec, value) {
  for (let distance = 1; distance < FARTHEST; distance++) {
    for (const each of [value + distance, value - distance])
      if (each > 0 && holds(rule, { ...spec, [rule.field]: each })) return each;
  }
  return null;
}

/**
 * @param {string} field @param {number} value @param {number | null} nearest @param {string} code
 * @param {string} template the server's English, with holes @param {Record<string, string | number>} values
 * @returns {SpecError}
 */
function error(field, value, nearest, code, template, values) {
  const params = Object.fromEntries(Object.entries(values).filter(([name]) => template.includes(`{${name}}`)));
  const message = template.replace(/\{(\w+)\}/g, (_, name) => String(params[name]));
  return { field, value, nearest, code, params, message };
}

/**
 * The legal spec next to one: refused fields take the nearest legal values, one after the other. Null where there is
 * none. @param {Spec} spec @returns {Spec | null}
 */
export function legalNear(spec) {
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
