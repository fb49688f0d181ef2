// Costs from a preset: applied to a spec, and left out of links. Reads kept answers only and sends no request.
import { costsPath, known, type Priced } from "./api.ts";
import { specsOf } from "../../core/state/schedules.ts";
import type { Costs, Modes, Spec } from "../../core/schedule/types.ts";
import type { State } from "../../core/state/link.ts";
import type { Preset } from "../../core/state/link_preset.ts";

/** The costs that a preset sets, and those that may be lists. */
const PRICED = ["F", "I", "W", "comm", "FB", "S", "T", "O", "R", "wire"] as const;
const LISTS = ["F", "I", "W"] as const;
/** A cost rounded to six digits, only here: the simulation has exactly the value that a link or a file contains. */
export const tidy = (x: number) => Number(x.toPrecision(6));
const tidied = (cost: number | number[]) => (Array.isArray(cost) ? cost.map(tidy) : tidy(cost));

type Found = { w_share: number; costs: Costs };
/** An answer's lists as they are applied: always the same ones. */
const derived: WeakMap<Priced, Pick<Costs, "F" | "I" | "W">> = new WeakMap();

/** The preset's costs for a spec, null where the answer is not here. */
function foundFor(preset: Preset, spec: Spec): Found | null {
  const priced: Priced | undefined = known(costsPath(preset, spec));
  if (!priced) return null;
  const { F, I, W, comm } = priced.costs;
  const stages = derived.get(priced) ?? { F: tidied(F), I: tidied(I), W: tidied(W) };
  derived.set(priced, stages);
  const shards = priced.options.shards[spec.vocabulary]; // none where the output layer is the last stage's
  const wire = spec.streams === "none" ? 0 : priced.options.wire; // else a part of the hop, which is a delay
  return {
    w_share: Number(priced.w_share.toPrecision(4)),
    costs: {
      ...stages,
      comm: tidy(comm - wire),
      FB: null,
      S: shards ? tidy(shards.S) : null,
      T: shards ? tidy(shards.T) : null,
      O: spec.offload === "none" ? null : tidy(priced.options.O),
      R: recomputed(spec.recompute, priced.options.R),
      wire: tidy(wire),
    },
  };
}

/** What one kind of recomputation adds to I; null for none, and where chunks differ in the kind. */
function recomputed(modes: Modes, given: Priced["options"]["R"]) {
  const kinds = new Set([modes].flat().filter((mode) => mode !== "none"));
  const [kind] = kinds;
  return kinds.size === 1 ? tidy(given[kind as keyof typeof given]) : null;
}

/** The spec with these costs; the same object where it has them already. */
export function withFrom({ w_share, costs }: Found, spec: Spec): Spec {
  const { F, I, W, comm, FB, S, T, O, R, wire } = costs;
  const found = { F, I, W, comm, FB, S, T, O, R, wire };
  const same = spec.w_share === w_share && PRICED.every((name) => spec.costs[name] === found[name]);
  return same ? spec : { ...spec, w_share, costs: { ...spec.costs, ...found } };
}

/** The spec with the preset's costs, null where the answer is not here. */
export function priceOf(preset: Preset, spec: Spec) {
  const found = foundFor(preset, spec);
  return found && withFrom(found, spec);
}

/** The spec without the costs that the preset gives it, so that the server derives them, for every number of stages. */
export const withoutDerived = (preset: Preset | null, spec: Spec, defaults: Spec): Spec =>
  preset !== null && priceOf(preset, spec) === spec
    ? { ...spec, costs: defaults.costs, w_share: defaults.w_share }
    : spec;

/**
 * The state after costs were changed by hand: the preset stays as their origin while lists of it remain, so that links
 * stay short.
 */
export function changedByHand(next: State, origin: Preset | undefined): State {
  const leans = (spec: Spec) => {
    const found = origin ? foundFor(origin, spec)?.costs : null;
    return found ? LISTS.some((name) => Array.isArray(found[name]) && spec.costs[name] === found[name]) : false;
  };
  return { ...next, origin: specsOf(next).some(leans) ? origin : undefined };
}

const values = ({ w_share, costs }: Found): [number, ...(number | number[] | null)[]] => [
  w_share,
  ...PRICED.map((name) => costs[name]),
];

const foundOf = ([w_share, F, I, W, comm, FB, S, T, O, R, wire]: any[]): Found => ({
  w_share,
  costs: { F, I, W, comm, FB, S, T, O, R, wire },
});

/** The spec with only what was changed by hand; null where a change would read as unchanged. */
export function abridged(origin: Preset, spec: Spec, defaults: Spec) {
  const found = foundFor(origin, spec);
  if (!found) return null;
  const [now, theirs, plain] = [spec, found, defaults].map(values);
  if (now.some((value, at) => value !== theirs[at] && value === plain[at])) return null;
  return withFrom(foundOf(now.map((value, at) => (value === theirs[at] ? plain[at] : value))), spec);
}

/** The inverse of `abridged`. */
export function unabridged(origin: Preset, spec: Spec, defaults: Spec) {
  const found = foundFor(origin, spec);
  if (!found) return spec;
  const [now, theirs, plain] = [spec, found, defaults].map(values);
  return withFrom(foundOf(now.map((value, at) => (value === plain[at] ? theirs[at] : value))), spec);
}

export const hasCosts = (spec: Spec, defaults: Spec) =>
  PRICED.some((name) => spec.costs[name] !== defaults.costs[name]);
