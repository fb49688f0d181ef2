// What the pointer or the keyboard is on: an op with what it needs and unblocks, or a bubble with its reason.
import { needs, unblocks, whyIdle } from "./pure/explain.js";
import { opAt } from "./pure/layout.js";
import { refOf } from "./pure/ops.js";

/** @import {Lane} from "./lanes.js" */
/** @import {OpRef} from "./pure/types.js" */
/** @typedef {ReturnType<typeof needs>} Links */
/** @typedef {{lane: Lane, op: OpRef | null, needs: Links, frees: Links,
 *   idle: ReturnType<typeof whyIdle>, rank: number}} Trace */

/** @param {Lane} lane @param {OpRef} op @returns {Trace} */
export function traceOp(lane, op) {
  const { schedule, times, costs } = lane;
  return { lane, op, needs: needs(schedule, times, costs, op), frees: unblocks(schedule, times, costs, op), idle: null,
    rank: op.rank };
}

/** @param {Lane} lane @param {number} rank @param {number} t @returns {Trace | null} */
export function traceAt(lane, rank, t) {
  const i = opAt(lane.schedule, lane.times, rank, t);
  if (i >= 0) return traceOp(lane, refOf(lane.schedule, i));
  if (t < 0 || t > lane.end || lane.live) return null;
  const idle = whyIdle(lane.schedule, lane.times, lane.costs, rank, t);
  return idle && { lane, op: null, needs: [], frees: [], idle, rank };
}

/** The same op or the same bubble? @param {Trace | null} a @param {Trace | null} b */
export function sameTrace(a, b) {
  if (!a || !b) return a === b;
  if (a.lane.times !== b.lane.times || a.lane.id !== b.lane.id || a.rank !== b.rank) return false;
  return a.op ? a.op.i === b.op?.i : !b.op && a.idle?.from === b.idle?.from;
}
