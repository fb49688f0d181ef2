// Training plans as data: which of them is on the screen, how each compares with it, and their table as CSV.
import { lines, type Units } from "./chart_points.ts";
import type { Spec } from "../schedule/types.ts";

export type TrainingPlan = {
  spec: Spec;
  units: Units;
  best: boolean; // the first of its family and number of chunks
  frontier: boolean; // faster than every plan with less memory
};
/** The answer of /api/plans: those that fit from the fastest, then the others. */
export type TrainingPlans = {
  p: number;
  m: number;
  limit: number; // of a device, in bytes
  tried: number; // tried and left_out: settings
  left_out: number;
  plans: TrainingPlan[];
};

/** What follows from the model and the machine, or only tells how long an order was searched. */
const NOT_CHOSEN = ["costs", "w_share", "effort"];

/** The position of a schedule among the plans, -1 for none. */
export const placeOf = (plans: TrainingPlan[], spec: Spec) =>
  plans.findIndex((plan) =>
    Object.entries(plan.spec).every(
      ([name, value]) =>
        NOT_CHOSEN.includes(name) || JSON.stringify(value) === JSON.stringify(spec[name as keyof Spec] ?? null),
    ),
  );

/** By how much longer a step is than another, a fraction; negative for a shorter one. */
export const longer = (seconds: number, other: number) => seconds / other - 1;

/** "−12.3 %", "+0.4 %", "0.0 %". x: a fraction. */
export function signedPercent(x: number) {
  const tenths = Math.round(1000 * x);
  const sign = tenths > 0 ? "+" : tenths < 0 ? "−" : "";
  return `${sign}${(Math.abs(tenths) / 10).toFixed(1)} %`;
}

/** The columns of the file of plans. */
const COLUMNS: [string, (plan: TrainingPlan) => string | number][] = [
  ["family", ({ spec }) => spec.family],
  ["p", ({ spec }) => spec.p],
  ["m", ({ spec }) => spec.m],
  ["v", ({ spec }) => spec.v],
  ["memory_limit_micro_batches", ({ spec }) => spec.memory ?? ""],
  ["recompute", ({ spec }) => word(spec.recompute)],
  ["offload", ({ spec }) => word(spec.offload)],
  ["step_s", ({ units }) => units.seconds],
  ["tokens_per_s", ({ units }) => units.tokens_per_second],
  ["busiest_tokens_per_s", ({ units }) => units.span.tokens_per_second],
  ["mfu", ({ units }) => units.mfu],
  ["memory_bytes", ({ units }) => units.memory.most],
  ["limit_bytes", ({ units }) => units.memory.limit],
  ["fits", ({ units }) => String(units.memory.fits)],
  ["frontier", ({ frontier }) => String(frontier)],
];

export const plansCsv = (plans: TrainingPlan[]) =>
  lines([COLUMNS.map(([name]) => name), ...plans.map((plan) => COLUMNS.map(([, value]) => value(plan)))]);

/** As the command line reads it. */
const word = (modes: Spec["recompute"]) => (typeof modes === "string" ? modes : modes.join(","));
