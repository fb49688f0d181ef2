// An area of the timeline, a stretch of time on some ranks, and its totals.
//
// As text, in the link: "12-30@0-3" is time 12 to 30 on ranks 0 to 3 of the first plan; "12-30@b.0-3" on those of
// plan b; "12-30@2-b.1" from the first plan's rank 2 down to plan b's rank 1.

import { memoized } from "../memoized.ts";
import { copyRows, copyTimes } from "./copy_rows.ts";
import { opsInWindow, type Rows } from "./layout.ts";
import { kindOf } from "../schedule/ops.ts";
import type { Schedule, Times } from "../schedule/types.ts";

export type Place = { lane: string; rank: number };
/** From and to in any order. */
export type Area = { t0: number; t1: number; from: Place; to: Place };
/** Ranks first to last of one lane group. */
export type RankRange = { lane: string; first: number; last: number };
/** Of one kind. */
export type Share = { kind: number; time: number; ops: number };
export type Totals = {
  duration: number;
  ranks: number;
  busy: number; // busy, idle: summed over the ranks
  idle: number;
  bubble: number; // idle's share
  /**
   * those at least partly inside, of which cut are cut by an edge (only their time inside counts); copies run beside
   * the ops and are no part of busy
   */
  ops: number;
  cut: number;
  kinds: Share[];
  copies: Share[];
};

const FIRST = "a"; // the lane that needs no name
const TIME = "\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?";
const PLACE = "(?:([a-z]+\\d?)\\.)?(\\d{1,4})";
const FORM = new RegExp(`^(${TIME})-(${TIME})@${PLACE}-${PLACE}$`);

export function readArea(text: string): Area | null {
  const found = FORM.exec(text);
  if (!found) return null;
  const [t0, t1] = [Number(found[1]), Number(found[2])];
  const lane = found[3] ?? FIRST;
  return t1 > t0
    ? { t0, t1, from: { lane, rank: Number(found[4]) }, to: { lane: found[5] ?? lane, rank: Number(found[6]) } }
    : null;
}

const ROUNDED = 6e-7; // the share of a time that may be lost in the text

/** Seven digits are more than a screen can show. */
const short = (t: number) => String(Number(t.toPrecision(7)));

export function areaText({ t0, t1, from, to }: Area) {
  const place = ({ lane, rank }: Place, plain: string) => (lane === plain ? `${rank}` : `${lane}.${rank}`);
  return `${short(t0)}-${short(t1)}@${place(from, FIRST)}-${place(to, from.lane)}`;
}

/** Which ranks an area covers, by lane group; none where its lanes are not there. groups: from top to bottom. */
export function rankRanges({ from, to }: Area, groups: { id: string; p: number }[]): RankRange[] {
  const a = groups.findIndex(({ id }) => id === from.lane);
  const b = groups.findIndex(({ id }) => id === to.lane);
  if (a < 0 || b < 0) return [];
  const [top, foot] = [Math.min(a, b), Math.max(a, b)];
  const [first, last] = a < b || (a === b && from.rank <= to.rank) ? [from.rank, to.rank] : [to.rank, from.rank];
  return groups.slice(top, foot + 1).map(({ id, p }, at) => ({
    lane: id,
    first: at === 0 ? Math.min(first, p - 1) : 0,
    last: top + at === foot ? Math.min(last, p - 1) : p - 1,
  }));
}

/** The same area with the upper of its places first. */
export function upright(area: Area, groups: { id: string; p: number }[]): Area {
  const order = ({ lane }: Place) => groups.findIndex(({ id }) => id === lane);
  const { from, to } = area;
  return (order(from) - order(to) || from.rank - to.rank) <= 0 ? area : { ...area, from: to, to: from };
}

const BLOCK = 256; // ops between two entries of a ledger
const KINDS = 7;

/** Sums before every 256th op, by kind. */
type Ledger = { kinds: Uint8Array; time: Float64Array; ops: Float64Array };

/** Ops that have not run yet take no time. */
const took = ({ start, end }: Times, i: number) => (end[i] < Infinity ? end[i] - start[i] : 0);

/** Made once for times that are asked about. */
const ledgerOf = memoized((times: Times, { codes, chunks }: Rows, count: number): Ledger => {
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => Math.min(KINDS - 1, kindOf(code, chunks)));
  const blocks = Math.floor(count / BLOCK) + 1;
  const made = { kinds, time: new Float64Array(blocks * KINDS), ops: new Float64Array(blocks * KINDS) };
  const time = new Float64Array(KINDS);
  const ops = new Float64Array(KINDS);
  for (let i = 0; i <= count; i++) {
    if (i % BLOCK === 0) {
      made.time.set(time, (i / BLOCK) * KINDS);
      made.ops.set(ops, (i / BLOCK) * KINDS);
    }
    if (i === count) break;
    const kind = kinds[codes[i]];
    time[kind] += took(times, i);
    ops[kind]++;
  }
  return made;
});

/** Add, or with sign -1 take away, all ops before flat index i. */
function addBefore(
  { kinds, time, ops }: Ledger,
  { codes }: Rows,
  times: Times,
  i: number,
  sign: 1 | -1,
  into: Share[], // by kind
) {
  const block = Math.floor(i / BLOCK);
  for (let kind = 0; kind < KINDS; kind++) {
    into[kind].time += sign * time[block * KINDS + kind];
    into[kind].ops += sign * ops[block * KINDS + kind];
  }
  for (let at = block * BLOCK; at < i; at++) {
    const share = into[kinds[codes[at]]];
    share.time += sign * took(times, at);
    share.ops += sign;
  }
}

/**
 * Shares by kind of what runs on ranks first to last in [t0, t1), how many are cut by an edge, and the time that there
 * is for them. An edge that is an op's to the digits of a link is that op's on its rank.
 */
function shares(rows: Rows, count: number, times: Times, { first, last }: RankRange, t0: number, t1: number) {
  const ledger = ledgerOf(times, rows, count);
  const by = Array.from({ length: KINDS }, (_, kind) => ({ kind, time: 0, ops: 0 }));
  const { start, end } = times;
  let [cut, room] = [0, 0];
  for (let rank = first; rank <= last; rank++) {
    let [lo, hi] = opsInWindow(rows, times, rank, t0, t1);
    let [from, to] = [t0, t1];
    if (lo < hi && start[lo] < t0 && same(end[lo], t0)) from = end[lo++];
    else if (lo < hi && same(start[lo], t0)) from = start[lo];
    if (lo < hi && end[hi - 1] > t1 && same(start[hi - 1], t1)) to = start[--hi];
    else if (lo < hi && same(end[hi - 1], t1)) to = end[hi - 1];
    room += to - from;
    if (hi <= lo) continue;
    addBefore(ledger, rows, times, hi, 1, by);
    addBefore(ledger, rows, times, lo, -1, by);
    const [before, after] = [from - start[lo], end[hi - 1] - to];
    if (before > 0) by[ledger.kinds[rows.codes[lo]]].time -= before;
    if (after > 0) by[ledger.kinds[rows.codes[hi - 1]]].time -= after;
    cut += (before > 0 ? 1 : 0) + (after > 0 && !(before > 0 && hi - lo === 1) ? 1 : 0);
  }
  return { by: by.filter(({ ops }) => ops > 0), cut, room };
}

const same = (edge: number, t: number) => Math.abs(edge - t) <= ROUNDED * t;

/** A subarray is a new object each time, and the ledger hangs on the object. */
const copyTimesOf = memoized((times: Times, schedule: Schedule) => copyTimes(schedule, times));

function copyShares(schedule: Schedule, times: Times, range: RankRange, t0: number, t1: number) {
  const rows = copyRows(schedule);
  if (!rows || !schedule.copies) return [];
  return shares(rows, schedule.copies.count, copyTimesOf(times, schedule), range, t0, t1).by;
}

/**
 * What happens on some ranks of a lane between t0 and t1. Two searches and at most 512 ops a rank, however many ops
 * there are. Returns of the part within the lane's own time.
 */
export function totals(
  { schedule, times, end }: { schedule: Schedule; times: Times; end: number },
  range: RankRange,
  from: number,
  to: number,
): Totals {
  const t0 = Math.max(0, from);
  const t1 = Math.max(t0, Math.min(to, end));
  const duration = t1 - t0;
  const ranks = range.last - range.first + 1;
  const { by, cut, room } = shares(schedule, schedule.count, times, range, t0, t1);
  const busy = by.reduce((sum, { time }) => sum + time, 0);
  const idle = room - busy > 1e-9 * room ? room - busy : 0; // sums of many ops are a little off
  return {
    duration,
    ranks,
    busy,
    idle,
    bubble: room > 0 ? idle / room : 0,
    ops: by.reduce((sum, { ops }) => sum + ops, 0),
    cut,
    kinds: by,
    copies: copyShares(schedule, times, range, t0, t1),
  };
}
