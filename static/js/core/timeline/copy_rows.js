// The copy lanes of an order as rows of their own, to be placed or binned like ops.

/** @import {Rows} from "./layout.js" */
/** @import {Schedule, Times} from "../schedule/types.js" */

/** @type {WeakMap<Schedule, Rows>} */
const cache = new WeakMap();

/**
 * The copies as rows that count from 0: read their times with `copyTimes`. Their codes are kind * chunks + chunk, as
 * those of F (an offload) and I (a reload) are, and so are their paint classes.
 * @param {Schedule} schedule @returns {Rows | null}
 */
export function copyRows(schedule) {
  const { copies, count, chunks } = schedule;
  if (!copies) return null;
  let rows = cache.get(schedule);
  if (!rows) {
    rows = { codes: copies.codes, offsets: copies.offsets.map((at) => at - count), chunks };
    cache.set(schedule, rows);
  }
  return rows;
}

/** The copies' part of the times. @param {Schedule} schedule @param {Times} times @returns {Times} */
export const copyTimes = ({ count }, { start, end, makespan }) => ({
  start: start.subarray(count),
  end: end.subarray(count),
  makespan,
});
