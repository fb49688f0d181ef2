// The path of one micro-batch through the pipeline: forward down the stages, backward up again, weight gradients when
// their ranks do them.

import { OFFLOAD, RELOAD, copyAt, copyOf } from "../schedule/copies.ts";
import { barrier, makers, sources } from "../schedule/dependencies.ts";
import { KIND_PAIR, KIND_S, KIND_T, chunkOf, kindOf, micros, rankOf } from "../schedule/ops.ts";
import type { Costs, Schedule, Times } from "../schedule/types.ts";

/** Op i could have started at from, and did at to. */
type Wait = { i: number; from: number; to: number };
/** Flat indices, each list in the order of the way. */
export type Journey = {
  micro: number;
  forward: number[];
  backward: number[];
  weights: number[];
  origins: number[]; // the I of each W
  shards: number[];
  copies: number[];
  /**
   * the line through them, F, the last S and T, then B or I; weightsDone is backwardDone where no W is drawn apart, and
   * that is forwardDone without backwards; a moment that has not come in a live run is Infinity
   */
  way: number[];
  rank: number;
  enters: number;
  forwardDone: number;
  backwardDone: number;
  weightsDone: number;
  longest: Wait | null;
};

/** The slots of a stream by stage. */
function chain({ placement }: Schedule, stream: number): number[] {
  const slots = [];
  let slot = placement.stage.findIndex((stage, at) => stage === 0 && placement.stream[at] === stream);
  for (; slot >= 0; slot = placement.next[slot]) slots.push(slot);
  return slots;
}

/** The shard that ends last, whose end opens the barrier. */
const latest = (ops: number[], { end }: Times) => ops.reduce((a, b) => (end[b] > end[a] ? b : a));

/** micro: as op text numbers it; Returns null where there is no such micro-batch. */
export function follow(schedule: Schedule, times: Times, costs: Costs, micro: number): Journey | null {
  const { n, barriers, placement } = schedule;
  if (!Number.isInteger(micro) || micro < 0 || micro >= n * placement.streams) return null;
  const stream = Math.floor(micro / n);
  const k = micro - stream * n;
  const slots = chain(schedule, stream);
  const made = makers(schedule);
  const of = (table: Int32Array) => slots.map((slot) => table[slot * n + k]).filter((i) => i >= 0);
  const forward = of(made.forward);
  const backward = of(made.gradient).reverse();
  const late = slots.filter((slot) => made.weight[slot * n + k] >= 0);
  const weights = late.map((slot) => made.weight[slot * n + k]);
  const origins = late.map((slot) => made.gradient[slot * n + k]);
  const meets = Array.from({ length: barriers }, (_, at) => barrier(schedule, at === 0 ? KIND_S : KIND_T, k));
  const shards = barriers ? [...barrier(schedule, KIND_S, k), ...barrier(schedule, KIND_T, k)] : [];
  const copies = slots
    .flatMap((slot) => [copyAt(schedule, OFFLOAD, slot, k), copyAt(schedule, RELOAD, slot, k)])
    .filter((i) => i >= 0);
  const way = [...forward, ...meets.map((ops) => latest(ops, times)), ...backward];
  const done = (ops: number[]) => ops.reduce((most, i) => Math.max(most, times.end[i]), 0);
  const forwardDone = done(forward);
  const backwardDone = backward.length ? done(backward) : forwardDone;
  return {
    micro,
    forward,
    backward,
    weights,
    origins,
    shards,
    copies,
    way,
    rank: rankOf(schedule, way[0]),
    enters: times.start[way[0]],
    forwardDone,
    backwardDone,
    weightsDone: Math.max(backwardDone, done(weights)),
    longest: longestWait(schedule, times, costs, way),
  };
}

/** Where it waits longest once its input is there: for a busy rank, or for a free one that keeps to its order. */
function longestWait(schedule: Schedule, { start, end, makespan }: Times, costs: Costs, way: number[]): Wait | null {
  let longest: Wait | null = null;
  const dust = 1e-9 * Math.max(1, makespan);
  for (let at = 1; at < way.length; at++) {
    const [a, b] = [way[at - 1], way[at]];
    if (!Number.isFinite(start[b])) continue;
    const by = sources(schedule, b).find(({ i }) => i === a)?.by ?? a;
    const from = end[by] + (apart(schedule, a, b) ? costs.comm : 0);
    if (start[b] - from > Math.max(dust, longest ? longest.to - longest.from : 0))
      longest = { i: b, from, to: start[b] };
  }
  return longest;
}

/** Does a value travel from a to b? Past a barrier it does for all ranks. */
function apart(schedule: Schedule, a: number, b: number) {
  const sharded = kindOf(schedule.codes[a], schedule.chunks) >= KIND_S;
  return sharded ? schedule.p > 1 : rankOf(schedule, a) !== rankOf(schedule, b);
}

/** The micro-batches of an op, or of a copy, as op text numbers them: one, or a pair's two. */
export function microsOf(schedule: Schedule, i: number): number[] {
  if (i >= schedule.count) return [copyOf(schedule, i).micro];
  const { codes, chunks, n, placement } = schedule;
  const base = rankOf(schedule, i) * chunks;
  const { first, second } = micros(schedule);
  const one = placement.stream[base + chunkOf(codes[i], chunks)] * n + first[i];
  if (kindOf(codes[i], chunks) !== KIND_PAIR || !second) return [one];
  return [one, placement.stream[base + (codes[i] % chunks)] * n + second[i]];
}
