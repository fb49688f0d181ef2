// The figures of a timeline, planned or measured: makespan, longest stage, bubbles in both windows and denominators,
// messages.

import { forwardSlots } from "./memory.ts";
import type { Schedule, Times } from "./types.ts";

/** Idle / whole, and idle / work. */
type Bubble = { ofTotal: number; ofIdeal: number };
export type Figures = {
  makespan: number;
  longestStage: number;
  busy: Float64Array;
  bubble: { global: Bubble; span: Bubble };
};

/** busy: mean busy time of a rank. */
const bubble = (window: number, busy: number): Bubble =>
  window <= 0 || busy <= 0 ? { ofTotal: 0, ofIdeal: 0 } : { ofTotal: 1 - busy / window, ofIdeal: window / busy - 1 };

const BLOCK = 128;

/**
 * Sum of end - start over n ops from lo, added in the order of numpy's pairwise summation (eight running sums in blocks
 * of 128, halves above), so that the figures equal the server's to the last bit.
 */
function pairwise(start: Float64Array, end: Float64Array, lo: number, n: number): number {
  if (n < 8) {
    let sum = 0;
    for (let i = lo; i < lo + n; i++) sum += end[i] - start[i];
    return sum;
  }
  if (n > BLOCK) {
    const half = (n >> 1) - ((n >> 1) % 8);
    return pairwise(start, end, lo, half) + pairwise(start, end, lo + half, n - half);
  }
  const sums = [0, 0, 0, 0, 0, 0, 0, 0];
  const whole = n - (n % 8);
  for (let i = 0; i < whole; i++) sums[i % 8] += end[lo + i] - start[lo + i];
  let sum = sums[0] + sums[1] + (sums[2] + sums[3]) + (sums[4] + sums[5] + (sums[6] + sums[7]));
  for (let i = whole; i < n; i++) sum += end[lo + i] - start[lo + i];
  return sum;
}

const ZEROS = new Float64Array(BLOCK * 8);

/** values: at most 1024 of them; Returns the mean as numpy takes it. */
const mean = (values: Float64Array): number => pairwise(ZEROS, values, 0, values.length) / values.length;

/** Ops that have not run yet (end = Infinity, at the tail of their rank) count for nothing. */
export function figures(schedule: Schedule, times: Times): Figures {
  const { p, offsets } = schedule;
  const { start, end } = times;
  const busy = new Float64Array(p);
  let firstStart = Infinity;
  let lastEnd = -Infinity;
  let longestStage = 0;
  for (let r = 0; r < p; r++) {
    const from = offsets[r];
    let to = offsets[r + 1];
    while (to > from && end[to - 1] === Infinity) to--;
    if (to === from) continue;
    // The first element apart, as numpy's reduceat does.
    busy[r] = end[from] - start[from] + pairwise(start, end, from + 1, to - from - 1);
    firstStart = Math.min(firstStart, start[from]);
    lastEnd = Math.max(lastEnd, end[to - 1]);
    longestStage = Math.max(longestStage, end[to - 1] - start[from]);
  }
  const makespan = lastEnd > firstStart ? lastEnd - firstStart : 0;
  const work = mean(busy);
  return { makespan, longestStage, busy, bubble: { global: bubble(makespan, work), span: bubble(longestStage, work) } };
}

/**
 * Messages between different ranks in one step. hops: how many stage boundaries of one micro-batch's forward path are
 * between different ranks (a backward path crosses the same ones).
 */
export function messages(schedule: Schedule): { count: number; hops: number } {
  const { placement, chunks, n } = schedule;
  const alone = forwardSlots(schedule);
  let [crossings, back] = [0, 0];
  placement.prev.forEach((from, slot) => {
    if (from < 0 || Math.floor(from / chunks) === Math.floor(slot / chunks)) return;
    crossings++;
    if (!alone(from)) back++;
  });
  return { count: (crossings + back) * n, hops: crossings / placement.streams };
}
