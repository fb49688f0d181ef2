// Activations held by each rank: chunks in flight, and in units of one micro-batch's activations on a device.
// A chunk's activation is taken when its F starts and given back when its W (or full B) ends; inside a pair the F
// takes before the B gives back. Ops of a rank run one at a time, so peaks need no times.

import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, kindOf } from "./ops.js";

/** @import {Schedule, Times} from "./types.js" */

/** What each kind takes at its start: a forward what it keeps, a backward the rest, by recomputing.
 * @param {number} kept the part of an activation that is held until the backward */
function takes(kept) {
  const take = new Float64Array(5);
  take[KIND_F] = kept;
  take[KIND_I] = take[KIND_B] = 1 - kept;
  take[KIND_PAIR] = 1;
  return take;
}

/** What each kind gives back at its end. @param {number} wShare the part of an activation that W still needs after I */
function backs(wShare) {
  const back = new Float64Array(5);
  back[KIND_I] = 1 - wShare;
  back[KIND_W] = wShare;
  back[KIND_B] = back[KIND_PAIR] = 1;
  return back;
}

/** @param {Schedule} schedule @param {Float64Array} take by kind @param {Float64Array} back by kind
 * @returns {Float64Array} highest level of each rank */
function peaks(schedule, take, back) {
  const { p, chunks, codes, offsets } = schedule;
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOf(code, chunks));
  const top = new Float64Array(p);
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
 * @param {Schedule} schedule @param {number} wShare @param {number} [v]
 * @param {number} [kept] the part of an activation that is held until the backward
 */
export const peakMemory = (schedule, wShare, v = schedule.v, kept = 1) => peaks(schedule, takes(kept), backs(wShare)).map((x) => x / v);

/**
 * One rank's memory over time as steps: level y[k] holds from t[k] on, 0 before t[0]. Stops at the first op that has
 * not run yet.
 * @param {Schedule} schedule @param {Times} times @param {number} rank @param {number} wShare @param {number} [kept]
 * @returns {{t: Float64Array, y: Float64Array}}
 */
export function curve(schedule, times, rank, wShare, kept = 1) {
  const { chunks, codes, offsets, v } = schedule;
  const take = takes(kept);
  const back = backs(wShare);
  const from = offsets[rank];
  const most = 2 * (offsets[rank + 1] - from);
  const t = new Float64Array(most);
  const y = new Float64Array(most);
  let size = 0;
  let level = 0;
  /** @param {number} when @param {number} change */
  const step = (when, change) => {
    if (change === 0) return;
    level += change;
    t[size] = when;
    y[size++] = level / v;
  };
  for (let i = from; i < offsets[rank + 1] && times.end[i] < Infinity; i++) {
    const kind = kindOf(codes[i], chunks);
    step(times.start[i], take[kind]);
    step(times.end[i], -back[kind]);
  }
  return { t: t.subarray(0, size), y: y.subarray(0, size) };
}
