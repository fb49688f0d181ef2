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
type Job = { lane: number; issued: number; cell: number; meeting: number; took: number; at: number };

const STREAM = 3; // the lanes of a rank: its copies, C1 and C2, its streams

/** places: of reloads, barriers and arrivals on the board. */
export function jobsOf(schedule: Schedule, costs: Costs, places: { joins: number; arrivals: number }): Jobs {
  const { p, chunks, n, count, copies, messages, codes, offsets, barriers } = schedule;
  const ranks: Job[][] = Array.from({ length: p }, () => []);
  const took = copyTimes(schedule, costs);
  let meetings = 0;
  for (let r = 0; copies && r < p; r++) {
    for (let i = copies.offsets[r]; i < copies.offsets[r + 1]; i++) {
      const { kind, slot, micro } = copyOf(schedule, i);
      const cell = kind === RELOAD ? (2 * p * chunks + slot) * n + micro : -1;
      ranks[r].push({
        lane: 0,
        issued: copies.issued[i - count],
        cell,
        meeting: meetings++,
        took: took[i - count],
        at: i,
      });
    }
  }
  const { first } = micros(schedule);
  for (let r = 0; barriers && r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const barrier = kindOf(codes[i], chunks) - KIND_S;
      if (barrier < 0 || barrier >= barriers) continue;
      const at = barrier * n + first[i];
      const issued = i - offsets[r] + 1;
      ranks[r].push({ lane: 1 + barrier, issued, cell: places.joins + at, meeting: meetings + at, took: 0, at: -1 });
    }
  }
  meetings += barriers * n;
  for (let r = 0; messages && r < p; r++) {
    for (let y = messages.offsets[r]; y < messages.offsets[r + 1]; y++) {
      const cell = messages.receive[y] ? places.arrivals + resultAt(schedule, messages.row[y]) + messages.micro[y] : -1;
      const meeting = meetings + Math.min(y, messages.partner[y]);
      const lane = STREAM + streamOf(messages, y);
      const wire = costs.sized ? costs.wire * sizeOf(schedule, costs.sized.sizes, y) : costs.wire;
      ranks[r].push({ lane, issued: messages.issued[y], cell, meeting, took: wire, at: firstEnd(schedule) + y });
    }
  }
  return inLanes(ranks, meetings + (messages?.row.length ?? 0));
}

function inLanes(ranks: Job[][], meetings: number): Jobs {
  const lanes = new Int32Array(ranks.length + 1);
  const first: number[] = [];
  const all: Job[] = [];
  ranks.forEach((jobs, r) => {
    jobs.sort((a, b) => a.lane - b.lane);
    jobs.forEach((job, y) => {
      if (y === 0 || job.lane !== jobs[y - 1].lane) first.push(all.length);
      all.push(job);
    });
    lanes[r + 1] = first.length;
  });
  const size = new Int32Array(meetings);
  for (const { meeting } of all) size[meeting]++;
  return {
    issued: Int32Array.from(all, ({ issued }) => issued),
    cell: Int32Array.from(all, ({ cell }) => cell),
    meeting: Int32Array.from(all, ({ meeting }) => meeting),
    took: Float64Array.from(all, (job) => job.took),
    at: Int32Array.from(all, ({ at }) => at),
    first: Int32Array.from([...first, all.length]),
    lanes,
    size,
  };
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
