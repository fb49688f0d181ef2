// What keeps a rank from running ahead: while it waits, its next forward may be ready and still not start, because the
// memory limit, or the most micro-batches that the order ever lets the rank hold, is reached.

import { memoized } from "../memoized.ts";
import { sources } from "../schedule/dependencies.ts";
import { forwardSlots, holding, keptByChunk } from "../schedule/memory.ts";
import { KIND_B, KIND_F, KIND_PAIR, KIND_W, chunkOf, kindOf, micros, opText, rankOf } from "../schedule/ops.ts";
import { held, levelAt } from "../timeline/memory_strips.ts";
import type { Costs, Schedule, Spec, Times } from "../schedule/types.ts";

/**
 * By memory: holds and most are activations, in the unit of the limit; by count: in flight, chunks where chunked; by
 * order: the order just has another op first.
 */
export type HeldBack = {
  by: "memory" | "count" | "order";
  forward: string;
  holds: number;
  most: number;
  chunked: boolean;
};
/** after: by op, once it has ended; most: by rank. */
type InFlight = { after: Int32Array; most: Int32Array };

const DUST = 1e-9;

/** The next forward, or pair, of a rank from op i on; -1 for none. */
function nextForward({ codes, chunks }: Schedule, i: number, stop: number) {
  for (let k = i; k < stop; k++) {
    const kind = kindOf(codes[k], chunks);
    if (kind === KIND_F || kind === KIND_PAIR) return k;
  }
  return -1;
}

/** When an op's forward half has its input: 0 on the first stage. */
function inputAt(schedule: Schedule, times: Times, costs: Costs, i: number) {
  const link = sources(schedule, i).find(({ cargo }) => cargo === "activation");
  return link ? times.end[link.by] + (link.hops ? costs.comm : 0) : 0;
}

/**
 * What keeps the rank's next forward from running before op i, which ends a gap; null where no forward is ready before
 * then.
 */
export function heldBack(
  schedule: Schedule,
  times: Times,
  costs: Costs,
  spec: Spec,
  i: number,
  from: number, // when the gap begins
  by: number, // when a forward must be ready to count
): HeldBack | null {
  const rank = rankOf(schedule, i);
  const next = nextForward(schedule, i, schedule.offsets[rank + 1]);
  if (next < 0 || next === i || inputAt(schedule, times, costs, next) >= by) return null;
  const forward = opText(schedule, next);
  const chunk = chunkOf(schedule.codes[next], schedule.chunks);
  const slot = rank * schedule.chunks + chunk;
  const keeps = !forwardSlots(schedule)(slot);
  if (spec.memory !== null && keeps) {
    const holds = levelAt(held(schedule, times, spec).steps[rank], from);
    const { kept, v, sizes } = holding(spec);
    const micro = micros(schedule).first[next] + schedule.n * schedule.placement.stream[slot];
    const takes = (keptByChunk(kept, schedule.chunks)[chunk] / v) * (sizes?.[micro] ?? 1);
    if (holds + takes > spec.memory * (1 + DUST))
      return { by: "memory", forward, holds, most: spec.memory, chunked: false };
  }
  const { after, most } = inFlight(schedule);
  const holds = i > schedule.offsets[rank] ? after[i - 1] : 0;
  return {
    by: keeps && holds >= most[rank] ? "count" : "order",
    forward,
    holds,
    most: most[rank],
    chunked: schedule.chunks > 1,
  };
}

/** How many chunks of micro-batches each rank has in flight: a forward adds one, a W or a full backward removes one. */
const inFlight = memoized(countInFlight);

function countInFlight(schedule: Schedule): InFlight {
  const { p, chunks, codes, offsets, count: all } = schedule;
  const alone = forwardSlots(schedule);
  const change = Int8Array.from({ length: 256 }, (_, code) => {
    const kind = kindOf(code, chunks);
    return kind === KIND_F ? 1 : kind === KIND_W || kind === KIND_B ? -1 : 0; // a pair does one of each
  });
  const after = new Int32Array(all);
  const most = new Int32Array(p);
  for (let r = 0; r < p; r++) {
    let level = 0;
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const code = codes[i];
      level += code < chunks && alone(r * chunks + code) ? 0 : change[code];
      after[i] = level;
      if (level > most[r]) most[r] = level;
    }
  }
  return { after, most };
}
