// The copy lanes of an order as rows of their own, to be placed or binned like ops.

import type { Rows } from "./layout.ts";
import type { Schedule, Times } from "../schedule/types.ts";

const cache = new WeakMap<Schedule, Rows>();

/**
 * The copies as rows that count from 0: read their times with `copyTimes`. Their codes are kind * chunks + chunk, as
 * those of F (an offload) and I (a reload) are, and so are their paint classes.
 */
export function copyRows(schedule: Schedule): Rows | null {
  const { copies, count, chunks } = schedule;
  if (!copies) return null;
  let rows = cache.get(schedule);
  if (!rows) {
    rows = { codes: copies.codes, offsets: copies.offsets.map((at) => at - count), chunks };
    cache.set(schedule, rows);
  }
  return rows;
}

/** The copies' part of the times. */
export const copyTimes = ({ count }: Schedule, { start, end, makespan }: Times): Times => ({
  start: start.subarray(count),
  end: end.subarray(count),
  makespan,
});
