// Why an op starts when it does and why a rank is idle, in plain English. Works for planned and for measured times.

import { firstEndingAfter } from "./layout.js";
import { sources, targets } from "./links.js";
import { opText, rankOf, refOf, rowsOf } from "./ops.js";
import { formatNumber as num } from "./scale.js";

/** @import {Costs, OpRef, Schedule, Times} from "./types.js" */
/** @import {Link} from "./links.js" */
/** @typedef {{ref: OpRef, text: string, arrives: number, reason: string, kind: "data"|"order"}} Relation
 *   arrives: when the value (or the free rank) is there; kind "order" is the rank's own previous or next op */
/** @typedef {"fill"|"wait"|"overhead"|"drain"|"pending"} IdleKind */
/** @typedef {{from: number, to: number, sentence: string, awaits: OpRef|null, kind: IdleKind, arrives: number|null}} Idle */

/** @type {Record<Link["cargo"], string>} */
const CARGO = { activation: "output", gradient: "gradient", loss: "loss", own: "input gradient", barrier: "part in the barrier", copy: "copy" };

/** @param {number} end @param {Link} link @param {Costs} costs */
const arrival = (end, link, costs) => (link.hops ? end + costs.comm : end);

/** "ends at 6 and arrives at 7 after a hop of 1". @param {number} end @param {Link} link @param {Costs} costs
 * @param {number} [by] when the value was there at the latest: a measured hop can be shorter than the planned one */
function travel(end, link, costs, by = Infinity) {
  if (end === Infinity) return "has not ended yet";
  if (!link.hops || costs.comm === 0) return `ends at ${num(end)}`;
  if (end + costs.comm > by) return `ends at ${num(end)} and arrives by ${num(by)}`;
  return `ends at ${num(end)} and arrives at ${num(end + costs.comm)} after a hop of ${num(costs.comm)}`;
}

/**
 * What an op needs before it can start: the values from other ops, and its rank's previous op.
 * @param {Schedule} schedule @param {Times} times @param {Costs} costs @param {OpRef} op
 * @returns {Relation[]}
 */
export function needs(schedule, times, costs, op) {
  /** @type {Relation[]} */
  const out = sources(schedule, op.i).map((link) => {
    const ref = refOf(schedule, link.i);
    const text = opText(schedule, link.i);
    const reason = `needs the ${CARGO[link.cargo]} of ${link.giver} on rank ${ref.rank}, which ${travel(times.end[link.i], link, costs)}`;
    return { ref, text, arrives: arrival(times.end[link.i], link, costs), reason, kind: "data" };
  });
  if (op.index > 0 && op.i < schedule.count) {
    const ref = { rank: op.rank, index: op.index - 1, i: op.i - 1 };
    const text = opText(schedule, ref.i);
    const end = times.end[ref.i];
    const until = end === Infinity ? "which has not ended yet" : `which ends at ${num(end)}`;
    out.push({ ref, text, arrives: end, reason: `comes after ${text} in its rank's order, ${until}`, kind: "order" });
  }
  return out;
}

/**
 * What an op lets start: the ops that need its values, and its rank's next op.
 * @param {Schedule} schedule @param {Times} times @param {Costs} costs @param {OpRef} op
 * @returns {Relation[]}
 */
export function unblocks(schedule, times, costs, op) {
  const end = times.end[op.i];
  /** @type {Relation[]} */
  const out = targets(schedule, op.i).map((link) => {
    const ref = refOf(schedule, link.i);
    const arrives = arrival(end, link, costs);
    const when = end === Infinity ? "" : `, there at ${num(arrives)}`;
    return { ref, text: opText(schedule, link.i), arrives, reason: `takes its ${CARGO[link.cargo]}${when}`, kind: "data" };
  });
  if (op.i + 1 < schedule.offsets[op.rank + 1] && op.i < schedule.count) {
    const ref = { rank: op.rank, index: op.index + 1, i: op.i + 1 };
    out.push({ ref, text: opText(schedule, ref.i), arrives: end, reason: "is next in the rank's order", kind: "order" });
  }
  return out;
}

/** The source that arrives last. @param {Schedule} schedule @param {Times} times @param {Costs} costs @param {number} i
 * @returns {{link: Link, arrives: number}|null} */
function binding(schedule, times, costs, i) {
  let last = null;
  for (const link of sources(schedule, i)) {
    const arrives = arrival(times.end[link.i], link, costs);
    if (last === null || arrives > last.arrives) last = { link, arrives };
  }
  return last;
}

/**
 * Why a rank is idle at time t; null when it is busy then, or when t lies outside the timeline.
 * @param {Schedule} schedule @param {Times} times @param {Costs} costs @param {number} rank @param {number} t
 * @returns {Idle|null}
 */
export function whyIdle(schedule, times, costs, rank, t) {
  if (t < 0 || t > times.makespan) return null;
  const i = firstEndingAfter(schedule, times, rank, t);
  const lo = schedule.offsets[rank];
  const hi = schedule.offsets[rank + 1];
  if (i < hi && times.start[i] <= t) return null;
  const from = i > lo ? times.end[i - 1] : 0;
  if (i === hi) return from < times.makespan ? drain(rank, from, times.makespan, hi > lo) : null;
  if (times.start[i] === Infinity) return pending(schedule, times, rank, i, from);
  return wait(schedule, times, costs, rank, i, from);
}

/** @param {number} rank @param {number} from @param {number} to @param {boolean} worked @returns {Idle} */
function drain(rank, from, to, worked) {
  const why = worked ? "drain: no work is left for it in this step" : "it has no work in this step";
  return { from, to, awaits: null, kind: "drain", arrives: null,
    sentence: `Rank ${rank} is idle from ${num(from)} to ${num(to)}: ${why}.` };
}

/** A gap before an op of a live run that has not been reported. @param {Schedule} schedule @param {Times} times
 * @param {number} rank @param {number} i @param {number} from @returns {Idle} */
function pending(schedule, times, rank, i, from) {
  const open = sources(schedule, i).find((link) => times.end[link.i] === Infinity);
  const next = opText(schedule, i);
  const why = open
    ? `its next op ${next} waits for ${open.giver} on rank ${rankOf(schedule, open.i)}, which has not ended yet`
    : `its next op ${next} has what it needs and has not been reported yet`;
  return { from, to: times.makespan, kind: "pending", arrives: null, awaits: open ? refOf(schedule, open.i) : null,
    sentence: `Rank ${rank} has been idle since ${num(from)}: ${why}.` };
}

/** @param {Schedule} schedule @param {Times} times @param {Costs} costs @param {number} rank @param {number} i
 * @param {number} from @returns {Idle} */
function wait(schedule, times, costs, rank, i, from) {
  const to = times.start[i];
  const filling = i === schedule.offsets[rank];
  const head = `Rank ${rank} is idle from ${num(from)} to ${num(to)}: ${filling ? "fill: " : ""}`;
  const last = binding(schedule, times, costs, i);
  const tolerance = 1e-9 * Math.max(1, times.makespan);
  const op = opText(schedule, i);
  if (last === null || last.arrives <= from + tolerance) {
    const sentence = `${head}the input of ${op} was there ${last ? `at ${num(last.arrives)}` : "from the beginning"}: overhead of ${num(to - from)}.`;
    return { from, to, sentence, awaits: null, kind: "overhead", arrives: last ? last.arrives : null };
  }
  const { link, arrives } = last;
  let sentence = `${head}${awaited(schedule, link, filling)}, which ${travel(times.end[link.i], link, costs, to)}.`;
  if (to - arrives > tolerance) sentence += ` The input was there at ${num(arrives)}: overhead of ${num(to - arrives)}.`;
  else sentence += deeper(schedule, times, costs, link.i, from, tolerance);
  return { from, to, sentence, awaits: refOf(schedule, link.i), kind: filling ? "fill" : "wait", arrives: Math.min(arrives, to) };
}

/** What an idle rank waits for. @param {Schedule} schedule @param {Link} link @param {boolean} filling */
function awaited(schedule, link, filling) {
  const rank = rankOf(schedule, link.i);
  if (link.cargo === "barrier") return `${link.taker} waits for the barrier, to which ${link.giver} on rank ${rank} comes last`;
  if (link.cargo === "copy") return `${link.taker} waits for its activation to come back: the copy lane does ${link.giver}`;
  const value = `${link.taker}'s ${link.cargo === "activation" ? "input" : "gradient"}`;
  const waits = filling ? `it waits for the first micro-batch. ${value} is` : `it waits for ${value},`;
  return `${waits} the output of ${link.giver} on rank ${rank}`;
}

/** What held the awaited op back, when it started only after the gap began. @param {Schedule} schedule
 * @param {Times} times @param {Costs} costs @param {number} i @param {number} from @param {number} tolerance */
function deeper(schedule, times, costs, i, from, tolerance) {
  const start = times.start[i];
  if (start <= from + tolerance) return "";
  const rank = rankOf(schedule, i);
  const last = binding(schedule, times, costs, i);
  const free = i > rowsOf(schedule, i)[rank] ? times.end[i - 1] : 0;
  const text = opText(schedule, i);
  if (last !== null && last.arrives > free + tolerance) {
    const source = `${last.link.giver} on rank ${rankOf(schedule, last.link.i)}`;
    return ` ${text} itself waits for ${source}, which ${travel(times.end[last.link.i], last.link, costs)}.`;
  }
  if (free <= from + tolerance) return "";
  const who = i < schedule.count ? `Rank ${rank}` : "The copy lane";
  return ` ${who} is busy with ${opText(schedule, i - 1)} until ${num(free)} before that.`;
}
