// The moments at which something starts or ends: where playback steps to.

/** @import {Schedule, Times} from "../schedule/types.js" */

/**
 * The first value beyond t in an ascending stretch, or the last one before it.
 * @param {Float64Array} values
 * @param {number} lo
 * @param {number} hi
 * @param {number} t
 * @param {1 | -1} way
 * @returns {number} Infinity, or -Infinity, where there is none
 */
function beyond(values, lo, hi, t, way) {
  let a = lo;
  let b = hi;
  while (a < b) {
    const mid = (a + b) >>> 1;
    if (way > 0 ? values[mid] > t : values[mid] >= t) b = mid;
    else a = mid + 1;
  }
  if (way > 0) return a < hi ? values[a] : Infinity;
  return a > lo ? values[a - 1] : -Infinity;
}

/**
 * The next (or the previous) moment at which an op or a copy of any rank starts or ends; ±Infinity for none. Moments
 * nearer than a billionth of t count as the same one.
 * @param {Schedule} schedule
 * @param {Times} times
 * @param {number} t
 * @param {1 | -1} way
 * @returns {number}
 */
export function nextEdge({ p, offsets, copies }, { start, end }, t, way) {
  const from = t + way * 1e-9 * Math.max(1, t);
  let best = way * Infinity;
  for (const rows of copies ? [offsets, copies.offsets] : [offsets]) {
    for (let r = 0; r < p; r++) {
      for (const values of [start, end]) {
        const edge = beyond(values, rows[r], rows[r + 1], from, way);
        best = way > 0 ? Math.min(best, edge) : Math.max(best, edge);
      }
    }
  }
  return best;
}
