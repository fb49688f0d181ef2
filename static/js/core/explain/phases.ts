// The phases of a step, rank by rank.
//
//   warm-up    until the rank starts its first backward (an I, a B or an overlapped pair)
//   cool-down  from the end of its last forward (an F or a pair) on, to the end of the step
//   steady     between the two, where forwards and backwards take turns
//
// A rank that ends its last forward before its first backward starts (GPipe) has no steady phase: its warm-up lasts
// until that forward's end. In a forward-only schedule a rank is in warm-up until its first forward starts. S, T and
// copies belong to the phase they are in. The pipeline as a whole is in warm-up while any rank is and none cools down,
// in cool-down while any rank is and none warms up; where some do the one and some the other it turns around, and it is
// steady when all ranks are.

import { memoized } from "../memoized.ts";
import { isForwardOnly } from "../schedule/memory.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, kindOf } from "../schedule/ops.ts";
import type { Schedule, Times } from "../schedule/types.ts";

export type Phase = "warm-up" | "steady" | "cool-down";
/** By rank: when its warm-up ends, when its cool-down begins. */
type Phases = { warm: Float64Array; cool: Float64Array };

export const phases = (schedule: Schedule, times: Times) => measured(times, schedule);

const measured = memoized(measure);

function measure({ start, end }: Times, schedule: Schedule): Phases {
  const { p, chunks, codes, offsets } = schedule;
  const inference = isForwardOnly(schedule);
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOf(code, chunks));
  const warm = new Float64Array(p);
  const cool = new Float64Array(p);
  for (let r = 0; r < p; r++) {
    let i = offsets[r];
    while (i < offsets[r + 1] && ![KIND_I, KIND_B, KIND_PAIR].includes(kinds[codes[i]])) i++;
    let k = offsets[r + 1] - 1;
    while (k >= offsets[r] && kinds[codes[k]] !== KIND_F && kinds[codes[k]] !== KIND_PAIR) k--;
    cool[r] = k >= offsets[r] ? end[k] : 0;
    const first = inference ? offsets[r] : i;
    warm[r] = Math.min(cool[r], first < offsets[r + 1] ? start[first] : Infinity);
  }
  return { warm, cool };
}

export const phaseOf = ({ warm, cool }: Phases, rank: number, t: number): Phase =>
  t < warm[rank] ? "warm-up" : t < cool[rank] ? "steady" : "cool-down";

/** The phase of the whole pipeline. */
export function phaseOfAll(at: Phases, t: number): Phase | "turn" {
  let warming = false;
  let cooling = false;
  for (let r = 0; r < at.warm.length; r++) {
    if (t < at.warm[r]) warming = true;
    else if (t >= at.cool[r]) cooling = true;
  }
  if (warming) return cooling ? "turn" : "warm-up";
  return cooling ? "cool-down" : "steady";
}
