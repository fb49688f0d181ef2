// When barriers open: C1 when every rank's S of a micro-batch has ended, C2 when every T has.
import { barrier } from "../schedule/dependencies.js";
import { KIND_B, KIND_I, KIND_S, KIND_T, chunkOf, kindOf, micros, rankOf } from "../schedule/ops.js";

/** @import {Schedule, Times} from "../schedule/types.js" */
/** @typedef {{name: string, kind: number, micro: number, opens: number, ops: number[], last: number}} Join
 *   kind: S or T, whose ops meet there; opens: when the last of them has ended; last: which one that is */

/** @type {WeakMap<Times, Float64Array[]>} */
const cache = new WeakMap();

/**
 * When each barrier opens, by micro-batch: one list a barrier, each in ascending order, since every rank does its S,
 * and its T, in the order of the micro-batches.
 * @param {Schedule} schedule
 * @param {Times} times
 * @returns {Float64Array[]}
 */
export function openings(schedule, times) {
  let found = cache.get(times);
  if (!found) {
    found = Array.from({ length: schedule.barriers }, () => new Float64Array(schedule.n));
    const { codes, chunks, count } = schedule;
    const { first } = micros(schedule);
    for (let i = 0; found.length && i < count; i++) {
      const list = found[kindOf(codes[i], chunks) - KIND_S];
      if (list && times.end[i] > list[first[i]]) list[first[i]] = times.end[i];
    }
    cache.set(times, found);
  }
  return found;
}

/** @param {Schedule} schedule @param {Times} times @param {number} kind @param {number} micro @returns {Join} */
function join(schedule, times, kind, micro) {
  const ops = barrier(schedule, kind, micro);
  const last = ops.reduce((a, b) => (times.end[b] > times.end[a] ? b : a));
  return { name: `C${kind - KIND_S + 1}`, kind, micro, opens: times.end[last], ops, last };
}

/**
 * The barriers that an op has to do with: the one it waits for, and the one it meets the other ranks at.
 * @param {Schedule} schedule @param {Times} times @param {number} i flat index
 * @returns {{waits: Join | null, meets: Join | null}}
 */
export function barriersAt(schedule, times, i) {
  const none = { waits: null, meets: null };
  const { barriers, codes, chunks, count, placement } = schedule;
  if (!barriers || i >= count) return none;
  const kind = kindOf(codes[i], chunks);
  const micro = micros(schedule).first[i];
  const at = (/** @type {number} */ which) => join(schedule, times, which, micro);
  if (kind === KIND_S) return { waits: null, meets: at(KIND_S) };
  if (kind === KIND_T) return { waits: at(KIND_S), meets: barriers === 2 ? at(KIND_T) : null };
  const slot = rankOf(schedule, i) * chunks + chunkOf(codes[i], chunks);
  const held = (kind === KIND_I || kind === KIND_B) && placement.next[slot] < 0;
  return held ? { waits: at(barriers === 2 ? KIND_T : KIND_S), meets: null } : none;
}
