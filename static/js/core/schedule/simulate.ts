// Start and end of every op from an order and its costs, float64, bit for bit as the server's simulator.

import { RELOAD } from "./copies.ts";
import { boardOf, firstEnd, jobsOf, type Jobs } from "./lanes.ts";
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
  rankOf,
} from "./ops.ts";
import { phasesOf, timePeriodic } from "./periodic.ts";
import { leadOf, share } from "./effective_costs.ts";
import { recomputation, type Recomputation } from "./recomputation.ts";
import { memoized } from "../memoized.ts";
import type { Costs, Schedule, Sized, Times } from "./types.ts";

/** Duration of every (rank, code), indexed rank * codesPerRank(chunks) + code. */
export function durations(
  { p, chunks, v, placement }: Pick<Schedule, "p" | "chunks" | "v" | "placement">,
  costs: Costs,
) {
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
export function ownTimes(schedule: Schedule, costs: Costs, sized: Sized) {
  const { sizes, fixed } = sized;
  const { p, n, chunks, codes, offsets, count, placement } = schedule;
  const width = codesPerRank(chunks);
  const took = durations(schedule, costs);
  const { first, second } = micros(schedule);
  const scale = sizes.map((size) => fixed + (1 - fixed) * size);
  const own = new Float64Array(count);
  for (let r = 0; r < p; r++) {
    const ofRank = took.subarray(r * width, (r + 1) * width);
    const of = (chunk: number, k: number) => scale[k + n * placement.stream[r * chunks + chunk]];
    for (let i = offsets[r]; i < offsets[r + 1]; i++)
      own[i] = ownTime(ofRank, codes[i], chunks, of, first[i], second ? second[i] : -1);
  }
  const before = recomputation(schedule, sized)?.before;
  if (!before) return own;
  const again = before.map((at, i) => (at === i ? -1 : i)).filter((i) => i >= 0);
  for (const i of again) own[i] -= partOf(schedule, costs, costs.again, i);
  for (const i of again) if (before[i] >= 0) own[before[i]] += partOf(schedule, costs, costs.again, i);
  return own;
}

/** The time of one op. took: of its rank, by code; of: what its micro-batch makes of it, by chunk and number. */
export function ownTime(
  took: Float64Array,
  code: number,
  chunks: number,
  of: (chunk: number, k: number) => number,
  first: number,
  second: number,
) {
  const chunk = chunkOf(code, chunks);
  if (kindOf(code, chunks) !== KIND_PAIR || second < 0) return took[code] * of(chunk, first);
  const back = code % chunks;
  const [f, b] = [took[KIND_F * chunks + chunk], took[KIND_B * chunks + back]];
  const both = f * of(chunk, first) + b * of(back, second);
  return took[code] * (f + b > 0 ? both / (f + b) : 1);
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

/**
 * What each (rank, code) reads and writes, as places on a board of ends: slots * n of F's, as many of gradients, as
 * many of reloads, then 2 p n of S's and T's, then 2 n of the barriers C1 and C2, then as many arrivals of messages as
 * there are F's and gradients; -1 = none. Lag is the hop from another rank.
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
  arrivals: number;
  size: number;
};

export function tables(schedule: Schedule, costs: Costs): Tables {
  const { comm } = costs;
  const { p, chunks, n, placement } = schedule;
  const width = codesPerRank(chunks);
  const gradients = p * chunks * n;
  const ints = () => new Int32Array(p * width).fill(-1);
  const t = {
    inA: ints(),
    inB: ints(),
    outA: ints(),
    outB: ints(),
    lagA: new Float64Array(p * width),
    lagB: new Float64Array(p * width),
    ...boardOf(schedule),
  };
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const at = r * width + code;
      const kind = kindOf(code, chunks);
      if (kind === KIND_S || kind === KIND_T) continue;
      const slot = r * chunks + chunkOf(code, chunks);
      const back = r * chunks + (code % chunks);
      const ahead = leadOf(costs, placement.stage[back], schedule.v);
      const lag = (source: number) => (source >= 0 && Math.floor(source / chunks) !== r ? comm : 0);
      const gradientIn = placement.next[back] < 0 ? back * n : gradients + placement.next[back] * n;
      if (kind === KIND_F || kind === KIND_PAIR) {
        if (placement.prev[slot] >= 0) t.inA[at] = placement.prev[slot] * n;
        t.lagA[at] = lag(placement.prev[slot]);
        t.outA[at] = slot * n;
      } else if (kind !== KIND_W) {
        // W needs its own I, which comes before it on its rank, and nothing waits for W
        t.inA[at] = gradientIn;
        t.lagA[at] = lag(placement.next[back]) - ahead;
        t.outA[at] = gradients + slot * n;
      }
      if (kind === KIND_PAIR) {
        t.inB[at] = gradientIn;
        t.lagB[at] = lag(placement.next[back]) - ahead;
        t.outB[at] = gradients + back * n;
      }
    }
  }
  if (schedule.barriers > 0) addBarriers(schedule, costs, t, width);
  addReloads(schedule, t, width);
  if (schedule.messages) throughMessages(schedule, t, width);
  return t;
}

/** Ops need the arrival of what another rank sends; the output that S needs is broadcast. */
function throughMessages({ p, chunks, n }: Schedule, t: Tables, width: number) {
  for (const table of [t.inA, t.inB]) {
    for (let at = 0; at < p * width; at++) {
      const sender = Math.floor((Math.floor(table[at] / n) % (p * chunks)) / chunks);
      const isSent = table[at] >= 0 && table[at] < 2 * p * chunks * n && sender !== Math.floor(at / width);
      if (isSent && kindOf(at % width, chunks) !== KIND_S) table[at] += t.arrivals;
    }
  }
}

/** S needs the last F, T the barrier C1, the last stage's gradients the last barrier. */
function addBarriers({ p, v, chunks, n, placement, barriers }: Schedule, costs: Costs, t: Tables, width: number) {
  const { comm } = costs;
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
        t.lagA[at] = (p > 1 ? comm : 0) - leadOf(costs, placement.stages - 1, v);
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
type Run = Omit<Tables, "shards" | "joins" | "arrivals" | "size"> & {
  codes: Uint8Array;
  offsets: Int32Array;
  width: number;
  first: Int32Array;
  second: Int32Array;
  took: Float64Array; // by rank and code, or by op
  byOp: boolean;
  lagsByOp: boolean; // otherwise by rank and code
  cells: Float64Array;
  start: Float64Array;
  end: Float64Array;
};

/**
 * Run one rank from op i until it ends or waits; returns the flat index it stopped at. Module level and free of
 * closures so that the compiler keeps it in registers.
 */
function advance(run: Run, r: number, i: number) {
  const { codes, first, second, took, byOp, lagsByOp, cells, start, end, inA, inB, outA, outB, lagA, lagB } = run;
  const row = r * run.width;
  const stop = run.offsets[r + 1];
  let clock = i > run.offsets[r] ? end[i - 1] : 0;
  for (; i < stop; i++) {
    const at = row + codes[i];
    const k = first[i];
    const lag = lagsByOp ? i : at;
    const a = inA[at];
    let from = clock;
    if (a >= 0) {
      const x = cells[a + k];
      if (x < 0) return i;
      if (x + lagA[lag] > from) from = x + lagA[lag];
    }
    const b = outB[at];
    const c = inB[at];
    if (c >= 0) {
      const x = cells[c + (b >= 0 ? second[i] : k)];
      if (x < 0) return i;
      if (x + lagB[lag] > from) from = x + lagB[lag];
    }
    clock = from + took[byOp ? i : at];
    start[i] = from;
    end[i] = clock;
    const out = outA[at];
    if (out >= 0) cells[out + k] = clock;
    if (b >= 0) cells[b + second[i]] = clock;
  }
  return i;
}

/** How far the lanes are: the next job of each, the jobs that have come to their meetings, the end of the last. */
type Lanes = Omit<Jobs, "size"> & {
  next: Int32Array;
  come: Int32Array;
  free: Float64Array;
  missing: Int32Array; // by meeting, jobs that have not come to it
  latest: Float64Array; // by meeting, when the last one came
};

function lanesOf(jobs: Jobs): Lanes {
  const { issued, cell, meeting, took, at, first, lanes, size } = jobs;
  const count = first.length - 1;
  const next = first.slice(0, count);
  const [come, free] = [new Int32Array(count), new Float64Array(count)];
  const [missing, latest] = [size.slice(), new Float64Array(size.length)];
  return { issued, cell, meeting, took, at, first, lanes, next, come, free, missing, latest };
}

/**
 * Bring the jobs of a rank that are issued by now to their meetings, and run those that all have come to; returns
 * whether there were any. done: compute ops of the rank so far; opens: the flat index of its first.
 */
function runJobs(all: Lanes, r: number, done: number, opens: number, cells: Float64Array, { start, end }: Times) {
  const { issued, cell, meeting, took, at, first, lanes, next, come, free, missing, latest } = all;
  let found = false;
  for (let lane = lanes[r]; lane < lanes[r + 1]; lane++) {
    let y = next[lane];
    for (; y < first[lane + 1] && issued[y] <= done; y++) {
      const which = meeting[y];
      if (come[lane] <= y) {
        come[lane] = y + 1;
        found = true;
        const from = issued[y] > 0 ? end[opens + issued[y] - 1] : 0;
        latest[which] = Math.max(latest[which], free[lane], from);
        missing[which]--;
      }
      if (missing[which] > 0) break;
      found = true;
      free[lane] = latest[which] + took[y];
      if (at[y] >= 0) {
        start[at[y]] = latest[which];
        end[at[y]] = free[lane];
      }
      if (cell[y] >= 0) cells[cell[y]] = free[lane];
    }
    next[lane] = y;
  }
  return found;
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
  const table = tables(schedule, costs);
  const times =
    costs.lead === undefined ? took : Float64Array.from([...took, ...table.lagA, ...table.lagB].map(Math.abs));
  return timePeriodic(schedule, table, { took: times, comm: costs.comm, run }, () => roomFor(schedule.count, into));
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
  const took = costs.sized ? ownTimes(schedule, costs, costs.sized) : durations(schedule, costs);
  return advanceWith(schedule, took, costs.sized !== undefined, costs, into);
}

/** The same with given times: by rank and code, or by op. */
function advanceWith(schedule: Schedule, took: Float64Array, byOp: boolean, costs: Costs, into?: Times) {
  const { p, chunks, codes, offsets, copies, messages, barriers } = schedule;
  const times = roomFor(firstEnd(schedule) + (messages?.row.length ?? 0), into);
  const { first, second } = micros(schedule);
  const { inA, inB, outA, outB, size, ...hops } = tables(schedule, costs);
  const lagsByOp = costs.sized !== undefined && costs.lead !== undefined;
  const { lagA, lagB } = lagsByOp ? ownLags(schedule, costs) : hops;
  const cells = clearBoard(size);
  const width = codesPerRank(chunks);
  const { start, end } = times;
  // written out: an object that begins with another one's fields takes twice as long to read
  const run = {
    inA,
    inB,
    outA,
    outB,
    lagA,
    lagB,
    codes,
    offsets,
    width,
    first,
    second: second ?? first,
    took,
    byOp,
    lagsByOp,
    cells,
    start,
    end,
  };
  const at = offsets.slice(0, p);
  const lanes = copies || messages || barriers ? lanesOf(jobsOf(schedule, costs)) : null;
  for (let down = true, moved = true; moved; down = !down) {
    moved = false;
    for (let step = 0; step < p; step++) {
      const r = down ? step : p - 1 - step;
      for (let again = true; again;) {
        const i = at[r];
        if (i < offsets[r + 1]) at[r] = advance(run, r, i);
        again = lanes !== null && runJobs(lanes, r, at[r] - offsets[r], offsets[r], cells, times);
        moved ||= again || at[r] > i;
      }
    }
  }
  for (let r = 0; r < p; r++) if (at[r] > offsets[r]) times.makespan = Math.max(times.makespan, end[at[r] - 1]);
  return { times, at };
}

/** The lags of each op: a hop, less what it does before it needs the gradient. */
function ownLags(schedule: Schedule, costs: Costs) {
  const { p, codes, offsets, count } = schedule;
  const hops = tables(schedule, { ...costs, lead: undefined });
  const [lagA, lagB] = [new Float64Array(count), new Float64Array(count)];
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const at = r * codesPerRank(schedule.chunks) + codes[i];
      const lead = leadOfOp(schedule, costs, i);
      const isPair = hops.outB[at] >= 0;
      lagA[i] = hops.lagA[at] - (isPair ? 0 : lead);
      lagB[i] = hops.lagB[at] - (isPair ? lead : 0);
    }
  }
  return { lagA, lagB };
}

/** How long before its gradient arrives op i may begin: it runs its forward again first. */
export function leadOfOp(schedule: Schedule, costs: Costs, i: number) {
  const again = againBefore(schedule, costs, i);
  return again < 0 ? 0 : partOf(schedule, costs, costs.lead, again);
}

/** What runs again at the front of op i, and the backward that needs it: by. */
export function againIn(schedule: Schedule, costs: Costs, i: number) {
  const by = againBefore(schedule, costs, i);
  const time = by < 0 ? 0 : partOf(schedule, costs, costs.again, by);
  return time > 0 ? { by, time } : null;
}

/** The backward whose forward runs again in front of op i, its own where it is one; -1 where none does. */
function againBefore(schedule: Schedule, { sized }: Costs, i: number) {
  const again = sized && recomputation(schedule, sized);
  return again ? inFrontOf(again)[i] : i;
}

/** By op the backward whose forward runs again in front of it, -1 for none. */
const inFrontOf = memoized(({ before }: Recomputation) => {
  const found = new Int32Array(before.length).fill(-1);
  before.forEach((at, i) => {
    if (at >= 0) found[at] = i;
  });
  return found;
});

/** What a part of the backwards takes in op i, which has the size of its micro-batch. */
function partOf(schedule: Schedule, { sized }: Costs, part: Costs["lead"], i: number) {
  const { chunks, codes, n, placement, v } = schedule;
  const kind = kindOf(codes[i], chunks);
  if (part === undefined || (kind !== KIND_I && kind !== KIND_B && kind !== KIND_PAIR)) return 0;
  const slot = rankOf(schedule, i) * chunks + (codes[i] % chunks);
  const time = share(part, placement.stage[slot], v);
  if (!sized) return time;
  const { first, second } = micros(schedule);
  const k = kind === KIND_PAIR && second ? second[i] : first[i];
  return time * (sized.fixed + (1 - sized.fixed) * sized.sizes[k + n * placement.stream[slot]]);
}

/** The times of a legal order with each op's own. */
export const replay = (schedule: Schedule, own: Float64Array, costs: Costs) =>
  advanceWith(schedule, own, true, costs).times;

/** at: where each rank stopped. */
function deadlock(schedule: Schedule, at: Int32Array) {
  for (let r = 0; r < schedule.p; r++) {
    if (at[r] < schedule.offsets[r + 1]) {
      return new Error(`rank ${r} waits forever at ${opText(schedule, at[r])}: the order deadlocks`);
    }
  }
  return new Error("the order deadlocks");
}
