// Start and end of every op from an order and its costs, float64, bit for bit as the server's simulator.

import { RELOAD } from "./copies.ts";
import {
  KIND_B,
  KIND_F,
  KIND_I,
  KIND_PAIR,
  KIND_S,
  KIND_T,
  KIND_W,
  chunkOf,
  codesPerRank,
  kindOf,
  micros,
  opText,
} from "./ops.ts";
import { phasesOf, timePeriodic } from "./periodic.ts";
import type { Costs, Schedule, Sized, Times } from "./types.ts";

/** The time of one op, or copy, of a stage. */
export const share = (cost: number | number[], stage: number, v: number) =>
  typeof cost === "number" ? cost / v : cost[stage];

/** Duration of every (rank, code), indexed rank * codesPerRank(chunks) + code. */
export function durations(schedule: Schedule, costs: Costs) {
  const { p, chunks, v, placement } = schedule;
  const width = codesPerRank(chunks);
  const out = new Float64Array(p * width);
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const stage = placement.stage[r * chunks + chunkOf(code, chunks)];
      const backStage = placement.stage[r * chunks + (code % chunks)];
      out[r * width + code] = duration(kindOf(code, chunks), stage, backStage, costs, v);
    }
  }
  return out;
}

function duration(kind: number, stage: number, backStage: number, costs: Costs, v: number) {
  if (kind === KIND_F) return share(costs.F, stage, v);
  if (kind === KIND_I) return share(costs.I, stage, v);
  if (kind === KIND_W) return share(costs.W, stage, v);
  if (kind === KIND_S) return costs.S ?? 0;
  if (kind === KIND_T) return costs.T ?? 0;
  const backward = share(costs.I, backStage, v) + share(costs.W, backStage, v);
  if (kind === KIND_B) return backward;
  return costs.FB === null ? share(costs.F, stage, v) + backward : costs.FB / v;
}

/**
 * The time of each op where micro-batches differ. A pair takes what its halves take together, each with the size of its
 * own micro-batch, in the proportion of its own time to theirs.
 */
export function ownTimes(schedule: Schedule, costs: Costs, { sizes, fixed }: Sized) {
  const { p, n, chunks, codes, offsets, count, placement } = schedule;
  const width = codesPerRank(chunks);
  const took = durations(schedule, costs);
  const { first, second } = micros(schedule);
  const scale = sizes.map((size) => fixed + (1 - fixed) * size);
  const own = new Float64Array(count);
  for (let r = 0; r < p; r++) {
    const row = r * width;
    const of = (chunk: number, k: number) => scale[k + n * placement.stream[r * chunks + chunk]];
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const code = codes[i];
      const chunk = chunkOf(code, chunks);
      if (kindOf(code, chunks) === KIND_PAIR && second) {
        const back = code % chunks;
        const [f, b] = [took[row + KIND_F * chunks + chunk], took[row + KIND_B * chunks + back]];
        const both = f * of(chunk, first[i]) + b * of(back, second[i]);
        own[i] = took[row + code] * (f + b > 0 ? both / (f + b) : 1);
      } else own[i] = took[row + code] * of(chunk, first[i]);
    }
  }
  return own;
}

/** The planned time of an op: i, its flat index. */
export function durationOf(schedule: Schedule, costs: Costs): (rank: number, i: number) => number {
  if (costs.sized) {
    const own = ownTimes(schedule, costs, costs.sized);
    return (_, i) => own[i];
  }
  const took = durations(schedule, costs);
  return (rank, i) => took[rank * codesPerRank(schedule.chunks) + schedule.codes[i]];
}

/** The time of each copy: of its slot, and with the size of what it moves. */
function copyTimes({ chunks, v, count, copies, placement }: Schedule, costs: Costs) {
  const out = new Float64Array(copies?.count ?? 0);
  for (let r = 0; copies && r < copies.offsets.length - 1; r++) {
    const done = new Int32Array(2 * chunks);
    for (let i = copies.offsets[r] - count; i < copies.offsets[r + 1] - count; i++) {
      const code = copies.codes[i];
      const time = share(costs.O ?? 0, placement.stage[r * chunks + (code % chunks)], v);
      const micro = done[code]++;
      out[i] = costs.sized ? time * costs.sized.sizes[micro] : time;
    }
  }
  return out;
}

/**
 * What each (rank, code) reads and writes, as places on a board of ends: slots * n of F's, as many of gradients, as
 * many of reloads, then 2 p n of S's and T's, then 2 n of the barriers C1 and C2; -1 = none. Lag is the hop from
 * another rank.
 */
export type Tables = {
  inA: Int32Array;
  inB: Int32Array;
  outA: Int32Array;
  outB: Int32Array;
  lagA: Float64Array;
  lagB: Float64Array;
  shards: number;
  joins: number;
  size: number;
};

export function tables(schedule: Schedule, comm: number): Tables {
  const { p, chunks, n, placement } = schedule;
  const width = codesPerRank(chunks);
  const gradients = p * chunks * n;
  const ints = () => new Int32Array(p * width).fill(-1);
  const more = schedule.barriers > 0 || schedule.copies !== null;
  const shards = 3 * gradients;
  const joins = shards + 2 * p * n;
  const t = {
    inA: ints(),
    inB: ints(),
    outA: ints(),
    outB: ints(),
    lagA: new Float64Array(p * width),
    lagB: new Float64Array(p * width),
    shards,
    joins,
    size: more ? joins + 2 * n : 2 * gradients,
  };
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const at = r * width + code;
      const kind = kindOf(code, chunks);
      if (kind === KIND_S || kind === KIND_T) continue;
      const slot = r * chunks + chunkOf(code, chunks);
      const back = r * chunks + (code % chunks);
      const lag = (source: number) => (source >= 0 && Math.floor(source / chunks) !== r ? comm : 0);
      const gradientIn = placement.next[back] < 0 ? back * n : gradients + placement.next[back] * n;
      if (kind === KIND_F || kind === KIND_PAIR) {
        if (placement.prev[slot] >= 0) t.inA[at] = placement.prev[slot] * n;
        t.lagA[at] = lag(placement.prev[slot]);
        t.outA[at] = slot * n;
      } else if (kind !== KIND_W) {
        // W needs its own I, which comes before it on its rank, and nothing waits for W
        t.inA[at] = gradientIn;
        t.lagA[at] = lag(placement.next[back]);
        t.outA[at] = gradients + slot * n;
      }
      if (kind === KIND_PAIR) {
        t.inB[at] = gradientIn;
        t.lagB[at] = lag(placement.next[back]);
        t.outB[at] = gradients + back * n;
      }
    }
  }
  if (schedule.barriers > 0) addBarriers(schedule, comm, t, width);
  addReloads(schedule, t, width);
  return t;
}

/** S needs the last F, T the barrier C1, the last stage's gradients the last barrier. */
function addBarriers({ p, chunks, n, placement, barriers }: Schedule, comm: number, t: Tables, width: number) {
  const last = placement.stage.indexOf(placement.stages - 1);
  const home = Math.floor(last / chunks);
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const at = r * width + code;
      const kind = kindOf(code, chunks);
      if (kind === KIND_S) {
        t.inA[at] = last * n;
        t.lagA[at] = r === home ? 0 : comm;
        t.outA[at] = t.shards + 2 * r * n;
      } else if (kind === KIND_T) {
        t.inA[at] = t.joins;
        t.lagA[at] = p > 1 ? comm : 0;
        t.outA[at] = t.shards + (2 * r + 1) * n;
      } else if ((kind === KIND_I || kind === KIND_B) && r === home && code % chunks === last % chunks) {
        t.inA[at] = t.joins + (barriers - 1) * n;
        t.lagA[at] = p > 1 ? comm : 0;
      }
    }
  }
}

/** A backward also needs the reload of its slot, where there is one. */
function addReloads({ p, chunks, n, copies, count }: Schedule, t: Tables, width: number) {
  for (let r = 0; copies && r < p; r++) {
    for (let i = copies.offsets[r]; i < copies.offsets[r + 1]; i++) {
      const code = copies.codes[i - count];
      if (((code / chunks) | 0) !== RELOAD) continue;
      const chunk = code % chunks;
      for (const kind of [KIND_I, KIND_B])
        t.inB[r * width + kind * chunks + chunk] = (2 * p * chunks + r * chunks + chunk) * n;
    }
  }
}

let board = new Float64Array(0);

/** Cells for all ends, all "not yet". */
function clearBoard(size: number) {
  if (board.length < size) board = new Float64Array(size);
  board.fill(-1, 0, size);
  return board;
}

/** What advancing a rank reads and fills: one object of a fixed shape, because a rank often advances by one op only. */
type Run = Omit<Tables, "joins" | "size"> & {
  codes: Uint8Array;
  offsets: Int32Array;
  width: number;
  first: Int32Array;
  second: Int32Array;
  took: Float64Array; // by rank and code, or by op
  byOp: boolean;
  cells: Float64Array;
  start: Float64Array;
  end: Float64Array;
  joins: Joins;
};

/**
 * Run one rank from op i until it ends or waits; returns the flat index it stopped at. Module level and free of
 * closures so that the compiler keeps it in registers.
 */
function advance(run: Run, r: number, i: number) {
  const { codes, first, second, took, byOp, cells, start, end, inA, inB, outA, outB, lagA, lagB, shards } = run;
  const row = r * run.width;
  const stop = run.offsets[r + 1];
  let clock = i > run.offsets[r] ? end[i - 1] : 0;
  for (; i < stop; i++) {
    const at = row + codes[i];
    const k = first[i];
    const a = inA[at];
    let from = clock;
    if (a >= 0) {
      const x = cells[a + k];
      if (x < 0) return i;
      if (x + lagA[at] > from) from = x + lagA[at];
    }
    const b = outB[at];
    const c = inB[at];
    if (c >= 0) {
      const x = cells[c + (b >= 0 ? second[i] : k)];
      if (x < 0) return i;
      if (x + lagB[at] > from) from = x + lagB[at];
    }
    clock = from + took[byOp ? i : at];
    start[i] = from;
    end[i] = clock;
    const out = outA[at];
    if (out >= 0) cells[out + k] = clock;
    if (b >= 0) cells[b + second[i]] = clock;
    if (out >= shards) pass(run.joins, out, k, clock, cells);
  }
  return i;
}

type Joins = { p: number; n: number; shards: number; at: number; passed: Int32Array; latest: Float64Array };

/** A rank has come to a barrier; the last one opens it. */
function pass({ p, n, shards, at, passed, latest }: Joins, out: number, k: number, clock: number, cells: Float64Array) {
  const which = (((out - shards) / n) % 2) * n + k;
  if (clock > latest[which]) latest[which] = clock;
  if (++passed[which] === p) cells[at + which] = latest[which];
}

/** Runs the copies of a rank that are issued by now; returns the flat index of the next one. */
function copy(
  { chunks, n, p, copies, count, offsets }: Schedule,
  r: number,
  i: number,
  done: number, // compute ops of the rank so far
  took: Float64Array, // by copy
  cells: Float64Array,
  { start, end }: Times,
  reloaded: Int32Array, // by slot
) {
  if (!copies) return i;
  for (; i < copies.offsets[r + 1] && copies.issued[i - count] <= done; i++) {
    const issued = copies.issued[i - count];
    const code = copies.codes[i - count];
    const slot = r * chunks + (code % chunks);
    const free = i > copies.offsets[r] ? end[i - 1] : 0;
    start[i] = Math.max(free, issued > 0 ? end[offsets[r] + issued - 1] : 0);
    end[i] = start[i] + took[i - count];
    if (((code / chunks) | 0) === RELOAD) cells[(2 * p * chunks + slot) * n + reloaded[slot]++] = end[i];
  }
  return i;
}

/** into: its arrays are reused when they are long enough. */
export function simulate(schedule: Schedule, costs: Costs, into?: Times): Times {
  const periodic = !costs.sized && phasesOf(schedule).length > 0 ? simulateShorter(schedule, costs, into) : null;
  if (periodic) return periodic;
  const { times, at } = advanceAll(schedule, costs, into);
  if (at.some((i, r) => i < schedule.offsets[r + 1])) throw deadlock(schedule, at);
  return times;
}

/** Of shorter orders, reused. */
let scratch: Times | undefined;

/** The times of a large order with steady states, bit for bit, by fewer ops; null where it has none at these costs. */
function simulateShorter(schedule: Schedule, costs: Costs, into?: Times) {
  const took = durations(schedule, costs);
  const run = (shorter: Schedule) => {
    const ran = advanceAll(shorter, costs, scratch);
    scratch = ran.times;
    return { ...ran, cells: board };
  };
  return timePeriodic(schedule, tables(schedule, costs.comm), { took, comm: costs.comm, run }, () =>
    roomFor(schedule.count, into),
  );
}

/** Arrays for as many ops: those given, where they are long enough. */
function roomFor(ops: number, into?: Times): Times {
  const fits = into !== undefined && into.start.length >= ops && into.end.length >= ops;
  const { start, end } = fits ? into : { start: new Float64Array(ops), end: new Float64Array(ops) };
  return { start, end, makespan: 0 };
}

/**
 * Time an order that need not be whole: each rank stops at its first op whose input no op makes, or that waits in a
 * circle; from there on start and end are Infinity. Returns at: the flat index where each rank stopped.
 */
export function simulateSoFar(schedule: Schedule, costs: Costs): { times: Times; at: Int32Array } {
  const { times, at } = advanceAll(schedule, costs);
  for (let r = 0; r < schedule.p; r++) {
    times.start.fill(Infinity, at[r], schedule.offsets[r + 1]);
    times.end.fill(Infinity, at[r], schedule.offsets[r + 1]);
  }
  return { times, at };
}

/** Run all ranks as far as they can go. Returns at: the flat index where each rank stopped. */
function advanceAll(schedule: Schedule, costs: Costs, into?: Times): { times: Times; at: Int32Array } {
  const { p, chunks, n, codes, offsets, count, copies } = schedule;
  const times = roomFor(count + (copies?.count ?? 0), into);
  const { first, second } = micros(schedule);
  const table = tables(schedule, costs.comm);
  const cells = clearBoard(table.size);
  const joins = {
    p,
    n,
    shards: table.shards,
    at: table.joins,
    passed: new Int32Array(2 * n),
    latest: new Float64Array(2 * n),
  };
  const width = codesPerRank(chunks);
  const took = costs.sized ? ownTimes(schedule, costs, costs.sized) : durations(schedule, costs);
  const { start, end } = times;
  const { inA, inB, outA, outB, lagA, lagB, shards } = table;
  const run = {
    inA,
    inB,
    outA,
    outB,
    lagA,
    lagB,
    shards,
    codes,
    offsets,
    width,
    first,
    second: second ?? first,
    took,
    byOp: costs.sized !== undefined,
    cells,
    start,
    end,
    joins,
  };
  const at = offsets.slice(0, p);
  const copyAt = copies?.offsets.slice(0, p);
  const copyTook = copyTimes(schedule, costs);
  const reloaded = new Int32Array(p * chunks);
  let left = count;
  for (let down = true; left > 0; down = !down) {
    const before = left;
    for (let step = 0; step < p; step++) {
      const r = down ? step : p - 1 - step;
      for (let again = true; again;) {
        const i = at[r];
        if (i < offsets[r + 1]) {
          at[r] = advance(run, r, i);
          left -= at[r] - i;
        }
        again = false;
        if (copyAt) {
          const y = copyAt[r];
          copyAt[r] = copy(schedule, r, y, at[r] - offsets[r], copyTook, cells, times, reloaded);
          again = copyAt[r] > y;
        }
      }
    }
    if (left === before) break;
  }
  for (let r = 0; r < p; r++) if (at[r] > offsets[r]) times.makespan = Math.max(times.makespan, end[at[r] - 1]);
  return { times, at };
}

/** at: where each rank stopped. */
function deadlock(schedule: Schedule, at: Int32Array) {
  for (let r = 0; r < schedule.p; r++) {
    if (at[r] < schedule.offsets[r + 1]) {
      return new Error(`rank ${r} waits forever at ${opText(schedule, at[r])}: the order deadlocks`);
    }
  }
  return new Error("the order deadlocks");
}
