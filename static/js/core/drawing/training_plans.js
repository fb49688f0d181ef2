// Training plans as data: which of them is on the screen, how each compares with it, and their table as CSV.
import { lines } from "./chart_points.js";

/** @import {Spec} from "../schedule/types.js" */
/** @import {Units} from "./chart_points.js" */
/**
 * @typedef {{spec: Spec, units: Units, best: boolean, frontier: boolean}} TrainingPlan best: the first of its family
 *   and number of chunks; frontier: faster than every plan with less memory
 * @typedef {{p: number, m: number, limit: number, tried: number, left_out: number, plans: TrainingPlan[]}}
 *   TrainingPlans the answer of /api/plans: those that fit from the fastest, then the others; limit: of a device, in
 *   bytes; tried and left_out: settings
 */

/** What follows from the model and the machine, or only tells how long an order was searched. */
const NOT_CHOSEN = ["costs", "w_share", "effort"];

/**
 * The position of a schedule among the plans, -1 for none.
 * @param {TrainingPlan[]} plans
 * @param {Spec} spec
 */
export const placeOf = (plans, spec) =>
  plans.findIndex((plan) =>
    Object.entries(plan.spec).every(
      ([name, value]) =>
        NOT_CHOSEN.includes(name) ||
        JSON.stringify(value) === JSON.stringify(spec[/** @type {keyof Spec} */ (name)] ?? null),
    ),
  );

/** By how much longer a step is than another, a fraction; negative for a shorter one. @param {number} seconds
 * @param {number} other */
export const longer = (seconds, other) => seconds / other - 1;

/** "−12.3 %", "+0.4 %", "0.0 %" @param {number} x a fraction */
export function signedPercent(x) {
  const tenths = Math.round(1000 * x);
  const sign = tenths > 0 ? "+" : tenths < 0 ? "−" : "";
  return `${sign}${(Math.abs(tenths) / 10).toFixed(1)} %`;
}

const HEAD = [
  "family",
  "p",
  "m",
  "v",
  "memory_limit_micro_batches",
  "recompute",
  "offload",
  "step_s",
  "tokens_per_s",
  "mfu",
  "memory_bytes",
  "limit_bytes",
  "fits",
  "frontier",
];

/** @param {TrainingPlan[]} plans */
export const plansCsv = (plans) =>
  lines([
    HEAD,
    ...plans.map(({ spec, units, frontier }) => [
      spec.family,
      spec.p,
      spec.m,
      spec.v,
      spec.memory ?? "",
      word(spec.recompute),
      word(spec.offload),
      units.seconds,
      units.tokens_per_second,
      units.mfu,
      units.memory.most,
      units.memory.limit,
      String(units.memory.fits),
      String(frontier),
    ]),
  ]);

/** As the command line reads it. @param {Spec["recompute"]} modes */
const word = (modes) => (typeof modes === "string" ? modes : modes.join(","));
