// Activation recomputation: what is run again before the backward, and what is kept from the forward. The same shares and
// the same arithmetic as backend/schedule/recompute.py. Knows costs only.

/** @import {Costs, Spec} from "./types.js" */

/** extra: the part of F that runs again with I; kept: the part of F's activations held until then.
 * @type {Record<string, {extra: number, kept: number}>} */
export const MODES = {
  none: { extra: 0, kept: 1 },
  selective: { extra: (4 * 2048) / (24 * 12288 + 4 * 2048), kept: 34 / (34 + (5 * 96 * 2048) / 12288) },
  full: { extra: 1, kept: 2 / 34 },
};

/** The part of a forward's activations that is held until its backward. @param {Spec} spec */
export const kept = (spec) => MODES[spec.recompute].kept;

/** The costs that ops really have: the forward that runs again is counted to I. @param {Spec} spec @returns {Costs} */
export function timing({ costs, recompute }) {
  const { extra } = MODES[recompute];
  return extra === 0 ? costs : { ...costs, I: plus(costs.I, costs.F, extra) };
}

/** @param {number|number[]} cost @param {number|number[]} again @param {number} extra */
function plus(cost, again, extra) {
  if (typeof cost === "number" && typeof again === "number") return cost + extra * again;
  if (Array.isArray(cost) && Array.isArray(again)) return cost.map((one, stage) => one + extra * again[stage]);
  throw new Error("with recomputation F and I are both lists or both numbers");
}
