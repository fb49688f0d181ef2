// What the pointer or the keyboard is on: an op or a copy with what it needs and unblocks, a bubble with its reason,
// or a step of the memory strip.
import { needs, unblocks, whyIdle } from "../core/explain/why_idle.ts";
import { opAt, type Part } from "../core/timeline/layout.ts";
import { refOf } from "../core/schedule/ops.ts";
import { alive } from "../core/measured/live_memory.ts";
import { held, levelAt, stepAt } from "../core/timeline/memory_strips.ts";
import type { Lane } from "../data/lanes.ts";
import type { OpRef } from "../core/schedule/types.ts";

type Links = ReturnType<typeof needs>;
/** A level of memory and how long it holds. */
export type Step = {
  from: number;
  to: number;
  level: number;
  peak: number;
  /** of a run, in bytes, and how many are drawn as high as 1 (core/measured/live_memory.ts) */
  real?: { level: number; peak: number; unit: number };
};
export type Trace = {
  lane: Lane;
  op: OpRef | null;
  needs: Links;
  frees: Links;
  idle: ReturnType<typeof whyIdle>;
  step: Step | null;
  rank: number;
  message?: number; // the number of a message (core/timeline/message_flow.ts)
};

export function traceOp(lane: Lane, op: OpRef): Trace {
  const { schedule, times, costs } = lane;
  return {
    lane,
    op,
    needs: needs(schedule, times, costs, op),
    frees: unblocks(schedule, times, costs, op),
    idle: null,
    step: null,
    rank: op.rank,
  };
}

function traceStep(lane: Lane, rank: number, t: number): Trace | null {
  if (t < 0 || t > lane.end) return null;
  const { steps, peaks } = held(lane.schedule, lane.times, lane.spec);
  const real = alive(lane.schedule, lane.times, lane.spec, lane.details);
  const shown = (real?.steps ?? steps)[rank];
  const k = stepAt(shown, t);
  const step = {
    from: shown.t[k] ?? 0,
    to: shown.t[k + 1] ?? lane.end,
    level: levelAt(steps[rank], t),
    peak: peaks[rank],
    ...(real ? { real: { level: levelAt(shown, t), peak: real.peaks[rank], unit: real.unit } } : {}),
  };
  return { lane, op: null, needs: [], frees: [], idle: null, step, rank };
}

/** part: of the row. */
export function traceAt(lane: Lane, rank: number, t: number, part: Part = "ops"): Trace | null {
  if (part === "strip") return traceStep(lane, rank, t);
  if (part === "copies") {
    const copy = lane.schedule.copies ? opAt(lane.schedule.copies, lane.times, rank, t) : -1;
    return copy < 0 ? null : traceOp(lane, refOf(lane.schedule, copy));
  }
  const i = opAt(lane.schedule, lane.times, rank, t);
  if (i >= 0) return traceOp(lane, refOf(lane.schedule, i));
  if (t < 0 || t > lane.end || lane.live) return null;
  const idle = whyIdle(lane.schedule, lane.times, lane.costs, rank, t, lane.spec, lane.family);
  if (idle?.kind === "drain" && lane.open) return null; // ops are still to be placed there
  return idle && { lane, op: null, needs: [], frees: [], idle, step: null, rank };
}

/** The same op, the same bubble or the same step? */
export function sameTrace(a: Trace | null, b: Trace | null) {
  if (!a || !b) return a === b;
  if (a.lane.times !== b.lane.times || a.lane.id !== b.lane.id || a.rank !== b.rank) return false;
  return (
    a.op?.i === b.op?.i && a.message === b.message && a.idle?.from === b.idle?.from && a.step?.from === b.step?.from
  );
}
