// The moments at which something starts or ends: where playback steps to.

import type { Schedule, Times } from "../schedule/types.ts";

/**
 * The first value beyond t in an ascending stretch, or the last one before it. Returns Infinity, or -Infinity, where
 * there is none.
 */
function beyond(values: Float64Array, lo: number, hi: number, t: number, way: 1 | -1): number {
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
 */
export function nextEdge({ p, offsets, copies }: Schedule, { start, end }: Times, t: number, way: 1 | -1): number {
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
