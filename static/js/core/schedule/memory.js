// Activations held by each rank: chunks in flight, and in units of one micro-batch's activations on a device.
// A chunk's activation is taken when its F starts and given back when its W (or full B) ends; inside a pair the F
// takes before the B gives back. Ops of a rank run one at a time, so peaks need no times, but where copies move
// activations to host memory and back. A forward-only schedule keeps nothing.

import { RELOAD } from "./copies.js";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, kindOf } from "./ops.js";
import { RECOMPUTE } from "./spec_tables.js";
import { versions } from "./weight_versions.js";

/** @import {Schedule, Spec, Times} from "./types.js" */
/** @typedef {{wShare: number, v: number, kept: number, weights: number}} Holding
 *   wShare: the part of an activation that W still needs after I; kept: the part that is held until the backward;
 *   weights: what each stashed weight version costs */

const KINDS = 7;

/** How a spec's memory is counted. @param {Spec} spec @returns {Holding} */
export const holding = (spec) => ({
  wShare: spec.w_share,
  v: spec.v,
  kept: RECOMPUTE[spec.recompute].kept,
  weights: spec.weights ?? 0,
});

/** What each kind takes at its start: a forward what it keeps, a backward the rest, by recomputing.
 * @param {number} kept the part of an activation that is held until the backward */
function takes(kept) {
  const take = new Float64Array(KINDS);
  take[KIND_F] = kept;
  take[KIND_I] = take[KIND_B] = 1 - kept;
  take[KIND_PAIR] = 1;
  return take;
}

/** What each kind gives back at its end. @param {number} wShare the part of an activation that W still needs after I */
function backs(wShare) {
  const back = new Float64Array(KINDS);
  back[KIND_I] = 1 - wShare;
  back[KIND_W] = wShare;
  back[KIND_B] = back[KIND_PAIR] = 1;
  return back;
}

/** @type {WeakMap<Schedule, boolean>} */
const forwards = new WeakMap();

/** Whether all ops are forwards: inference. @param {Schedule} schedule */
export function isForwardOnly(schedule) {
  let found = forwards.get(schedule);
  if (found === undefined) {
    const { codes, chunks } = schedule;
    forwards.set(schedule, (found = codes.length > 0 && codes.every((code) => code < chunks)));
  }
  return found;
}

/** @param {Schedule} schedule @param {Float64Array} take by kind @param {Float64Array} back by kind
 * @returns {Float64Array} highest level of each rank */
function peaks(schedule, take, back) {
  const { p, chunks, codes, offsets } = schedule;
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOf(code, chunks));
  const top = new Float64Array(p);
  if (isForwardOnly(schedule)) return top;
  for (let r = 0; r < p; r++) {
    let level = 0;
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kinds[codes[i]];
      level += take[kind];
      if (level > top[r]) top[r] = level;
      level -= back[kind];
    }
  }
  return top;
}

/** The most chunks in flight on each rank; an I gives nothing back. @param {Schedule} schedule */
export const peakInFlight = (schedule) => Int32Array.from(peaks(schedule, takes(1), backs(1)));

/**
 * The most memory of each rank, in units of one micro-batch's activations on a device (1F1B's peak is min(p, m)).
 * @param {Schedule} schedule
 * @param {Times|null} times needed where there are copies or stashed weights
 * @param {Holding} how
 */
export function peakMemory(schedule, times, how) {
  if (times && (schedule.copies || how.weights > 0)) {
    return Float64Array.from({ length: schedule.p }, (_, r) =>
      curve(schedule, times, r, how).y.reduce((a, b) => Math.max(a, b), 0),
    );
  }
  return peaks(schedule, takes(how.kept), backs(how.wShare)).map((x) => x / how.v);
}

/**
 * One rank's memory over time as steps: level y[k] holds from t[k] on, 0 before t[0]. Stops at the first op that has
 * not run yet.
 * @param {Schedule} schedule @param {Times} times @param {number} rank @param {Holding} how
 * @returns {{t: Float64Array, y: Float64Array}}
 */
export function curve(schedule, times, rank, { wShare, v, kept, weights }) {
  const { chunks, codes, offsets } = schedule;
  if (isForwardOnly(schedule)) return { t: new Float64Array(0), y: new Float64Array(0) };
  const take = takes(kept);
  const back = backs(wShare);
  const stashed = weights > 0 ? versions(schedule).stashed : null;
  const from = offsets[rank];
  let to = from;
  while (to < offsets[rank + 1] && times.end[to] < Infinity) to++;
  const copies = copyMoves(schedule, times, rank, kept, from, to);
  const t = new Float64Array(2 * (to - from) + copies.length);
  const y = new Float64Array(t.length);
  let size = 0;
  let level = 0;
  let next = 0;
  /** @param {number} when @param {number} change */
  const step = (when, change) => {
    if (change === 0) return;
    level += change;
    t[size] = when;
    y[size++] = level / v;
  };
  for (let move = 0; move <= 2 * (to - from); move++) {
    for (; next < copies.length && copies[next].among === move; next++) step(copies[next].when, copies[next].change);
    const i = from + (move >> 1);
    if (i === to) break;
    const kind = kindOf(codes[i], chunks);
    if (move % 2 === 0) step(times.start[i], take[kind]);
    else step(times.end[i], (stashed ? weights * v * (stashed[i] - (i > from ? stashed[i - 1] : 0)) : 0) - back[kind]);
  }
  return { t: t.subarray(0, size), y: y.subarray(0, size) };
}

/**
 * The moves of a rank's copies among the 2 * (to - from) of its ops: an offload gives at its end, a reload takes at its
 * start. Of moves at one time an offload's comes first and a reload's last; copies that take no time stand where they
 * are issued. The same as backend/schedule/simulation/memory.py.
 * @param {Schedule} schedule
 * @param {Times} times
 * @param {number} rank
 * @param {number} kept
 * @param {number} from
 * @param {number} to
 * @returns {{among: number, when: number, change: number}[]}
 */
function copyMoves({ copies, chunks, count }, { start, end }, rank, kept, from, to) {
  const out = [];
  for (let i = copies?.offsets[rank] ?? 0; copies && i < copies.offsets[rank + 1]; i++) {
    const reload = ((copies.codes[i - count] / chunks) | 0) === RELOAD;
    const when = reload ? start[i] : end[i];
    if (when === Infinity) continue; // of a live run, not reported yet
    const among = end[i] > start[i] ? place(start, end, from, to, when, reload) : 2 * copies.issued[i - count];
    out.push({ among, when, change: reload ? kept : -kept });
  }
  return out.sort((a, b) => a.among - b.among); // stable: copies of one place stay in their order
}

/**
 * The number of a rank's starts and ends before a time, or up to it.
 * @param {Float64Array} start
 * @param {Float64Array} end
 * @param {number} from
 * @param {number} to
 * @param {number} when
 * @param {boolean} upTo
 */
function place(start, end, from, to, when, upTo) {
  let lo = 0;
  let hi = 2 * (to - from);
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    const time = mid % 2 ? end[from + (mid >> 1)] : start[from + (mid >> 1)];
    if (upTo ? time <= when : time < when) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}
