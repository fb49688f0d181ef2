// Times of an order with steady states from a shorter one, with most repetitions of its blocks left out: as
// backend/schedule/simulation/periodic.py, which says why it holds and for which costs it is exact. Where the rows of a
// large order repeat a block, the server has found (backend/schedule/order/repeats.py).

import { firstWhere } from "../first_where.ts";
import { memoized } from "../memoized.ts";
import type { Tables } from "./simulate.ts";
import type { Schedule, Times } from "./types.ts";

const KEPT = 3; // times the ranks, micro-batches that are kept at first: the pipeline fills, and a block repeats
const MORE = 8; // times what is kept, micro-batches of an order that is tried again with more

/** period: the ops of one block; begin, end: where the phase is in each rank's row. */
export type Phase = { period: number; begin: number[]; end: number[] };
/**
 * The full loop of simulate.ts for one set of costs. run: at, where each rank stopped, and cells, when each result was
 * made, n cells a row; valid until the next run.
 */
type Ran = { times: Times; at: Int32Array; cells: Float64Array };
/**
 * What all costs of an order share. micros: the micro-batches in one block of each phase, of every slot with ops in it;
 * give: the rows that each (rank, code) makes, width of them a rank; taker: the row that another rank makes of each
 * row, -1 for none.
 */
type Loop = { took: Float64Array; comm: number; run: (schedule: Schedule) => Ran };
/**
 * A state that repeats in a shorter order: after each rank's ops [begin[r], end[r]), that many blocks of a phase, it is
 * the state before them, period later.
 */
type Cut = { phases: Phase[]; micros: number[]; give: Int32Array[]; taker: Int32Array; width: number };
type Cycle = { begin: Int32Array; end: Int32Array; blocks: number; period: number };

/** Beside the schedules: a copy with other ops has not the same phases. */
const noted = new WeakMap<Schedule, Phase[]>();

/** The phases of a schedule, [] where none are known. */
export const phasesOf = (schedule: Schedule) => noted.get(schedule) ?? [];

/** Returns the same. */
export function notePhases(schedule: Schedule, phases: Phase[]): Schedule {
  if (phases.length > 0) noted.set(schedule, phases);
  return schedule;
}

/** Whole blocks that every rank has in a phase. */
export const blocksOf = ({ period, begin, end }: Phase) =>
  begin.reduce((fewest, from, r) => Math.min(fewest, Math.floor((end[r] - from) / period)), Infinity);

/** The codes of all rows without some blocks of each phase. blocks: by phase. */
export function withoutBlocks(codes: Uint8Array, offsets: Int32Array, phases: Phase[], blocks: number[]) {
  const p = offsets.length - 1;
  const leftOut = phases.map(({ period }, i) => blocks[i] * period);
  const out = new Uint8Array(codes.length - p * leftOut.reduce((sum, ops) => sum + ops, 0));
  let to = 0;
  for (let r = 0; r < p; r++) {
    let from = offsets[r];
    for (let i = 0; i <= phases.length; i++) {
      const last = i === phases.length;
      const until = last ? offsets[r + 1] : offsets[r] + phases[i].end[r];
      const kept = codes.subarray(from, last ? until : until - leftOut[i]);
      out.set(kept, to);
      to += kept.length;
      from = until;
    }
  }
  return out;
}

/**
 * The inverse: the codes of all rows from those that were sent. offsets: of the whole rows; blocks: left out of each
 * phase.
 */
export function withBlocks(sent: Uint8Array, offsets: Int32Array, phases: Phase[], blocks: number[]) {
  const out = new Uint8Array(offsets[offsets.length - 1]);
  let from = 0;
  for (let r = 0; r + 1 < offsets.length; r++) {
    let to = offsets[r];
    phases.forEach(({ period, end }, i) => {
      const until = offsets[r] + end[r];
      const kept = until - blocks[i] * period - to;
      out.set(sent.subarray(from, from + kept), to);
      from += kept;
      to += kept;
      repeat(out, to - period, to, until);
      to = until;
    });
    out.set(sent.subarray(from, from + offsets[r + 1] - to), to);
    from += offsets[r + 1] - to;
  }
  return out;
}

/** Fill [end, until) with whole copies of [begin, end), twice as many each time. */
export function repeat(codes: Uint8Array, begin: number, end: number, until: number) {
  for (let to = end; to < until;) {
    const length = Math.min(to - begin, until - to);
    codes.copyWithin(to, begin, begin + length);
    to += length;
  }
}

/** The shorter order that the last costs of an order were timed on. */
const shorter = new WeakMap<Schedule, Schedule>();

/** Whether an order was timed on a shorter one. */
export const wasShortened = (schedule: Schedule) => shorter.has(schedule);

/**
 * Whether no sum of up to as many times is rounded: all are multiples of one power of two, of which the sum has fewer
 * than 2^53.
 */
function sumsAreExact(took: Float64Array, comm: number, ops: number) {
  const most = 2 * ops * took.reduce((top, time) => Math.max(top, time), comm);
  if (most === 0) return true;
  const units = 2 ** (51 - Math.ceil(Math.log2(most)));
  const isExact = (time: number) => Math.round(time * units) / units === time;
  return isExact(comm) && took.every(isExact);
}

/** The times of an order, by a shorter one; null where there is no steady state, or sums are rounded. */
export function timePeriodic(schedule: Schedule, table: Tables, loop: Loop, room: () => Times): Times | null {
  if (phasesOf(schedule).length === 0 || !sumsAreExact(loop.took, loop.comm, schedule.count)) return null;
  const cut = cutOf(schedule, table);
  if (!cut) return null;
  const { phases, micros } = cut;
  let multiple = micros.reduce(lcm);
  let kept = KEPT * Math.max(schedule.p, multiple);
  const most = Math.min(...phases.map((phase, i) => blocksOf(phase) * micros[i]));
  for (;;) {
    const fewer = Math.floor((most - kept) / multiple) * multiple;
    if (2 * fewer < schedule.n) return null;
    const short = shortened(schedule, cut, fewer);
    const ran = loop.run(short);
    if (ran.at.some((i, r) => i < short.offsets[r + 1])) return null; // a deadlock
    const cycles = phases.map((_, i) => cycleOf(short, ran, cut, i, fewer));
    if (cycles.includes(null)) {
      kept *= 4;
      if (MORE * kept > schedule.n) return null;
      continue;
    }
    const found = cycles as Cycle[];
    const whole = found.map(({ blocks }, i) => blocks * micros[i]).reduce(lcm);
    if (fewer % whole === 0) return extended(schedule, short, ran.times, found, cut, fewer, room());
    multiple = lcm(multiple, whole);
  }
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

const lcm = (a: number, b: number) => (a / gcd(a, b)) * b;

/** The phases if every slot does its forwards in one of them, and its gradients in one; else null. */
const cutOf = memoized((schedule: Schedule, table: Tables): Cut | null => {
  const { p, chunks, n, codes, offsets, micro, copies, barriers } = schedule;
  if (micro.length > 0 || copies || barriers > 0) return null;
  const phases = phasesOf(schedule);
  const width = table.inA.length / p;
  const slots = p * chunks;
  const rowsOf = (places: Int32Array) => places.map((place) => (place < 0 ? -1 : place / n));
  const give = [rowsOf(table.outA), rowsOf(table.outB)];
  const need = [rowsOf(table.inA), rowsOf(table.inB)];
  const taker = new Int32Array(2 * slots).fill(-1);
  const inPhases = new Uint8Array(2 * slots);
  const micros = [];
  for (const { period, begin } of phases) {
    const made = new Int32Array(2 * slots);
    const taken = new Int32Array(2 * slots);
    for (let r = 0; r < p; r++) {
      for (let i = offsets[r] + begin[r]; i < offsets[r] + begin[r] + period; i++) {
        const at = r * width + codes[i];
        for (const half of [0, 1]) {
          const source = need[half][at];
          if (give[half][at] >= 0) made[give[half][at]]++;
          if (source < 0 || Math.floor((source % slots) / chunks) === r) continue;
          taken[source]++;
          taker[source] = give[half][at];
        }
      }
    }
    const most = made.reduce((top, count) => Math.max(top, count), 0);
    if (most === 0 || made.some((count) => count > 0 && count !== most)) return null;
    if (taker.some((row, source) => row >= 0 && made[source] !== taken[source])) return null;
    made.forEach((count, row) => (inPhases[row] += count > 0 ? 1 : 0));
    micros.push(most);
  }
  const rows = codes.every((code) => code < chunks) ? inPhases.subarray(0, slots) : inPhases; // forwards come first
  return rows.every((count) => count === 1) ? { phases, micros, give, taker, width } : null;
});

/** The order with fewer micro-batches in every phase. */
function shortened(schedule: Schedule, { phases, micros }: Cut, fewer: number): Schedule {
  const last = shorter.get(schedule);
  if (last?.n === schedule.n - fewer) return last;
  const blocks = micros.map((each) => fewer / each);
  const ops = phases.reduce((sum, { period }, i) => sum + blocks[i] * period, 0);
  const short = {
    ...schedule,
    m: schedule.m - schedule.placement.streams * fewer,
    n: schedule.n - fewer,
    codes: withoutBlocks(schedule.codes, schedule.offsets, phases, blocks),
    offsets: schedule.offsets.map((offset, r) => offset - r * ops),
    count: schedule.count - schedule.p * ops,
  };
  shorter.set(schedule, short);
  return short;
}

/** The last state of a shorter order in which every rank is in a phase, and the nearest before that equals it. */
function cycleOf(short: Schedule, { times, cells }: Ran, cut: Cut, which: number, fewer: number): Cycle | null {
  const { p, offsets } = short;
  const { period, begin, end } = cut.phases[which];
  const leftOut = cut.phases.map((phase, i) => (i > which ? 0 : (fewer / cut.micros[i]) * phase.period));
  const all = leftOut.reduce((sum, ops) => sum + ops, 0);
  let moment = Infinity; // when the first rank leaves the phase
  for (let r = 0; r < p; r++) {
    const after = offsets[r] + end[r] - all;
    moment = Math.min(moment, after < offsets[r + 1] ? times.start[after] : times.end[after - 1]);
  }
  const at = Int32Array.from({ length: p }, (_, r) =>
    firstWhere(offsets[r], offsets[r + 1], (i) => times.start[i] >= moment),
  );
  let blocks = Infinity;
  for (let r = 0; r < p; r++) {
    blocks = Math.min(blocks, Math.floor((at[r] - offsets[r] - begin[r] + all - leftOut[which]) / period));
  }
  for (let back = 1; back < blocks; back++) {
    const later = (i: number) => times.end[i - 1] - times.end[i - 1 - back * period];
    const shift = later(at[0]);
    if (at.some((i) => later(i) !== shift)) continue;
    const before = at.map((i) => i - back * period);
    if (!isSameState(short, cells, cut, before, at, shift)) continue;
    const inRow = (places: Int32Array) => places.map((i, r) => i - offsets[r]);
    return { begin: inRow(before), end: inRow(at), blocks: back, period: shift };
  }
  return null;
}

/**
 * Whether the state with the ranks at `at` is that with them at `before`, shift later: of each row, the results that
 * another rank has not taken are as many, and that much later. No op before may need a result from after.
 */
function isSameState(
  { p, n, codes, offsets }: Schedule,
  cells: Float64Array,
  { give, taker, width }: Cut,
  before: Int32Array,
  at: Int32Array,
  shift: number,
) {
  const made = new Int32Array(taker.length);
  const more = new Int32Array(taker.length);
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < at[r]; i++) {
      const into = i < before[r] ? made : more;
      const a = give[0][r * width + codes[i]];
      const b = give[1][r * width + codes[i]];
      if (a >= 0) into[a]++;
      if (b >= 0) into[b]++;
    }
  }
  return taker.every((row, source) => {
    if (row < 0) return true;
    if (made[row] > made[source] || more[row] !== more[source]) return false;
    for (let k = made[row]; k < made[source]; k++) {
      if (cells[source * n + k] + shift !== cells[source * n + k + more[source]]) return false;
    }
    return true;
  });
}

/**
 * The times of the whole order: those of the shorter one with the blocks that were left out, each later than the one
 * before.
 */
function extended(
  { p, offsets }: Schedule,
  short: Schedule,
  times: Times,
  cycles: Cycle[],
  { micros }: Cut,
  fewer: number,
  into: Times,
): Times {
  const more = cycles.map(({ blocks }, i) => fewer / micros[i] / blocks);
  for (let r = 0; r < p; r++) {
    const row = short.offsets[r];
    let to = offsets[r];
    let from = row;
    let late = 0;
    cycles.forEach(({ begin, end, period }, i) => {
      to = copyLater(times, from, row + end[r], late, into, to);
      const ops = end[r] - begin[r];
      repeatLater(into, ops, period, to, to + more[i] * ops);
      to += more[i] * ops;
      from = row + end[r];
      late += more[i] * period;
    });
    to = copyLater(times, from, short.offsets[r + 1], late, into, to);
    if (to > offsets[r]) into.makespan = Math.max(into.makespan, into.end[to - 1]);
  }
  return into;
}

/** Copy the times of ops, that much later; returns where the copy ends. */
function copyLater(times: Times, begin: number, end: number, late: number, into: Times, to: number) {
  const { start, end: stop } = times;
  const { start: starts, end: stops } = into;
  for (let i = begin; i < end; i++, to++) {
    starts[to] = start[i] + late;
    stops[to] = stop[i] + late;
  }
  return to;
}

/** Fill the times of the ops from begin to end: each is that of `ops` before it, that much later. */
function repeatLater({ start, end: stop }: Times, ops: number, later: number, begin: number, end: number) {
  for (let i = begin; i < end; i++) {
    start[i] = start[i - ops] + later;
    stop[i] = stop[i - ops] + later;
  }
}
