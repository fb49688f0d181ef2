// When barriers open: C1 when every rank's S of a micro-batch has ended, C2 when every T has.
import { memoized } from "../memoized.ts";
import { barrier } from "../schedule/dependencies.ts";
import { KIND_B, KIND_I, KIND_S, KIND_T, chunkOf, kindOf, micros, rankOf } from "../schedule/ops.ts";
import type { Schedule, Times } from "../schedule/types.ts";

export type Join = {
  name: string;
  kind: number; // S or T, whose ops meet there
  micro: number;
  opens: number; // when the last of them has ended
  ops: number[];
  last: number; // which one that is
};

/**
 * When each barrier opens, by micro-batch: one list a barrier, each in ascending order, since every rank does its S,
 * and its T, in the order of the micro-batches.
 */
export const openings = (schedule: Schedule, times: Times) => opened(times, schedule);

const opened = memoized(({ end }: Times, schedule: Schedule) => {
  const { codes, chunks, count, barriers, n } = schedule;
  const lists = Array.from({ length: barriers }, () => new Float64Array(n));
  const { first } = micros(schedule);
  for (let i = 0; barriers && i < count; i++) {
    const list = lists[kindOf(codes[i], chunks) - KIND_S];
    if (list && end[i] > list[first[i]]) list[first[i]] = end[i];
  }
  return lists;
});

function join(schedule: Schedule, times: Times, kind: number, micro: number): Join {
  const ops = barrier(schedule, kind, micro);
  const last = ops.reduce((a, b) => (times.end[b] > times.end[a] ? b : a));
  return { name: `C${kind - KIND_S + 1}`, kind, micro, opens: times.end[last], ops, last };
}

/**
 * The barriers that an op has to do with: the one it waits for, and the one it meets the other ranks at. i: flat index.
 */
export function barriersAt(schedule: Schedule, times: Times, i: number): { waits: Join | null; meets: Join | null } {
  const none = { waits: null, meets: null };
  const { barriers, codes, chunks, count, placement } = schedule;
  if (!barriers || i >= count) return none;
  const kind = kindOf(codes[i], chunks);
  const micro = micros(schedule).first[i];
  const at = (which: number) => join(schedule, times, which, micro);
  if (kind === KIND_S) return { waits: null, meets: at(KIND_S) };
  if (kind === KIND_T) return { waits: at(KIND_S), meets: barriers === 2 ? at(KIND_T) : null };
  const slot = rankOf(schedule, i) * chunks + chunkOf(codes[i], chunks);
  const held = (kind === KIND_I || kind === KIND_B) && placement.next[slot] < 0;
  return held ? { waits: at(barriers === 2 ? KIND_T : KIND_S), meets: null } : none;
}
