// Activation recomputation: what is run again before the backward, and what is kept from the forward. The same shares
// as in backend/schedule/options/recompute.py; effective_costs.js counts what runs again.

/** @import {Spec} from "./types.js" */

/** extra: the part of F that runs again with I; kept: the part of F's activations held until then.
 * @type {Record<string, {extra: number, kept: number}>} */
export const MODES = {
  none: { extra: 0, kept: 1 },
  selective: { extra: (4 * 2048) / (24 * 12288 + 4 * 2048), kept: 34 / (34 + (5 * 96 * 2048) / 12288) },
  full: { extra: 1, kept: 2 / 34 },
};

/** The part of a forward's activations that is held until its backward. @param {Spec} spec */
export const kept = (spec) => MODES[spec.recompute].kept;
