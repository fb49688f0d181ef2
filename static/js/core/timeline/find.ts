// Finding ops by text: what was typed, which ops it means, and which of them comes next.
//
// "2F5" is one op; any part may be left out: "F5" is micro-batch 5's forward on every stage, "2F" all forwards of
// stage 2, "F" all forwards, "5" every op of micro-batch 5.

import { firstWhere } from "../first_where.ts";
import { COPY_LETTERS } from "../schedule/copies.ts";
import { KIND_B, KIND_F, KIND_PAIR, LETTERS, chunkOf, codesPerRank, kindOf, micros } from "../schedule/ops.ts";
import type { Schedule, Times } from "../schedule/types.ts";

export type Query = { stage: number | null; letter: string | null; micro: number | null };
/** Flat indices of the ops found; rank r's are at[offsets[r]:offsets[r+1]]. */
export type Rows = { at: Int32Array; offsets: Int32Array };
export type Hits = { ops: Rows; copies: Rows | null; count: number };
/** In one lane. */
export type Found = { id: string; times: Times; hits: Hits };
export type Hit = {
  lane: number; // its place among those found
  row: number; // 2 * rank, and 1 for copies
  i: number;
  start: number;
};

const FORM = /^(\d{1,7})?([FIWBSTOR])(\d{1,7})?$/;
const PAIR = /^\(?(\d+F\d+)[;&,].*$/; // a pair is found by its forward

/** Returns null where it is not the text of ops. */
export function readQuery(text: string): Query | null {
  const typed = text.replace(/\s+/g, "").toUpperCase();
  if (/^\d{1,7}$/.test(typed)) return { stage: null, letter: null, micro: Number(typed) };
  const found = FORM.exec(PAIR.exec(typed)?.[1] ?? typed);
  const number = (part: string | undefined) => (part === undefined ? null : Number(part));
  return found && { stage: number(found[1]), letter: found[2], micro: number(found[3]) };
}

const NONE = -2; // no op of this code is meant
const ANY = -1;

/**
 * Which local micro-batch each code of a rank must have to be meant: as an op or a pair's forward, and as a pair's
 * backward.
 */
function wanted({ placement, n, chunks }: Schedule, rank: number, { stage, letter, micro }: Query) {
  const width = codesPerRank(chunks);
  const [first, second] = [new Int32Array(width).fill(NONE), new Int32Array(width).fill(NONE)];
  const local = (chunk: number) => {
    const slot = rank * chunks + chunk;
    if (stage !== null && placement.stage[slot] !== stage) return NONE;
    if (micro === null) return ANY;
    const k = micro - placement.stream[slot] * n;
    return k >= 0 && k < n ? k : NONE;
  };
  const means = (kind: number) => letter === null || letter === LETTERS[kind];
  for (let code = 0; code < width; code++) {
    const kind = kindOf(code, chunks);
    if (kind !== KIND_PAIR) first[code] = means(kind) ? local(chunkOf(code, chunks)) : NONE;
    else {
      if (means(KIND_F)) first[code] = local(chunkOf(code, chunks));
      if (means(KIND_B)) second[code] = local(code % chunks);
    }
  }
  return { first, second };
}

function searchOps(schedule: Schedule, query: Query): Rows {
  const { p, codes, offsets, count } = schedule;
  const { first, second } = micros(schedule);
  const at = new Int32Array(count);
  const found = new Int32Array(p + 1);
  let n = 0;
  for (let rank = 0; rank < p; rank++) {
    const want = wanted(schedule, rank, query);
    for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
      const a = want.first[codes[i]];
      const b = want.second[codes[i]];
      if (a === ANY || b === ANY || (a >= 0 && a === first[i]) || (b >= 0 && second && b === second[i])) at[n++] = i;
    }
    found[rank + 1] = n;
  }
  return { at: at.slice(0, n), offsets: found };
}

/** Copies are first in, first out: a slot's k-th is of its micro-batch k. */
function searchCopies(schedule: Schedule, { stage, letter, micro }: Query): Rows | null {
  const { p, chunks, copies, count, placement } = schedule;
  if (!copies || (letter !== null && !COPY_LETTERS.includes(letter))) return null;
  const at: number[] = [];
  const found = new Int32Array(p + 1);
  for (let rank = 0; rank < p; rank++) {
    const done = new Int32Array(2 * chunks);
    for (let i = copies.offsets[rank]; i < copies.offsets[rank + 1]; i++) {
      const code = copies.codes[i - count];
      const k = done[code]++;
      if (letter !== null && letter !== COPY_LETTERS[Math.floor(code / chunks)]) continue;
      if (stage !== null && placement.stage[rank * chunks + (code % chunks)] !== stage) continue;
      if (micro === null || micro === k) at.push(i);
    }
    found[rank + 1] = at.length;
  }
  return { at: Int32Array.from(at), offsets: found };
}

/** All that a query means, one look at each op. */
export function search(schedule: Schedule, query: Query): Hits {
  const ops = COPY_LETTERS.includes(query.letter ?? "?")
    ? { at: new Int32Array(0), offsets: new Int32Array(schedule.p + 1) }
    : searchOps(schedule, query);
  const copies = searchCopies(schedule, query);
  return { ops, copies, count: ops.at.length + (copies?.at.length ?? 0) };
}

/**
 * How many of a row's hits come before another: earlier ones, and of those at the same time the ones above it, or left
 * of it on its own row. order: below 0: this row is above the hit's.
 */
function before({ at, offsets }: Rows, rank: number, start: Float64Array, hit: Hit, order: number): number {
  const isEarlier = (i: number) =>
    order === 0 ? i < hit.i : start[i] < hit.start || (start[i] === hit.start && order < 0);
  return firstWhere(offsets[rank], offsets[rank + 1], (n) => !isEarlier(at[n])) - offsets[rank];
}

function eachRow(lanes: Found[], visit: (rows: Rows, rank: number, times: Times, lane: number, row: number) => void) {
  lanes.forEach(({ times, hits }, lane) => {
    for (let rank = 0; rank + 1 < hits.ops.offsets.length; rank++) {
      visit(hits.ops, rank, times, lane, 2 * rank);
      if (hits.copies) visit(hits.copies, rank, times, lane, 2 * rank + 1);
    }
  });
}

/**
 * The position of a hit among all of them in the order of their starts, from 0; of ops that start together the upper is
 * first.
 */
export function ordinal(lanes: Found[], hit: Hit) {
  let n = 0;
  eachRow(lanes, (rows, rank, times, lane, row) => {
    n += before(rows, rank, times.start, hit, lane - hit.lane || row - hit.row);
  });
  return n;
}

/**
 * The next hit after a place, or the last one before it; from the end it goes round. Ops that have not run are passed
 * over. from: a hit or any other op; returns null where nothing is found.
 */
export function step(lanes: Found[], from: Hit, way: 1 | -1): Hit | null {
  return (
    seek(lanes, from, way) ??
    seek(
      lanes,
      way > 0
        ? { lane: -1, row: -1, i: -1, start: -Infinity }
        : { lane: lanes.length, row: 0, i: -1, start: Number.MAX_VALUE },
      way,
    )
  );
}

function seek(lanes: Found[], from: Hit, way: 1 | -1) {
  let best: Hit | null = null;
  eachRow(lanes, (rows, rank, times, lane, row) => {
    const order = lane - from.lane || row - from.row;
    const lo = rows.offsets[rank] + before(rows, rank, times.start, from, order);
    const itself = order === 0 && rows.at[lo] === from.i;
    const pick = way > 0 ? lo + (itself ? 1 : 0) : lo - 1;
    if (pick < rows.offsets[rank] || pick >= rows.offsets[rank + 1]) return;
    const hit = { lane, row, i: rows.at[pick], start: times.start[rows.at[pick]] };
    if (hit.start === Infinity) return;
    if (!best || (way > 0 ? precedes(hit, best) : precedes(best, hit))) best = hit;
  });
  return best;
}

const precedes = (a: Hit, b: Hit) => (a.start - b.start || a.lane - b.lane || a.row - b.row || a.i - b.i) < 0;
