// Rows of codes to a Schedule, as wire.js makes one of the server's bytes.
import { KIND_B, micros } from "../schedule/ops.js";

/** @import {Placement, Schedule, Spec} from "../schedule/types.js" */
/** @import {Row} from "./table.js" */

/**
 * An order with implied micro-batches.
 * @param {Placement} placement @param {number} m @param {number} v @param {Row[]} rows @param {Spec} [spec]
 * @returns {Schedule}
 */
export function fromRows(placement, m, v, rows, spec) {
  const { p, chunks } = placement;
  const offsets = new Int32Array(p + 1);
  rows.forEach((row, r) => (offsets[r + 1] = offsets[r] + row.length));
  const codes = new Uint8Array(offsets[p]);
  rows.forEach((row, r) => codes.set(row, offsets[r]));
  return {
    spec: /** @type {Spec} */ (spec),
    placement,
    p,
    m,
    n: m / placement.streams,
    v,
    chunks,
    codes,
    offsets,
    micro: [],
    count: codes.length,
    barriers: 0,
    copies: null,
  };
}

/** The same order with each chunk's full backwards from the last micro-batch to the first. @param {Schedule} schedule
 * @returns {Schedule} */
export function backwardsFromTheLast(schedule) {
  const { codes, chunks, n } = schedule;
  if (n === 1) return schedule; // a single micro-batch: nothing to reverse
  const { first } = micros(schedule);
  const isBackward = (/** @type {number} */ code) => Math.floor(code / chunks) === KIND_B;
  return { ...schedule, micro: [first.map((k, i) => (isBackward(codes[i]) ? n - 1 - k : k))] };
}
