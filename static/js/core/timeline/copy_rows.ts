// The copy lanes of an order as rows of their own, to be placed or binned like ops.

import { memoized } from "../memoized.ts";
import type { Rows } from "./layout.ts";
import type { Schedule, Times } from "../schedule/types.ts";

/**
 * The copies as rows that count from 0: read their times with `copyTimes`. Their codes are kind * chunks + chunk, as
 * those of F (an offload) and I (a reload) are, and so are their paint classes.
 */
export const copyRows = memoized(({ copies, count, chunks }: Schedule): Rows | null =>
  copies ? { codes: copies.codes, offsets: copies.offsets.map((at) => at - count), chunks } : null,
);

/** The copies' part of the times. */
export const copyTimes = ({ count }: Schedule, { start, end, makespan }: Times): Times => ({
  start: start.subarray(count),
  end: end.subarray(count),
  makespan,
});
