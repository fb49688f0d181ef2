// The copies of an order that offloads activations: what each of them is.

/** @import {Schedule} from "./types.js" */
/**
 * @typedef {{rank: number, kind: number, chunk: number, slot: number, micro: number}} Copy kind 0 offload, 1 reload
 */

export const OFFLOAD = 0;
export const RELOAD = 1;
export const COPY_LETTERS = "OR";

/** @type {WeakMap<Schedule, {micro: Int32Array, at: Map<number, number>}>} */
const cache = new WeakMap();

/**
 * Micro-batches of the copies, first in, first out; and the flat index of each (kind, slot, micro).
 * @param {Schedule} schedule
 */
function counted(schedule) {
  let found = cache.get(schedule);
  if (!found) {
    found = { micro: new Int32Array(schedule.copies?.count ?? 0), at: new Map() };
    const { p, chunks, copies, count } = schedule;
    for (let r = 0; copies && r < p; r++) {
      const done = new Int32Array(2 * chunks);
      for (let i = copies.offsets[r]; i < copies.offsets[r + 1]; i++) {
        const code = copies.codes[i - count];
        found.at.set(key(schedule, (code / chunks) | 0, r * chunks + (code % chunks), done[code]), i);
        found.micro[i - count] = done[code]++;
      }
    }
    cache.set(schedule, found);
  }
  return found;
}

/** @param {Schedule} schedule @param {number} kind @param {number} slot @param {number} micro */
const key = ({ p, chunks, n }, kind, slot, micro) => (kind * p * chunks + slot) * n + micro;

/** @param {Schedule} schedule @param {number} i flat index of a copy @returns {Copy} */
export function copyOf(schedule, i) {
  const { chunks, copies, count, p } = schedule;
  if (!copies) throw new Error("the order has no copies");
  let rank = 0;
  while (rank < p - 1 && copies.offsets[rank + 1] <= i) rank++;
  const code = copies.codes[i - count];
  const chunk = code % chunks;
  return {
    rank,
    kind: (code / chunks) | 0,
    chunk,
    slot: rank * chunks + chunk,
    micro: counted(schedule).micro[i - count],
  };
}

/** The flat index of a slot's copy of a micro-batch, -1 for none. @param {Schedule} schedule @param {number} kind
 * @param {number} slot @param {number} micro */
export const copyAt = (schedule, kind, slot, micro) =>
  schedule.copies ? (counted(schedule).at.get(key(schedule, kind, slot, micro)) ?? -1) : -1;

/** "2O0" @param {Schedule} schedule @param {number} i */
export function copyText(schedule, i) {
  const { kind, slot, micro } = copyOf(schedule, i);
  return `${schedule.placement.stage[slot]}${COPY_LETTERS[kind]}${micro}`;
}

/**
 * @param {Schedule} schedule
 * @param {number} stage
 * @param {string} letter
 * @param {number} micro
 * @returns {number} flat index, or -1
 */
export function findCopy(schedule, stage, letter, micro) {
  const slot = schedule.placement.stage.indexOf(stage);
  return slot < 0 ? -1 : copyAt(schedule, COPY_LETTERS.indexOf(letter), slot, micro);
}
