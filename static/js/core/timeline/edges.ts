// The moments at which something starts or ends: where playback and the edge of an area step to.

import { firstWhere } from "../first_where.ts";
import type { Schedule, Times } from "../schedule/types.ts";

type Way = 1 | -1;

/** Moments nearer than a billionth of t count as the same one. */
export const sameMoment = (t: number) => 1e-9 * Math.max(1, Math.abs(t));

/** How long after one moment another is: 0 where they count as the same one. */
export const since = (from: number, to: number) => (to - from > sameMoment(to) ? to - from : 0);

const nearest = (edges: number[], way: Way) => (way > 0 ? Math.min(...edges) : Math.max(...edges));

/**
 * The first start or end beyond t in a rank's row of ops or copies, or the last one before it; ±Infinity for none.
 */
export function edgeOfRow(offsets: Int32Array, { start, end }: Times, rank: number, t: number, way: Way): number {
  const from = t + way * sameMoment(t);
  const [lo, hi] = [offsets[rank], offsets[rank + 1]];
  const edges = [start, end].map((values) => {
    const i = firstWhere(lo, hi, (at) => (way > 0 ? values[at] > from : values[at] >= from));
    if (way > 0) return i < hi ? values[i] : Infinity;
    return i > lo ? values[i - 1] : -Infinity;
  });
  return nearest(edges, way);
}

/** The same over all ranks, copies included. */
export function nextEdge({ p, offsets, copies }: Schedule, times: Times, t: number, way: Way): number {
  const rows = copies ? [offsets, copies.offsets] : [offsets];
  const edges = rows.flatMap((each) => Array.from({ length: p }, (_, rank) => edgeOfRow(each, times, rank, t, way)));
  return nearest(edges, way);
}
