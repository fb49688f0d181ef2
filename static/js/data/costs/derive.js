// Costs from a preset: applied to a spec, and left out of links. Reads kept answers only and sends no request.
import { costsPath, known } from "./api.js";
import { specsOf } from "../../core/state/schedules.js";

/** @import {Priced} from "./api.js" */
/** @import {Costs, Spec} from "../../core/schedule/types.js" */
/** @import {State} from "../../core/state/link.js" */
/** @import {Preset} from "../../core/state/link_preset.js" */

/** The costs that a preset sets, and those that may be lists. */
const PRICED = /** @type {const} */ (["F", "I", "W", "comm", "FB", "S", "T", "O"]);
const LISTS = /** @type {const} */ (["F", "I", "W"]);
/** A cost rounded to six digits, only here: the simulation has exactly the value that a link or a file contains.
 * @param {number} x */
export const tidy = (x) => Number(x.toPrecision(6));
/** @param {number | number[]} cost */
const tidied = (cost) => (Array.isArray(cost) ? cost.map(tidy) : tidy(cost));

/** @typedef {{w_share: number, costs: Costs}} Found */
/** @type {WeakMap<Priced, Pick<Costs, "F" | "I" | "W">>} an answer's lists as they are applied: always the same ones */
const derived = new WeakMap();

/**
 * The preset's costs for a spec, null where the answer is not here.
 * @param {Preset} preset
 * @param {Spec} spec
 * @returns {Found | null}
 */
function foundFor(preset, spec) {
  /** @type {Priced | undefined} */
  const priced = known(costsPath(preset, spec));
  if (!priced) return null;
  const { F, I, W, comm } = priced.costs;
  const stages = derived.get(priced) ?? { F: tidied(F), I: tidied(I), W: tidied(W) };
  derived.set(priced, stages);
  const shards = priced.options.shards[spec.vocabulary]; // none where the output layer is the last stage's
  return {
    w_share: Number(priced.w_share.toPrecision(4)),
    costs: {
      ...stages,
      comm: tidy(comm),
      FB: null,
      S: shards ? tidy(shards.S) : null,
      T: shards ? tidy(shards.T) : null,
      O: spec.offload === "none" ? null : tidy(priced.options.O),
    },
  };
}

/**
 * The spec with these costs; the same object where it has them already.
 * @param {Found} from
 * @param {Spec} spec
 * @returns {Spec}
 */
export function withFrom({ w_share, costs }, spec) {
  const { F, I, W, comm, FB, S, T, O } = costs;
  const found = { F, I, W, comm, FB, S, T, O };
  const same = spec.w_share === w_share && PRICED.every((name) => spec.costs[name] === found[name]);
  return same ? spec : { ...spec, w_share, costs: { ...spec.costs, ...found } };
}

/** The spec with the preset's costs, null where the answer is not here. @param {Preset} preset @param {Spec} spec */
export function priceOf(preset, spec) {
  const found = foundFor(preset, spec);
  return found && withFrom(found, spec);
}

/** The state after costs were changed by hand: the preset stays as their origin while lists of it remain, so that links
 * stay short.
 * @param {State} next @param {Preset | undefined} origin @returns {State} */
export function changedByHand(next, origin) {
  /** @param {Spec} spec */
  const leans = (spec) => {
    const found = origin ? foundFor(origin, spec)?.costs : null;
    return found ? LISTS.some((name) => Array.isArray(found[name]) && spec.costs[name] === found[name]) : false;
  };
  return { ...next, origin: specsOf(next).some(leans) ? origin : undefined };
}

/** @param {Found} one @returns {[number, ...(number | number[] | null)[]]} */
const values = ({ w_share, costs }) => [w_share, ...PRICED.map((name) => costs[name])];

/** @param {any[]} list @returns {Found} */
const foundOf = ([w_share, F, I, W, comm, FB, S, T, O]) => ({ w_share, costs: { F, I, W, comm, FB, S, T, O } });

/**
 * The spec with only what was changed by hand; null where a change would read as unchanged.
 * @param {Preset} origin
 * @param {Spec} spec
 * @param {Spec} defaults
 */
export function abridged(origin, spec, defaults) {
  const found = foundFor(origin, spec);
  if (!found) return null;
  const [now, theirs, plain] = [spec, found, defaults].map(values);
  if (now.some((value, at) => value !== theirs[at] && value === plain[at])) return null;
  return withFrom(foundOf(now.map((value, at) => (value === theirs[at] ? plain[at] : value))), spec);
}

/** The inverse of `abridged`. @param {Preset} origin @param {Spec} spec @param {Spec} defaults */
export function unabridged(origin, spec, defaults) {
  const found = foundFor(origin, spec);
  if (!found) return spec;
  const [now, theirs, plain] = [spec, found, defaults].map(values);
  return withFrom(foundOf(now.map((value, at) => (value === plain[at] ? theirs[at] : value))), spec);
}

/** @param {Spec} spec @param {Spec} defaults */
export const hasCosts = (spec, defaults) => PRICED.some((name) => spec.costs[name] !== defaults.costs[name]);
