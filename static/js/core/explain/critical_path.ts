// The critical path: the chain of ops, messages and waits that decides when the last op ends, back to time 0.
//
// From an op the chain goes back to what it waited for last: its rank's previous op, a value from another op (and,
// between ranks, its message), all ranks' part in a barrier, or a copy. Of several that were there at the same moment
// the rank's own previous op counts first, then the value that is named first (dependencies.ts), so that a path is
// the same every time. Where an op began later than all it needs was there (in a measured run), the time between is a
// gap of its own rank.

import { memoized } from "../memoized.ts";
import { OFFLOAD, copyOf } from "../schedule/copies.ts";
import { leadBefore, sources } from "../schedule/dependencies.ts";
import { KIND_T, kindOf, rankOf, rowsOf } from "../schedule/ops.ts";
import type { Costs, Schedule, Times } from "../schedule/types.ts";

/**
 * By what an op is held: its rank's previous op, a message from another rank, a barrier, another op of its own rank,
 * its copy lane's previous copy, the op at which it is issued.
 */
type Way = "rank" | "message" | "barrier" | "data" | "lane" | "issue";
/** Op i must have ended, and lag passed, before an op can start; lead of it is done before that, hop after i. */
type Before = { i: number; lag: number; way: Way; lead?: number; hop?: number };
/**
 * One op of the chain, which runs from .. to; before it came a message in flight and a gap, and way is its cause (null
 * for the first).
 */
type Step = { op: number; from: number; to: number; flight: number; gap: number; way: Way | null };
/** Steps in order of time; work by kind of op, copies by kind of copy. */
export type Path = {
  steps: Step[];
  length: number;
  work: Float64Array;
  copies: Float64Array;
  flight: number;
  gap: number;
  hops: number; // messages and barriers
};

/** All that an op or a copy waits for. i: flat index. */
export function before(schedule: Schedule, { end }: Times, costs: Costs, i: number): Before[] {
  const rank = rankOf(schedule, i);
  const first = i === rowsOf(schedule, i)[rank];
  const own: Before[] = first ? [] : [{ i: i - 1, lag: 0, way: i < schedule.count ? "rank" : "lane" }];
  if (i >= schedule.count) return [...own, ...issuer(schedule, rank, i)];
  return [
    ...own,
    ...sources(schedule, i).map((link) => {
      const way = link.cargo === "barrier" ? "barrier" : link.hops ? "message" : "data";
      const hop = (link.by === link.i ? 0 : end[link.by] - end[link.i]) + (link.hops ? costs.comm : 0);
      const lead = leadBefore(schedule, costs, link, i);
      const found = { i: link.i, lag: hop - lead, way: way as Way };
      return lead > 0 ? { ...found, lead, hop } : found;
    }),
  ];
}

/** The op after which a copy is issued. */
function issuer({ copies, count, offsets }: Schedule, rank: number, i: number): Before[] {
  const issued = copies ? copies.issued[i - count] : 0;
  return issued > 0 ? [{ i: offsets[rank] + issued - 1, lag: 0, way: "issue" }] : [];
}

/** What an op waited for last, and when it was there; null for what waits for nothing. */
function last(schedule: Schedule, times: Times, costs: Costs, i: number): { found: Before; there: number } | null {
  const { start, end } = times;
  // Most ops of a full rank follow their neighbour at once: no need to look further.
  if (i < schedule.count && i > rowsOf(schedule, i)[rankOf(schedule, i)] && end[i - 1] === start[i]) {
    return { found: { i: i - 1, lag: 0, way: "rank" }, there: end[i - 1] };
  }
  let best = null;
  for (const found of before(schedule, times, costs, i)) {
    // A measured message can be faster than the planned one: it was there when its op began.
    const there = Math.min(end[found.i] + found.lag, start[i]);
    if (!best || there > best.there) best = { found, there };
  }
  return best;
}

/** The op that ends last, on the lowest rank; -1 where none has ended. */
function ender({ p, offsets }: Schedule, { end }: Times) {
  let found = -1;
  for (let r = 0; r < p; r++) {
    let i = offsets[r + 1] - 1;
    while (i >= offsets[r] && !Number.isFinite(end[i])) i--; // of a live run: not reported yet
    if (i >= offsets[r] && (found < 0 || end[i] > end[found])) found = i;
  }
  return found;
}

export const criticalPath = (schedule: Schedule, times: Times, costs: Costs) => walked(times, schedule, costs);

const walked = memoized(walk);

function walk(times: Times, schedule: Schedule, costs: Costs): Path {
  const { start, end } = times;
  const steps: Step[] = [];
  let i = ender(schedule, times);
  const length = i < 0 ? 0 : end[i];
  let to = length;
  while (i >= 0) {
    const held = last(schedule, times, costs, i);
    const lead = held?.found.lead ?? 0; // of the op, which the path does not go through
    const arrival = held?.found.hop === undefined ? 0 : end[held.found.i] + held.found.hop; // start + lead may round
    const from = Math.min(Math.max(start[i] + lead, arrival), to); // clocks of two ranks may differ by a little
    const given = held ? Math.min(end[held.found.i], from) : 0;
    const there = held ? Math.min(held.there + lead, from) : 0;
    steps.push({ op: i, from, to, flight: there - given, gap: from - there, way: held ? held.found.way : null });
    to = given;
    i = held ? held.found.i : -1;
  }
  return { steps: steps.reverse(), length, ...totals(schedule, steps) };
}

function totals(schedule: Schedule, steps: Step[]) {
  const work = new Float64Array(KIND_T + 1);
  const copies = new Float64Array(OFFLOAD + 2);
  let flight = 0;
  let gap = 0;
  let hops = 0;
  for (const step of steps) {
    if (step.op < schedule.count) work[kindOf(schedule.codes[step.op], schedule.chunks)] += step.to - step.from;
    else copies[copyOf(schedule, step.op).kind] += step.to - step.from;
    flight += step.flight;
    gap += step.gap;
    if (step.way === "message" || step.way === "barrier") hops++;
  }
  return { work, copies, flight, gap, hops };
}
