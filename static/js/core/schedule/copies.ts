// The copies of an order that offloads activations: what each of them is.

import { memoized } from "../memoized.ts";
import type { Schedule } from "./types.ts";

/** Kind 0 offload, 1 reload. */
type Copy = { rank: number; kind: number; chunk: number; slot: number; micro: number };

export const OFFLOAD = 0;
export const RELOAD = 1;
export const COPY_LETTERS = "OR";

/** Micro-batches of the copies, first in, first out; and the flat index of each (kind, slot, micro). */
const counted = memoized((schedule: Schedule) => {
  const { p, chunks, copies, count } = schedule;
  const micro = new Int32Array(copies?.count ?? 0);
  const at = new Map<number, number>();
  for (let r = 0; copies && r < p; r++) {
    const done = new Int32Array(2 * chunks);
    for (let i = copies.offsets[r]; i < copies.offsets[r + 1]; i++) {
      const code = copies.codes[i - count];
      at.set(key(schedule, (code / chunks) | 0, r * chunks + (code % chunks), done[code]), i);
      micro[i - count] = done[code]++;
    }
  }
  return { micro, at };
});

const key = ({ p, chunks, n }: Schedule, kind: number, slot: number, micro: number) =>
  (kind * p * chunks + slot) * n + micro;

/** i: flat index of a copy. */
export function copyOf(schedule: Schedule, i: number): Copy {
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

/** The flat index of a slot's copy of a micro-batch, -1 for none. */
export const copyAt = (schedule: Schedule, kind: number, slot: number, micro: number) =>
  schedule.copies ? (counted(schedule).at.get(key(schedule, kind, slot, micro)) ?? -1) : -1;

/** "2O0". */
export function copyText(schedule: Schedule, i: number) {
  const { kind, slot, micro } = copyOf(schedule, i);
  return `${schedule.placement.stage[slot]}${COPY_LETTERS[kind]}${micro}`;
}

/** Returns flat index, or -1. */
export function findCopy(schedule: Schedule, stage: number, letter: string, micro: number): number {
  const slot = schedule.placement.stage.indexOf(stage);
  return slot < 0 ? -1 : copyAt(schedule, COPY_LETTERS.indexOf(letter), slot, micro);
}
