// Late starts of a paced run: the time between when an op could have started, its rank free and its inputs there, and
// when it did.

import type { Times } from "../schedule/types.ts";
import type { Noted } from "./waits.ts";

/**
 * How late an op of a paced run started, in the plan's unit; 0 in other runs and while the op has not ended. i: flat
 * index of the op.
 */
export function lateStart({ start }: Times, noted: Noted | undefined, i: number) {
  if (!noted?.paced || start[i] === Infinity) return 0;
  return Math.max(0, start[i] - Math.max(0, noted.ready[i]));
}

/** The late starts of all ops together. */
export function sumOfLateStarts(times: Times, noted: Noted | undefined, count: number) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += lateStart(times, noted, i);
  return sum;
}
