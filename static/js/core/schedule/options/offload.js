// Which copies the lanes beside compute do, and when: the same plan as backend/schedule/options/offload.py, op by op.
// The sums are in the same order and ties go to the same side.

import { KIND_B, KIND_F, KIND_I, chunkOf, kindOf, shareMicros } from "../ops.js";
import { OFFLOAD, RELOAD } from "../copies.js";
import { share, simulate } from "../simulate.js";
import { argsort } from "./argsort.js";

/** @import {Costs, Schedule, Times} from "../types.js" */

const ROUNDS = 6; // of planning; usually no gain after three or four

/**
 * The schedule with its copies; the same one if no activations live long enough to be copied. Copies are planned on the
 * times of the order without them; if compute then has to wait, they are planned again on the times with them, as long
 * as that helps.
 * @param {Schedule} schedule without copies @param {Costs} costs effective ones @param {string} mode of offload
 * @returns {Schedule}
 */
export function withOffload(schedule, costs, mode) {
  const { p, v, chunks, placement } = schedule;
  const copy = Float64Array.from(placement.stage, (stage) => share(costs.O ?? 0, stage, v));
  const some = mode === "selective" ? (chunks + 1) >> 1 : chunks;
  let times = simulate(schedule, costs);
  const lanes = Array.from({ length: p }, (_, r) =>
    laneOf(schedule, times, r, copy.subarray(r * chunks, r * chunks + some)),
  );
  if (lanes.every((lane) => lane.chunks.length === 0)) return schedule;
  const free = times.makespan;
  let least = Infinity;
  let best = schedule;
  for (let round = 0; round < ROUNDS; round++) {
    const built = withPlans(schedule, lanes, times);
    times = simulate(built, costs, times);
    if (times.makespan < least) {
      least = times.makespan;
      best = built;
    }
    if (times.makespan <= free) break;
  }
  return best;
}

/**
 * The copies of a rank: its chunks that live long enough, the time of one copy of each, and the flat indices of their
 * forwards and backwards, by position among the chunks * n + micro-batch.
 * @typedef {{rank: number, chunks: Int32Array, copy: Float64Array, forwards: Int32Array, backwards: Int32Array}} Lane
 */

/** @param {Schedule} schedule @param {Times} times @param {number} rank @param {Float64Array} copy the time of one, of
 * each of the rank's first chunks, which may be copied @returns {Lane} */
function laneOf(schedule, { start, end }, rank, copy) {
  const { chunks, codes, n, offsets } = schedule;
  const forwards = new Int32Array(copy.length * n);
  const backwards = new Int32Array(copy.length * n);
  const counts = new Int32Array(2 * chunks); // forwards and backwards so far, by chunk
  let shortest = Infinity;
  for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
    const kind = kindOf(codes[i], chunks);
    const c = chunkOf(codes[i], chunks);
    const gradient = kind === KIND_I || kind === KIND_B;
    if (gradient) shortest = Math.min(shortest, end[i] - start[i]);
    if (c >= copy.length) continue;
    if (kind === KIND_F) forwards[c * n + counts[c]++] = i;
    else if (gradient) backwards[c * n + counts[chunks + c]++] = i;
  }
  const some = Int32Array.from(copy.keys()).filter((c) => {
    let lives = Infinity;
    for (let x = c * n; x < (c + 1) * n; x++) lives = Math.min(lives, start[backwards[x]] - end[forwards[x]]);
    return lives >= 2 * copy[c] + shortest;
  });
  return {
    rank,
    chunks: some,
    copy: Float64Array.from(some, (c) => copy[c]),
    forwards: only(forwards, some, n),
    backwards: only(backwards, some, n),
  };
}

/** The rows of some chunks. @param {Int32Array} rows @param {Int32Array} some @param {number} n */
function only(rows, some, n) {
  const out = new Int32Array(some.length * n);
  some.forEach((c, at) => out.set(rows.subarray(c * n, (c + 1) * n), at * n));
  return out;
}

/** The schedule with copies planned for compute at these times. @param {Schedule} schedule @param {Lane[]} lanes
 * @param {Times} times @returns {Schedule} */
function withPlans(schedule, lanes, times) {
  const { count, n, p } = schedule;
  const offsets = new Int32Array(p + 1).fill(count);
  lanes.forEach((lane, r) => (offsets[r + 1] = offsets[r] + 2 * n * lane.chunks.length));
  const copies = offsets[p] - count;
  const codes = new Uint8Array(copies);
  const issued = new Int32Array(copies);
  lanes.forEach((lane, r) => {
    const [from, to] = [offsets[r] - count, offsets[r + 1] - count];
    if (to > from) fillPlan(schedule, lane, times, codes.subarray(from, to), issued.subarray(from, to));
  });
  return shareMicros(schedule, { ...schedule, copies: { codes, offsets, issued, count: copies } });
}

/** Fills in the codes of a lane's copies and when each is issued, for compute at these times. @param {Schedule} schedule
 * @param {Lane} lane @param {Times} times @param {Uint8Array} codes @param {Int32Array} issued */
function fillPlan({ chunks, n, offsets }, lane, { start, end }, codes, issued) {
  const { forwards, backwards, rank } = lane;
  const count = lane.chunks.length;
  let backward = Infinity;
  for (const i of backwards) backward = Math.min(backward, end[i] - start[i]);
  const deadline = Float64Array.from(backwards, (i) => start[i] - backward);
  const release = Float64Array.from(forwards, (i) => end[i]);
  const { which, micro, starts } = planLane(release, deadline, lane.copy, n);
  // A reload is issued before its backward at the latest, and its offload before it.
  const when = new Int32Array(codes.length);
  const home = new Int32Array(count * n);
  let done = offsets[rank]; // the first op that has not ended when a copy starts; the starts ascend
  for (let x = 0; x < codes.length; x++) {
    while (done < offsets[rank + 1] && end[done] <= starts[x]) done++;
    const at = (which[x] % count) * n + micro[x];
    when[x] = Math.min(done, backwards[at]) - offsets[rank];
    if (which[x] >= count) home[at] = when[x];
  }
  for (let x = 0; x < codes.length; x++) when[x] = Math.min(when[x], home[(which[x] % count) * n + micro[x]]);
  argsort(when).forEach((x, at) => {
    codes[at] = (which[x] >= count ? RELOAD : OFFLOAD) * chunks + lane.chunks[which[x] % count];
    issued[at] = when[x];
  });
}

/**
 * Plans one copy lane along the time axis. Next comes a reload that must start now to meet its deadline; else an offload
 * that is possible since its release and ends before that; else the next reload, a little early. Returns the sequence:
 * which chunk (chunks + chunk for a reload), the micro-batch, and the start.
 * @param {Float64Array} release by chunk * n + micro-batch @param {Float64Array} deadline alike
 * @param {Float64Array} copy by chunk @param {number} n
 */
function planLane(release, deadline, copy, n) {
  const chunks = copy.length;
  const which = new Int32Array(2 * n * chunks);
  const micro = new Int32Array(2 * n * chunks);
  const starts = new Float64Array(2 * n * chunks);
  const due = latestStarts(deadline, copy, n);
  const gone = new Int32Array(chunks);
  const back = new Int32Array(chunks);
  let now = 0;
  for (let at = 0; at < which.length; at++) {
    let out = -1;
    let home = -1;
    for (let c = 0; c < chunks; c++) {
      if (gone[c] < n && (out < 0 || release[c * n + gone[c]] < release[out * n + gone[out]])) out = c;
      if (back[c] < gone[c] && (home < 0 || due[c * n + back[c]] < due[home * n + back[home]])) home = c;
    }
    let begin = out >= 0 ? Math.max(now, release[out * n + gone[out]]) : Infinity;
    const wanted = home >= 0 ? Math.max(now, due[home * n + back[home]]) : Infinity;
    if (home < 0 || (out >= 0 && begin + copy[out] <= wanted)) {
      which[at] = out;
      micro[at] = gone[out]++;
      now = begin + copy[out];
    } else {
      // early only if the lane would otherwise be taken by what goes out
      begin = begin >= wanted ? wanted : Math.max(now, Math.min(begin, wanted));
      which[at] = chunks + home;
      micro[at] = back[home]++;
      now = begin + copy[home];
    }
    starts[at] = begin;
  }
  return { which, micro, starts };
}

/** The latest start of each reload if the lane had only reloads, from the last deadline to the first.
 * @param {Float64Array} deadline @param {Float64Array} copy @param {number} n */
function latestStarts(deadline, copy, n) {
  const due = new Float64Array(deadline.length);
  let bound = Infinity;
  for (const x of argsort(deadline.map((time) => -time))) {
    const c = Math.floor(x / n);
    bound = Math.min(bound, deadline[x]) - copy[c];
    due[x] = bound;
  }
  return due;
}
