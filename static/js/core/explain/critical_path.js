// The critical path: the chain of ops, messages and waits that decides when the last op ends, back to time 0.
//
// From an op the chain goes back to what it waited for last: its rank's previous op, a value from another op (and,
// between ranks, its message), all ranks' part in a barrier, or a copy. Of several that were there at the same moment
// the rank's own previous op counts first, then the value that is named first (dependencies.js), so that a path is
// the same every time. Where an op began later than all it needs was there (in a measured run), the time between is a
// gap of its own rank.

import { OFFLOAD, copyOf } from "../schedule/copies.js";
import { sources } from "../schedule/dependencies.js";
import { KIND_T, kindOf, rankOf, rowsOf } from "../schedule/ops.js";

/** @import {Costs, Schedule, Times} from "../schedule/types.js" */
/**
 * @typedef {"rank"|"message"|"barrier"|"data"|"lane"|"issue"} Way by what an op is held: its rank's previous op, a
 *   message from another rank, a barrier, another op of its own rank, its copy lane's previous copy, the op at which it
 *   is issued
 */
/**
 * @typedef {{i: number, lag: number, way: Way}} Before op i must have ended, and lag passed, before an op can start
 */
/** @typedef {{op: number, from: number, to: number, flight: number, gap: number, way: Way | null}} Step
 *   one op of the chain, which runs from .. to; before it came a message in flight and a gap, and way is its cause
 *   (null for the first) */
/**
 * @typedef {{steps: Step[], length: number, work: Float64Array, copies: Float64Array, flight: number, gap: number,
 *   hops: number}} Path steps in order of time; work by kind of op, copies by kind of copy; hops: messages and barriers
 */

/**
 * All that an op or a copy waits for.
 * @param {Schedule} schedule @param {Costs} costs @param {number} i flat index @returns {Before[]}
 */
export function before(schedule, costs, i) {
  const rank = rankOf(schedule, i);
  const first = i === rowsOf(schedule, i)[rank];
  /** @type {Before[]} */
  const own = first ? [] : [{ i: i - 1, lag: 0, way: i < schedule.count ? "rank" : "lane" }];
  if (i >= schedule.count) return [...own, ...issuer(schedule, rank, i)];
  return [
    ...own,
    ...sources(schedule, i).map((link) => {
      const way = link.cargo === "barrier" ? "barrier" : link.hops ? "message" : "data";
      return { i: link.i, lag: link.hops ? costs.comm : 0, way: /** @type {Way} */ (way) };
    }),
  ];
}

/**
 * The op after which a copy is issued.
 * @param {Schedule} schedule
 * @param {number} rank
 * @param {number} i
 * @returns {Before[]}
 */
function issuer({ copies, count, offsets }, rank, i) {
  const issued = copies ? copies.issued[i - count] : 0;
  return issued > 0 ? [{ i: offsets[rank] + issued - 1, lag: 0, way: "issue" }] : [];
}

/** What an op waited for last, and when it was there; null for what waits for nothing. @param {Schedule} schedule
 * @param {Times} times @param {Costs} costs @param {number} i @returns {{found: Before, there: number} | null} */
function last(schedule, times, costs, i) {
  const { start, end } = times;
  // Most ops of a full rank follow their neighbour at once: no need to look further.
  if (i < schedule.count && i > rowsOf(schedule, i)[rankOf(schedule, i)] && end[i - 1] === start[i]) {
    return { found: { i: i - 1, lag: 0, way: "rank" }, there: end[i - 1] };
  }
  let best = null;
  for (const found of before(schedule, costs, i)) {
    // A measured message can be faster than the planned one: it was there when its op began.
    const there = Math.min(end[found.i] + found.lag, start[i]);
    if (!best || there > best.there) best = { found, there };
  }
  return best;
}

/**
 * The op that ends last, on the lowest rank; -1 where none has ended.
 * @param {Schedule} schedule
 * @param {Times} times
 */
function ender({ p, offsets }, { end }) {
  let found = -1;
  for (let r = 0; r < p; r++) {
    let i = offsets[r + 1] - 1;
    while (i >= offsets[r] && !Number.isFinite(end[i])) i--; // of a live run: not reported yet
    if (i >= offsets[r] && (found < 0 || end[i] > end[found])) found = i;
  }
  return found;
}

/** @type {WeakMap<Times, Path>} */
const cache = new WeakMap();

/** @param {Schedule} schedule @param {Times} times @param {Costs} costs @returns {Path} */
export function criticalPath(schedule, times, costs) {
  let path = cache.get(times);
  if (!path) cache.set(times, (path = walk(schedule, times, costs)));
  return path;
}

/** @param {Schedule} schedule @param {Times} times @param {Costs} costs @returns {Path} */
function walk(schedule, times, costs) {
  const { start, end } = times;
  /** @type {Step[]} */
  const steps = [];
  let i = ender(schedule, times);
  const length = i < 0 ? 0 : end[i];
  let to = length;
  while (i >= 0) {
    const held = last(schedule, times, costs, i);
    const from = Math.min(start[i], to); // clocks of two ranks may differ by a little
    const given = held ? Math.min(end[held.found.i], from) : 0;
    const there = held ? Math.min(held.there, from) : 0;
    steps.push({ op: i, from, to, flight: there - given, gap: from - there, way: held ? held.found.way : null });
    to = given;
    i = held ? held.found.i : -1;
  }
  return { steps: steps.reverse(), length, ...totals(schedule, steps) };
}

/** @param {Schedule} schedule @param {Step[]} steps */
function totals(schedule, steps) {
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
