// Rows of codes to a Schedule, as wire.ts makes one of the server's bytes.
import { KIND_B, micros } from "../schedule/ops.ts";
import type { Placement, Schedule, Spec } from "../schedule/types.ts";
import type { Row } from "./table.ts";

/** An order with implied micro-batches. */
export function fromRows(placement: Placement, m: number, v: number, rows: Row[], spec?: Spec): Schedule {
  const { p, chunks } = placement;
  const offsets = new Int32Array(p + 1);
  rows.forEach((row, r) => (offsets[r + 1] = offsets[r] + row.length));
  const codes = new Uint8Array(offsets[p]);
  rows.forEach((row, r) => codes.set(row, offsets[r]));
  return {
    spec: spec as Spec,
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

/** The same order with each chunk's full backwards from the last micro-batch to the first. */
export function backwardsFromTheLast(schedule: Schedule): Schedule {
  const { codes, chunks, n } = schedule;
  if (n === 1) return schedule; // a single micro-batch: nothing to reverse
  const { first } = micros(schedule);
  const isBackward = (code: number) => Math.floor(code / chunks) === KIND_B;
  return { ...schedule, micro: [first.map((k, i) => (isBackward(codes[i]) ? n - 1 - k : k))] };
}
