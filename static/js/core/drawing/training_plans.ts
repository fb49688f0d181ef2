// Training plans as data: which of them is on the screen, how each compares with it, and their table as CSV.
import { lines, type Units } from "./chart_points.ts";
import type { Spec } from "../schedule/types.ts";

/** Of a layout: pipeline, chunks, tensor, context and expert parallel, replicas, sequences of a micro-batch. */
export type Sizes = Record<"p" | "v" | "tp" | "context" | "expert" | "data" | "micro_batch" | "m", number>;
export type TrainingPlan = {
  spec: Spec;
  units: Units;
  sizes: Sizes;
  preset: Record<string, unknown>; // the fields of its model and machine
  frameworks: string[]; // names of those that run it
  place: number | null; // null: does not fit
  tied: boolean; // others have this place: they differ less than estimates are exact
  best: boolean; // the first of its family and number of chunks, or of its layout
  frontier: boolean; // faster than every plan with less memory
};
/** A size with which the plan of the least memory would fit, in bytes. */
type Remedy = { field: string; value: number; memory: number };
/** The answer of /api/plans: those that fit from the fastest, then the others. */
export type TrainingPlans = {
  would_fit: Remedy[];
  limit: number; // of a device, in bytes
  tried: number; // tried and left_out: settings
  left_out: number;
  plans: TrainingPlan[];
};

/** What follows from the model and the machine, or only tells how long an order was searched. */
const NOT_CHOSEN = ["costs", "w_share", "effort"];

/** The position of a schedule and its layout among the plans, -1 for none. */
export const placeOf = (plans: TrainingPlan[], spec: Spec, sizes: Sizes) =>
  plans.findIndex(
    (plan) =>
      Object.entries(sizes).every(([name, value]) => plan.sizes[name as keyof Sizes] === value) &&
      Object.entries(plan.spec).every(
        ([name, value]) =>
          NOT_CHOSEN.includes(name) || JSON.stringify(value) === JSON.stringify(spec[name as keyof Spec] ?? null),
      ),
  );

/** "PP 4 · VP 8 · TP 4 · DP 4 · b 1 · m 256"; without those of one, but for the pipeline and the micro-batches. */
export function layoutText(sizes: Sizes) {
  const named = { PP: "p", VP: "v", TP: "tp", CP: "context", EP: "expert", DP: "data", b: "micro_batch", m: "m" };
  const always = ["PP", "b", "m"];
  return Object.entries(named)
    .filter(([name, key]) => always.includes(name) || sizes[key as keyof Sizes] > 1)
    .map(([name, key]) => `${name} ${sizes[key as keyof Sizes]}`)
    .join(" · ");
}

/** Whether plans are of more than one layout of the devices. */
export const areLaidOut = (plans: TrainingPlan[]) =>
  new Set(plans.map(({ sizes }) => JSON.stringify({ ...sizes, v: 1 }))).size > 1;

/** The seconds of a step with what follows its last backward, by which plans are sorted. */
export const stepSeconds = ({ seconds, tail }: Pick<Units, "seconds" | "tail">) => seconds + tail;

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
  ["tp", ({ sizes }) => sizes.tp],
  ["cp", ({ sizes }) => sizes.context],
  ["ep", ({ sizes }) => sizes.expert],
  ["data", ({ sizes }) => sizes.data],
  ["micro_batch", ({ sizes }) => sizes.micro_batch],
  ["memory_limit_micro_batches", ({ spec }) => spec.memory ?? ""],
  ["recompute", ({ spec }) => word(spec.recompute)],
  ["offload", ({ spec }) => word(spec.offload)],
  ["step_s", ({ units }) => stepSeconds(units)],
  ["tokens_per_s", ({ units }) => units.tokens_per_second],
  ["busiest_tokens_per_s", ({ units }) => units.span.tokens_per_second],
  ["mfu", ({ units }) => units.mfu],
  ["memory_bytes", ({ units }) => units.memory.most],
  ["limit_bytes", ({ units }) => units.memory.limit],
  ["fits", ({ units }) => String(units.memory.fits)],
  ["frontier", ({ frontier }) => String(frontier)],
  ["runs_on", ({ frameworks }) => frameworks.join(" ")],
];

export const plansCsv = (plans: TrainingPlan[]) =>
  lines([COLUMNS.map(([name]) => name), ...plans.map((plan) => COLUMNS.map(([, value]) => value(plan)))]);

/** As the command line reads it. */
const word = (modes: Spec["recompute"]) => (typeof modes === "string" ? modes : modes.join(","));
