// Activations held by each rank: chunks in flight, and in units of one micro-batch's activations on a device.
// A chunk's activation is taken when its F starts and given back when its W (or full B) ends; inside a pair the F
// takes before the B gives back. Ops of a rank run one at a time, so peaks need no times, but where copies move
// activations to host memory and back. A forward-only schedule keeps nothing.

import { memoized } from "../memoized.ts";
import { RELOAD } from "./copies.ts";
import { firstTrained } from "./effective_costs.ts";
import { recomputation } from "./recomputation.ts";
import { entering, within } from "./sizes.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, kindOf, micros, pairChunks } from "./ops.ts";
import { valuesOf } from "./per_chunk.ts";
import { RECOMPUTE } from "./spec_tables.ts";
import type { Schedule, Spec, Times } from "./types.ts";

export type Holding = {
  wShare: number; // the part of an activation that W still needs after I
  v: number;
  kept: number | number[]; // the part that is held until the backward, of all chunks or of each
  weights: number; // what each stashed weight version costs
  restored: number; // the part of a chunk's activations that a full backward restores at a time
  ranks?: Chunks[]; // of each rank, where chunks are not all alike
  sizes?: number[]; // of the micro-batches in the order in which they enter, where they differ
  spared?: number; // of the chunks that a rank holds at once, how many keep all; with sizes
  within?: number; // of how many it keeps all at most; with sizes
};
/** By chunk: its size in those of a mean chunk of the device, and kept as above. */
type Chunks = { size: number[]; kept: number[] };

const CODES = 256;
const KEPT = Object.fromEntries(Object.entries(RECOMPUTE).map(([mode, { kept }]) => [mode, kept]));

/** How a spec's memory is counted. */
export const holding = (spec: Spec): Holding => ({
  wShare: spec.w_share,
  v: spec.v,
  kept: valuesOf(spec.recompute, KEPT),
  weights: spec.weights ?? 0,
  restored: 1,
  sizes: entering(spec) ?? undefined,
  spared: spec.spared,
  within: within(spec),
});

/** The part of an activation that is held until the backward, by chunk. */
export const keptByChunk = (kept: Holding["kept"], chunks: number): number[] =>
  typeof kept === "number" ? new Array(chunks).fill(kept) : kept;

/** What each op takes at its start, by code: a forward what it keeps, a backward the rest, by recomputing. */
export function takes(chunks: number, kept: Holding["kept"], restored = 1, sizes?: number[]) {
  const held = keptByChunk(kept, chunks);
  const size = sizes ?? new Array(chunks).fill(1);
  const take = new Float64Array(CODES); // looked up by code: a slider asks for the curves of all ranks in each frame
  for (let code = 0; code < CODES; code++) {
    const kind = kindOf(code, chunks);
    const chunk = chunkOf(code, chunks);
    if (kind === KIND_F) take[code] = size[chunk] * held[chunk];
    else if (kind === KIND_I) take[code] = size[chunk] * (1 - held[chunk]);
    else if (kind === KIND_B) take[code] = size[chunk] * (restored * (1 - held[chunk]));
    else if (kind === KIND_PAIR) {
      const [, other] = pairChunks(code, chunks);
      // exactly 1 where both are alike
      take[code] = size[other] * whole(held[other], restored) + (size[chunk] * held[chunk] - size[other] * held[other]);
    }
  }
  return take;
}

/** What a chunk holds while a full backward runs. */
const whole = (held: number, restored: number) => (restored === 1 ? 1 : held + restored * (1 - held));

/** What each op gives back at its end, by code. wShare: the part of an activation that W still needs after I. */
export function backs(chunks: number, wShare: number, kept: Holding["kept"] = 1, restored = 1, sizes?: number[]) {
  const held = keptByChunk(kept, chunks);
  const size = sizes ?? new Array(chunks).fill(1);
  const back = new Float64Array(CODES);
  for (let code = 0; code < CODES; code++) {
    const kind = kindOf(code, chunks);
    const chunk = kind === KIND_PAIR ? pairChunks(code, chunks)[1] : chunkOf(code, chunks);
    const needed = size[chunk] * wShare;
    if (kind === KIND_I) back[code] = size[chunk] - needed;
    else if (kind === KIND_W) back[code] = needed;
    else if (kind === KIND_B || kind === KIND_PAIR) back[code] = size[chunk] * whole(held[chunk], restored);
  }
  return back;
}

/** Whether all ops are forwards: inference. */
export const isForwardOnly = memoized(
  ({ codes, chunks }: Schedule) => codes.length > 0 && codes.every((code) => code < chunks),
);

/** Of each slot whether it has forwards alone: in inference, and before the first stage that is trained. */
export function forwardSlots(schedule: Schedule): (slot: number) => boolean {
  const all = isForwardOnly(schedule);
  const trained = firstTrained(schedule.spec);
  return (slot) => all || schedule.placement.stage[slot] < trained;
}

/** What the ops of a rank take: nothing where a stage has no backwards. */
function takesOn(schedule: Schedule, rank: number, take: Float64Array) {
  const { chunks } = schedule;
  const alone = forwardSlots(schedule);
  const some = Array.from({ length: chunks }, (_, chunk) => alone(rank * chunks + chunk)).some((one) => one);
  return some ? take.map((x, code) => (code < chunks && alone(rank * chunks + code) ? 0 : x)) : take;
}

/** The tables of a rank: of its own chunks, or those of all ranks. */
function tables(chunks: number, { kept, wShare, restored, ranks }: Holding, rank: number) {
  const own = ranks?.[rank] ?? { kept, size: undefined };
  return [takes(chunks, own.kept, restored, own.size), backs(chunks, wShare, own.kept, restored, own.size)] as const;
}

/**
 * What each op of a rank takes and gives back where micro-batches differ: that of its code times the size of its
 * micro-batch. Of a pair the forward takes what its chunk's forwards do, the backward the rest. A forward that keeps
 * all takes the whole chunk, and its backward nothing; what runs again is taken where it does.
 */
function sizedMoves(schedule: Schedule, rank: number, how: Holding, take: Float64Array, back: Float64Array) {
  const { sizes, ranks } = how as Holding & { sizes: number[] };
  const { chunks, codes, n, offsets, placement } = schedule;
  const { first, second } = micros(schedule);
  const of = (chunk: number, k: number) => sizes[k + n * placement.stream[rank * chunks + chunk]];
  const from = offsets[rank];
  const again = recomputation(schedule, how);
  const [taken, given, rest, early] = [0, 0, 0, 0].map(() => new Float64Array(offsets[rank + 1] - from));
  for (let i = from; i < offsets[rank + 1]; i++) {
    const code = codes[i];
    const one = of(chunkOf(code, chunks), first[i]);
    const isPair = kindOf(code, chunks) === KIND_PAIR && second !== null;
    const two = isPair ? of(code % chunks, second[i]) : one;
    const at = isPair ? KIND_F * chunks + chunkOf(code, chunks) : code;
    const all = at < chunks && take[at] > 0 ? (ranks?.[rank].size[at] ?? 1) : 0; // the code of an F is its chunk
    taken[i - from] = (again && again.keeps[i] & 1 ? all : take[at]) * one;
    rest[i - from] = (take[code] - take[at]) * two;
    given[i - from] = back[code] * two;
  }
  for (let i = from; i < offsets[rank + 1]; i++) {
    const at = again ? again.before[i] : i;
    if (at === i) taken[i - from] += rest[i - from];
    else if (at >= 0) early[at - from] += rest[i - from];
  }
  for (let i = 0; i < taken.length; i++) taken[i] += early[i];
  return { taken, given };
}

/** Returns the highest level of each rank. */
function peaks(schedule: Schedule, how: Holding): Float64Array {
  const { p, chunks, codes, offsets } = schedule;
  const top = new Float64Array(p);
  if (isForwardOnly(schedule)) return top;
  let [take, back] = tables(chunks, how, 0);
  for (let r = 0; r < p; r++) {
    let level = 0;
    if (how.ranks && r > 0) [take, back] = tables(chunks, how, r);
    const taken = takesOn(schedule, r, take);
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      level += taken[codes[i]];
      if (level > top[r]) top[r] = level;
      level -= back[codes[i]];
    }
  }
  return top;
}

/** The most chunks in flight on each rank; an I gives nothing back. */
export const peakInFlight = (schedule: Schedule) =>
  Int32Array.from(peaks(schedule, { kept: 1, wShare: 1, restored: 1, v: 1, weights: 0 }));

/**
 * The most memory of each rank, in units of one micro-batch's activations on a device (1F1B's peak is min(p, m)).
 * times: needed where there are copies or stashed weights.
 */
export function peakMemory(schedule: Schedule, times: Times | null, how: Holding) {
  if (times && (schedule.copies || how.weights > 0 || how.sizes)) {
    return Float64Array.from({ length: schedule.p }, (_, r) =>
      curve(schedule, times, r, how).y.reduce((a, b) => Math.max(a, b), 0),
    );
  }
  return peaks(schedule, how).map((x) => x / how.v);
}

/**
 * One rank's memory over time as steps: level y[k] holds from t[k] on, 0 before t[0]. Stops at the first op that has
 * not run yet.
 */
export function curve(
  schedule: Schedule,
  times: Times,
  rank: number,
  how: Holding,
  into?: { t: Float64Array; y: Float64Array }, // its memory is reused where it is large enough
): { t: Float64Array; y: Float64Array } {
  const { chunks, codes, offsets } = schedule;
  if (isForwardOnly(schedule)) return { t: new Float64Array(0), y: new Float64Array(0) };
  const { start, end } = times;
  const { v, weights, sizes } = how;
  const [taken, back] = tables(chunks, how, rank);
  const take = takesOn(schedule, rank, taken);
  const stashed = weights > 0 ? versions(schedule).stashed : null;
  const from = offsets[rank];
  const sized = sizes ? sizedMoves(schedule, rank, how, take, back) : null;
  let to = from;
  while (to < offsets[rank + 1] && end[to] < Infinity) to++;
  const copies = copyMoves(schedule, times, rank, { take: taken, sizes }, from, to);
  const most = 2 * (to - from) + copies.count;
  const [t, y] = into ? [roomIn(into.t, most), roomIn(into.y, most)] : [new Float64Array(most), new Float64Array(most)];
  let size = 0;
  let level = 0;
  let next = 0;
  for (let move = 0; move <= 2 * (to - from); move++) {
    for (; next < copies.count && copies.among[next] === move; next++) {
      level += copies.change[next];
      t[size] = copies.when[next];
      y[size++] = level / v;
    }
    const i = from + (move >> 1);
    if (i === to) break;
    const begins = move % 2 === 0;
    let change = begins ? (sized?.taken[i - from] ?? take[codes[i]]) : -(sized?.given[i - from] ?? back[codes[i]]);
    if (stashed && !begins) change += weights * v * (stashed[i] - (i > from ? stashed[i - 1] : 0));
    if (change === 0) continue;
    level += change;
    t[size] = begins ? start[i] : end[i];
    y[size++] = level / v;
  }
  return { t: t.subarray(0, size), y: y.subarray(0, size) };
}

/** All the memory of an array, or new memory if that is too little. */
const roomIn = ({ buffer }: Float64Array, length: number) =>
  buffer.byteLength >= 8 * length ? new Float64Array(buffer) : new Float64Array(length);

const roomForMoves = (length: number) => ({
  among: new Int32Array(length),
  when: new Float64Array(length),
  change: new Float64Array(length),
});
let moves = roomForMoves(0); // of one rank after the other

/**
 * The moves of a rank's copies among the 2 * (to - from) of its ops: an offload gives at its end, a reload takes at its
 * start. Of moves at one time an offload's comes first and a reload's last; copies that take no time stand where they
 * are issued. The same as backend/schedule/simulation/memory.py. Returns in the order of among; the arrays are longer,
 * and the next call's.
 */
function copyMoves(
  { copies, chunks, count: ops }: Schedule,
  { start, end }: Times,
  rank: number,
  { take, sizes }: { take: Float64Array; sizes?: number[] },
  from: number,
  to: number,
): { count: number; among: Int32Array; when: Float64Array; change: Float64Array } {
  const [first, stop] = copies ? [copies.offsets[rank], copies.offsets[rank + 1]] : [0, 0];
  if (moves.among.length < stop - first) moves = roomForMoves(stop - first);
  const { among, when, change } = moves;
  const done = new Int32Array(2 * chunks); // copies so far, by code
  let count = 0;
  let sorted = true;
  let [at, last] = [0, -Infinity]; // a lane's copies come one after the other, so that the search goes on from the last
  for (let i = first; copies && i < stop; i++) {
    const reload = copies.codes[i - ops] >= RELOAD * chunks;
    const micro = done[copies.codes[i - ops]]++;
    const time = reload ? start[i] : end[i];
    if (time === Infinity) continue; // of a live run, not reported yet
    if (time < last || (time === last && !reload)) at = 0;
    at = place(start, end, from, to, time, reload, at);
    last = time;
    among[count] = end[i] > start[i] ? at : 2 * copies.issued[i - ops];
    when[count] = time;
    const moved = take[copies.codes[i - ops] % chunks] * (sizes?.[micro] ?? 1); // as much as the chunk's F
    change[count] = reload ? moved : -moved;
    if (count > 0 && among[count] < among[count - 1]) sorted = false;
    count++;
  }
  return sorted ? { count, among, when, change } : inOrder({ count, among, when, change });
}

function inOrder({ count, among, when, change }: ReturnType<typeof copyMoves>): ReturnType<typeof copyMoves> {
  // stable: copies of one place stay in their order
  const order = Array.from({ length: count }, (_, k) => k).sort((a, b) => among[a] - among[b]);
  return {
    count,
    among: Int32Array.from(order, (k) => among[k]),
    when: Float64Array.from(order, (k) => when[k]),
    change: Float64Array.from(order, (k) => change[k]),
  };
}

/** The number of a rank's starts and ends before a time, or up to it, of which there are `least`. */
function place(
  start: Float64Array,
  end: Float64Array,
  from: number,
  to: number,
  when: number,
  upTo: boolean,
  least: number,
) {
  let i = from + (least >> 1);
  for (; i < to && (upTo ? end[i] <= when : end[i] < when); i++);
  const begun = i < to && (upTo ? start[i] <= when : start[i] < when);
  return Math.max(least, 2 * (i - from) + (begun ? 1 : 0));
}

/**
 * Weight versions of an asynchronous schedule (PipeDream; as backend/schedule/order/weight_versions.py): which weights
 * each op uses, how late its gradient is (0 for a forward), versions besides the newest once it has ended; and how many
 * a rank keeps.
 */
type Versions = { used: Int32Array; late: Int32Array; stashed: Int32Array; held: Int32Array };

/**
 * A forward begins with the newest weights, its backward uses the same ones, and every backward is an update. schedule:
 * one chunk per rank, full backwards.
 */
export const versions = memoized((schedule: Schedule): Versions => {
  const { codes, offsets, chunks, p, n, count } = schedule;
  const made = {
    used: new Int32Array(count),
    late: new Int32Array(count),
    stashed: new Int32Array(count),
    held: new Int32Array(p),
  };
  const { first } = micros(schedule);
  const begun = new Int32Array(n);
  for (let rank = 0; rank < p; rank++) {
    let newest = 0;
    /** version: micro-batches in flight that began with it. */
    const inFlight = new Map<number, number>();
    for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const micro = first[i];
      if (kind === KIND_F) {
        begun[micro] = made.used[i] = newest;
        inFlight.set(newest, (inFlight.get(newest) ?? 0) + 1);
      } else if (kind === KIND_B) {
        const version = (made.used[i] = begun[micro]);
        made.late[i] = newest - version;
        const left = (inFlight.get(version) ?? 1) - 1;
        if (left) inFlight.set(version, left);
        else inFlight.delete(version);
        newest++;
      }
      made.stashed[i] = inFlight.size - (inFlight.has(newest) ? 1 : 0);
      made.held[rank] = Math.max(made.held[rank], made.stashed[i] + 1);
    }
  }
  return made;
});
