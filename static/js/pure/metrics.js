// The figures of a timeline, planned or measured: makespan, longest stage, bubbles in both windows and denominators,
// messages. Knows times; knows no family.

/** @import {Schedule, Times} from "./types.js" */
/** @typedef {{ofTotal: number, ofIdeal: number}} Bubble  idle / whole, and idle / work */
/** @typedef {{makespan: number, longestStage: number, busy: Float64Array,
 *   bubble: {global: Bubble, span: Bubble}}} Figures */

/** @param {number} mean mean busy time of a rank @param {number} window @returns {Bubble} */
const bubble = (mean, window) => ({
  ofTotal: window > 0 ? 1 - mean / window : 0,
  ofIdeal: mean > 0 ? window / mean - 1 : 0,
});

/**
 * Ops that have not run yet (end = Infinity, at the tail of their rank) count for nothing.
 * @param {Schedule} schedule @param {Times} times
 * @returns {Figures}
 */
export function figures(schedule, times) {
  const { p, offsets } = schedule;
  const { start, end } = times;
  const busy = new Float64Array(p);
  let firstStart = Infinity;
  let lastEnd = -Infinity;
  let longestStage = 0;
  let total = 0;
  for (let r = 0; r < p; r++) {
    const from = offsets[r];
    let to = offsets[r + 1];
    while (to > from && end[to - 1] === Infinity) to--;
    let sum = 0;
    for (let i = from; i < to; i++) sum += end[i] - start[i];
    busy[r] = sum;
    total += sum;
    if (to === from) continue;
    firstStart = Math.min(firstStart, start[from]);
    lastEnd = Math.max(lastEnd, end[to - 1]);
    longestStage = Math.max(longestStage, end[to - 1] - start[from]);
  }
  const makespan = lastEnd > firstStart ? lastEnd - firstStart : 0;
  const mean = total / p;
  return { makespan, longestStage, busy, bubble: { global: bubble(mean, makespan), span: bubble(mean, longestStage) } };
}

/**
 * Messages between different ranks in one step. hops: how many stage boundaries of one micro-batch's forward path
 * lie between different ranks (the backward path crosses the same ones).
 * @param {Schedule} schedule @returns {{count: number, hops: number}}
 */
export function messages(schedule) {
  const { placement, chunks, n } = schedule;
  let crossings = 0;
  placement.prev.forEach((from, slot) => {
    if (from >= 0 && Math.floor(from / chunks) !== Math.floor(slot / chunks)) crossings++;
  });
  return { count: 2 * crossings * n, hops: crossings / placement.streams };
}
