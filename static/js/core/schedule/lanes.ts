// What runs on a rank's lanes beside its compute: copies to and from host memory, barriers, messages on streams.

import { memoized } from "../memoized.ts";
import { RELOAD, copyOf } from "./copies.ts";
import { share } from "./effective_costs.ts";
import { KIND_S, kindOf, micros } from "./ops.ts";
import type { Costs, Messages, Schedule } from "./types.ts";

/**
 * What runs on the lanes beside compute, lane after lane: copies, barriers, ends of messages. A job is issued after
 * `issued` ops of its rank, waits for the job before it on its lane, and starts with the jobs of its meeting, one on
 * each lane that takes part. See backend/schedule/simulation/lanes.py.
 */
export type Jobs = {
  issued: Int32Array;
  cell: Int32Array; // the place of its result on the board of ends, -1 for none
  meeting: Int32Array;
  took: Float64Array;
  at: Int32Array; // its flat index among the times, -1 for a barrier
  first: Int32Array; // of each lane, and the end of the last
  lanes: Int32Array; // the first of each rank, and the end of the last
  size: Int32Array; // of each meeting
};
const STREAM = 3; // the lanes of a rank: its copies, C1 and C2, its streams

/** Where the parts of the board of ends begin that hold S's and T's, barriers, and arrivals, and how large it is. */
export function boardOf({ p, chunks, n, barriers, copies, messages }: Schedule) {
  const gradients = p * chunks * n;
  const shards = 3 * gradients;
  const joins = shards + 2 * p * n;
  const arrivals = barriers > 0 || copies !== null ? joins + 2 * n : 2 * gradients;
  return { shards, joins, arrivals, size: messages ? arrivals + 2 * gradients : arrivals };
}

export function jobsOf(schedule: Schedule, costs: Costs): Jobs {
  const { count, messages } = schedule;
  const jobs = untimed(schedule);
  const copied = copyTimes(schedule, costs);
  const begin = firstEnd(schedule);
  const took = new Float64Array(jobs.at.length);
  for (let y = 0; y < took.length; y++) {
    const at = jobs.at[y];
    if (at < 0) continue;
    if (at < begin) took[y] = copied[at - count];
    else took[y] = messages && costs.sized ? costs.wire * sizeOf(schedule, costs.sized.sizes, at - begin) : costs.wire;
  }
  return { ...jobs, took };
}

/** The jobs of an order, which are the same at any costs. */
const untimed = memoized((schedule: Schedule): Omit<Jobs, "took"> => {
  const { p, chunks, n, copies, count, messages, codes, offsets, barriers } = schedule;
  const { joins, arrivals } = boardOf(schedule);
  // six numbers each: a drag of a cost may make them anew in every frame
  const jobs = new Int32Array(WIDTH * ((copies?.count ?? 0) + barriers * p * n + (messages?.row.length ?? 0)));
  let end = 0;
  const add = (...job: number[]) => {
    for (const value of job) jobs[end++] = value;
  };
  let meetings = 0;
  for (let r = 0; copies && r < p; r++) {
    for (let i = copies.offsets[r]; i < copies.offsets[r + 1]; i++) {
      const { kind, slot, micro } = copyOf(schedule, i);
      const cell = kind === RELOAD ? (2 * p * chunks + slot) * n + micro : -1;
      add(r, 0, copies.issued[i - count], cell, meetings++, i);
    }
  }
  const { first } = micros(schedule);
  for (let r = 0; barriers && r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const barrier = kindOf(codes[i], chunks) - KIND_S;
      if (barrier < 0 || barrier >= barriers) continue;
      const at = barrier * n + first[i];
      add(r, 1 + barrier, i - offsets[r] + 1, joins + at, meetings + at, -1);
    }
  }
  meetings += barriers * n;
  for (let r = 0; messages && r < p; r++) {
    for (let y = messages.offsets[r]; y < messages.offsets[r + 1]; y++) {
      const cell = messages.receive[y] ? arrivals + resultAt(schedule, messages.row[y]) + messages.micro[y] : -1;
      const meeting = meetings + Math.min(y, messages.partner[y]);
      add(r, STREAM + streamOf(messages, y), messages.issued[y], cell, meeting, firstEnd(schedule) + y);
    }
  }
  return inLanes(jobs.subarray(0, end), p, meetings + (messages?.row.length ?? 0));
});

const WIDTH = 6; // rank, lane, issued, cell, meeting, at

/** The jobs lane after lane of each rank, in a lane as they came. */
function inLanes(jobs: Int32Array, p: number, meetings: number): Omit<Jobs, "took"> {
  const count = jobs.length / WIDTH;
  let most = 1; // lanes of a rank
  for (let x = 1; x < jobs.length; x += WIDTH) most = Math.max(most, jobs[x] + 1);
  const next = new Int32Array(p * most + 1);
  const size = new Int32Array(meetings);
  for (let x = 0; x < jobs.length; x += WIDTH) {
    next[jobs[x] * most + jobs[x + 1] + 1]++;
    size[jobs[x + 4]]++;
  }
  const lanes = new Int32Array(p + 1);
  const first: number[] = [];
  for (let at = 0; at < p * most; at++) {
    if (next[at + 1] > 0) first.push(next[at]);
    next[at + 1] += next[at];
    lanes[Math.floor(at / most) + 1] = first.length;
  }
  const columns = Array.from({ length: WIDTH }, () => new Int32Array(count));
  for (let x = 0; x < jobs.length; x += WIDTH) {
    const y = next[jobs[x] * most + jobs[x + 1]]++;
    for (let k = 2; k < WIDTH; k++) columns[k][y] = jobs[x + k];
  }
  const [, , issued, cell, meeting, at] = columns;
  return { issued, cell, meeting, at, first: Int32Array.from([...first, count]), lanes, size };
}

/** The time of each copy: of its slot, and with the size of what it moves. */
function copyTimes(schedule: Schedule, costs: Costs) {
  const { v, count, copies, placement } = schedule;
  return Float64Array.from({ length: copies?.count ?? 0 }, (_, at) => {
    const { slot, micro } = copyOf(schedule, count + at);
    const time = share(costs.O ?? 0, placement.stage[slot], v);
    return costs.sized ? time * costs.sized.sizes[micro] : time;
  });
}

/** The place of a result on the board of ends. */
const resultAt = ({ p, chunks, n }: Schedule, row: number) => ((row % 2) * p * chunks + (row >> 1)) * n;

/** The flat index of the first end of a message: they go on where the copies end. */
export const firstEnd = ({ count, copies }: Schedule) => count + (copies?.count ?? 0);

/** The stream of an end of a message on its rank. */
export const streamOf = ({ streams, row, receive, peer }: Messages, y: number) =>
  streams === "edge" ? 2 * peer[y] + receive[y] : streams === "direction" ? row[y] % 2 : 0;

function sizeOf(schedule: Schedule, sizes: number[], y: number) {
  const { row, micro } = schedule.messages as Messages;
  return sizes[micro[y] + schedule.n * schedule.placement.stream[row[y] >> 1]];
}

const received = memoized((schedule: Schedule) => {
  const { messages } = schedule;
  const at = new Map<number, number>();
  for (let y = 0; messages && y < messages.row.length; y++)
    if (messages.receive[y]) at.set(resultAt(schedule, messages.row[y]) + messages.micro[y], y);
  return at;
});

/** The end of a message on a stream that brings a result to another rank; -1 where no stream does. gradient: 0 or 1. */
export const receiveOf = (schedule: Schedule, slot: number, gradient: number, k: number) =>
  received(schedule).get(resultAt(schedule, 2 * slot + gradient) + k) ?? -1;

/** "2SEND_F0", "3RECV_F0", as torch spells it; a receive names the stage that receives. y: of messages. */
export function endText(schedule: Schedule, y: number) {
  const { placement, n } = schedule;
  const { row, micro, receive } = schedule.messages as Messages;
  const gradient = row[y] % 2;
  const slot = row[y] >> 1;
  const taker = gradient ? placement.prev[slot] : placement.next[slot];
  const name = `${receive[y] ? "RECV" : "SEND"}_${"FB"[gradient]}`;
  return `${placement.stage[receive[y] ? taker : slot]}${name}${placement.stream[slot] * n + micro[y]}`;
}
