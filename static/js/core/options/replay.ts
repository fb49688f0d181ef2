// The times of an order over and over, with other costs and other copies: what does not depend on them is found once.
// The sums of core/schedule/simulate.ts, which times orders of every kind, for those of F, I, W, B and copies.

import { memoized } from "../memoized.ts";
import { makers } from "../schedule/dependencies.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf, micros } from "../schedule/ops.ts";
import { leadOf, share } from "../schedule/effective_costs.ts";
import { durations } from "../schedule/simulate.ts";
import type { Copies, Costs, Schedule, Times } from "../schedule/types.ts";

/**
 * By position in a sequence in which every op comes after those that it waits for: op, its flat index; rank; source,
 * the flat index of the op on another rank that it waits for, or pastAll; at, its rank and code as a place in a table.
 */
type Sequence = { op: Int32Array; rank: Int32Array; source: Int32Array; at: Int32Array };
/** A flat index that no op and no copy has: what waits for nothing waits for this. */
const pastAll = ({ count, p, chunks, n }: Schedule) => count + 2 * p * chunks * n;

const sequenceOf = memoized(findSequence);

function findSequence(schedule: Schedule): Sequence {
  const { p, chunks, codes, count, offsets } = schedule;
  const width = codesPerRank(chunks);
  const sources = sourcesOf(schedule);
  const columns = () => new Int32Array(count);
  const found = { op: columns(), rank: columns(), source: columns(), at: columns() };
  const passed = new Uint8Array(count);
  const next = offsets.slice(0, p);
  for (let filled = 0; filled < count;) {
    const before = filled;
    for (let r = 0; r < p; r++) {
      for (; next[r] < offsets[r + 1]; next[r]++) {
        const i = next[r];
        if (sources[i] < count && !passed[sources[i]]) break;
        passed[i] = 1;
        found.op[filled] = i;
        found.rank[filled] = r;
        found.source[filled] = sources[i];
        found.at[filled++] = r * width + codes[i];
      }
    }
    if (filled === before) throw new Error("the order deadlocks");
  }
  return found;
}

/** The op on another rank that each op waits for, pastAll for none. */
function sourcesOf(schedule: Schedule) {
  const { p, chunks, codes, count, n, offsets, placement } = schedule;
  const { forward, gradient } = makers(schedule);
  const { first } = micros(schedule);
  const sources = new Int32Array(count).fill(pastAll(schedule));
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      if (kind >= KIND_PAIR) throw new Error("an order with pairs, S or T has no copies");
      if (kind === KIND_W) continue;
      const slot = r * chunks + chunkOf(codes[i], chunks);
      const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
      // what its own rank has made came before it
      if (from >= 0 && Math.floor(from / chunks) !== r)
        sources[i] = (kind === KIND_F ? forward : gradient)[from * n + first[i]];
    }
  }
  return sources;
}

const room = (): Times => ({ start: new Float64Array(0), end: new Float64Array(0), makespan: 0 });
/** Memory, of one replay after the other; by flat index, of copies too. */
const rooms = [room(), room(), room()];
let waits = new Int32Array(0);

/**
 * Something that times an order again and again. `rooms` has memory for three sets of times; `reload` has the flat
 * index of the copy that each op waits for, and is the caller's to fill in. The next replay takes over the memory.
 * schedule: without S and T; costs: effective ones.
 */
export function createReplay(schedule: Schedule, costs: Costs) {
  const { p, chunks, v, count, offsets, placement } = schedule;
  const sequence = sequenceOf(schedule);
  const took = durations(schedule, costs);
  const copyTook = Float64Array.from(placement.stage, (stage) => share(costs.O ?? 0, stage, v));
  const lag = lagOf(schedule, costs);
  const none = pastAll(schedule);
  for (const times of rooms) {
    if (times.end.length <= none) {
      times.start = new Float64Array(none);
      times.end = new Float64Array(none + 1);
    }
    times.end[none] = -Infinity;
  }
  if (waits.length < count) waits = new Int32Array(count);
  const reload = waits.subarray(0, count).fill(none);
  const clock = new Float64Array(p);
  const next = new Int32Array(p);
  const due = new Int32Array(p);

  /** Time the ops, beside these copies. times: one of the rooms, is written; returns the makespan. */
  function run(copies: Copies | null, times: Times): number {
    clock.fill(0);
    for (let r = 0; r < p; r++) {
      next[r] = copies ? copies.offsets[r] : 0;
      due[r] = copies ? dueAt(copies, r, next[r], offsets[r], count) : count;
    }
    timeOps(sequence, took, lag, offsets, reload, times, copies, copyTook, chunks, clock, next, due);
    times.makespan = clock.reduce((most, end) => Math.max(most, end), 0);
    return times.makespan;
  }
  return { rooms, reload, copyTook, run };
}

/** A hop, less what an op does before it needs the gradient. */
function lagOf({ p, chunks, v, placement }: Schedule, costs: Costs) {
  const width = codesPerRank(chunks);
  return Float64Array.from({ length: p * width }, (_, at) => {
    const kind = kindOf(at % width, chunks);
    const stage = placement.stage[Math.floor(at / width) * chunks + chunkOf(at % width, chunks)];
    return costs.comm - (kind === KIND_I || kind === KIND_B ? leadOf(costs, stage, v) : 0);
  });
}

/**
 * The flat index of the op before which a rank's next copy is issued; past all ops where it has no other. y: the copy;
 * first: of the rank's ops.
 */
const dueAt = ({ offsets, issued }: Copies, r: number, y: number, first: number, count: number) =>
  y < offsets[r + 1] ? first + issued[y - count] : count;

/** Module level and free of closures so that the compiler keeps it in registers. */
function timeOps(
  sequence: Sequence,
  took: Float64Array, // by rank and code
  lag: Float64Array, // by rank and code, until an input from another rank may be used
  offsets: Int32Array,
  reload: Int32Array, // the copy that each op waits for
  times: Times,
  copies: Copies | null,
  copyTook: Float64Array, // by slot
  chunks: number,
  clock: Float64Array, // the last end of each rank
  next: Int32Array, // the next copy of each rank
  due: Int32Array, // the op before which it is issued
) {
  const { op, rank, source, at } = sequence;
  const { start, end } = times;
  const count = op.length;
  for (let x = 0; x < count; x++) {
    const i = op[x];
    const r = rank[x];
    if (copies && i >= due[r]) {
      next[r] = runCopies(copies, r, next[r], i, offsets[r], chunks, copyTook, times, count);
      due[r] = dueAt(copies, r, next[r], offsets[r], count);
    }
    let begin = clock[r];
    const arrived = end[source[x]] + lag[at[x]];
    if (arrived > begin) begin = arrived;
    const back = end[reload[i]];
    if (back > begin) begin = back;
    start[i] = begin;
    clock[r] = end[i] = begin + took[at[x]];
  }
}

/**
 * Runs the copies of a rank that are issued before an op. They wait for nothing else, and an op's reload is among them.
 * Returns the next copy.
 */
function runCopies(
  { codes, issued, offsets }: Copies,
  r: number,
  y: number, // the next copy
  i: number, // the op
  first: number, // of the rank's ops
  chunks: number,
  took: Float64Array, // by slot
  { start, end }: Times,
  count: number,
): number {
  const stop = offsets[r + 1];
  let free = y > offsets[r] ? end[y - 1] : 0;
  for (; y < stop && first + issued[y - count] <= i; y++) {
    const from = issued[y - count] > 0 ? end[first + issued[y - count] - 1] : 0;
    const code = codes[y - count];
    start[y] = from > free ? from : free;
    free = start[y] + took[r * chunks + (code < chunks ? code : code - chunks)];
    end[y] = free;
  }
  return y;
}
