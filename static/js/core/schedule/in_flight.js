// How many chunks of micro-batches each rank has in flight after each of its ops: a forward takes one up, a weight
// gradient
// or a full backward lays one down. Knows orders; knows no times.

import { KIND_B, KIND_F, KIND_W, kindOf } from "./ops.js";

/** @import {Schedule} from "./types.js" */
/**
 * @typedef {{after: Int32Array, most: Int32Array}} InFlight after: by op, once it has ended; most: between ops, by rank
 */

/** @type {WeakMap<Schedule, InFlight>} */
const cache = new WeakMap();

/** @param {Schedule} schedule @returns {InFlight} */
export function inFlight(schedule) {
  let found = cache.get(schedule);
  if (!found) cache.set(schedule, (found = count(schedule)));
  return found;
}

/** @param {Schedule} schedule @returns {InFlight} */
function count({ p, chunks, codes, offsets, count: all }) {
  const change = Int8Array.from({ length: 256 }, (_, code) => {
    const kind = kindOf(code, chunks);
    return kind === KIND_F ? 1 : kind === KIND_W || kind === KIND_B ? -1 : 0; // a pair does one of each
  });
  const after = new Int32Array(all);
  const most = new Int32Array(p);
  for (let r = 0; r < p; r++) {
    let level = 0;
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      level += change[codes[i]];
      after[i] = level;
      if (level > most[r]) most[r] = level;
    }
  }
  return { after, most };
}
