// Which copies the lanes beside compute do, and when: the same plan as backend/schedule/options/offload.py, op by op.
// The sums are in the same order and ties go to the same side.

import { KIND_B, KIND_F, KIND_I, chunkOf, kindOf, shareMicros } from "../schedule/ops.js";
import { OFFLOAD, RELOAD } from "../schedule/copies.js";
import { argsort, argsortWhole } from "./argsort.js";
import { createReplay } from "./replay.js";

/** @import {Copies, Costs, Schedule} from "../schedule/types.js" */
/** @typedef {ReturnType<typeof createReplay>} Replay */

const ROUNDS = 6; // of planning; usually no gain after three or four

/**
 * The schedule with its copies; without any if no activations live long enough to be copied. Copies are planned on the
 * times of the order without them; if compute then has to wait, they are planned again on the times with them, as long
 * as that helps.
 * @param {Schedule} schedule without copies @param {Costs} costs effective ones @param {string} mode of offload
 * @returns {Schedule}
 */
export function withOffload(schedule, costs, mode) {
  const { p, n, chunks, offsets } = schedule;
  const replay = createReplay(schedule, costs);
  const some = mode === "selective" ? (chunks + 1) >> 1 : chunks;
  const free = replay.run(null);
  const lanes = Array.from({ length: p }, (_, r) =>
    laneOf(schedule, replay, r, replay.copyTook.subarray(r * chunks, r * chunks + some)),
  );
  const most = Math.max(...lanes.map((lane) => lane.chunks.length));
  if (most === 0) return shareMicros(schedule, { ...schedule, base: false });
  const room = roomFor(n * most, offsets);
  let least = Infinity;
  let best = null;
  for (let round = 0; round < ROUNDS; round++) {
    const copies = planAll(schedule, lanes, replay, room);
    const makespan = replay.run(copies);
    if (makespan < least) {
      least = makespan;
      best = copies;
    }
    if (makespan <= free) break;
  }
  return shareMicros(schedule, { ...schedule, base: false, copies: best });
}

/**
 * The copies of a rank: its chunks that live long enough, the time of one copy of each, and the flat indices of their
 * forwards and backwards, by position among the chunks * n + micro-batch.
 * @typedef {{rank: number, chunks: Int32Array, copy: Float64Array, forwards: Int32Array, backwards: Int32Array}} Lane
 */

/** @param {Schedule} schedule @param {Replay} times @param {number} rank @param {Float64Array} copy the time of one, of
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

/**
 * Arrays that each lane's plan is made in, one lane after the other. By cell, chunk * n + micro-batch: release (when an
 * offload can start), deadline (of a reload), late (the deadline negated), due (a reload's latest start), home (when a
 * reload is issued), order and spare. By copy in the sequence that the lane does them: kind, which (chunk of the lane),
 * cell, starts, when (it is issued) and turn, their order by that. ended: by compute ops of a rank.
 * @typedef {ReturnType<typeof roomFor>} Room
 */

/** @param {number} cells @param {Int32Array} offsets of the ranks' ops */
function roomFor(cells, offsets) {
  const most = offsets.reduce((longest, offset, r) => (r ? Math.max(longest, offset - offsets[r - 1]) : 0), 0);
  const floats = () => new Float64Array(cells);
  const whole = (/** @type {number} */ length) => new Int32Array(length);
  return {
    ...{ release: floats(), deadline: floats(), late: floats(), due: floats() },
    ...{ home: whole(cells), order: whole(cells), spare: whole(cells) },
    ...{
      kind: new Uint8Array(2 * cells),
      which: new Uint8Array(2 * cells),
      cell: whole(2 * cells),
      starts: new Float64Array(2 * cells),
    },
    ...{ when: whole(2 * cells), turn: whole(2 * cells), ended: whole(most + 2) },
  };
}

/** The copies of all lanes, planned for compute at these times. @param {Schedule} schedule @param {Lane[]} lanes
 * @param {Replay} replay with the times; gets the reload of each backward @param {Room} room @returns {Copies} */
function planAll(schedule, lanes, replay, room) {
  const { count, n, p } = schedule;
  const offsets = new Int32Array(p + 1).fill(count);
  lanes.forEach((lane, r) => (offsets[r + 1] = offsets[r] + 2 * n * lane.chunks.length));
  const copies = offsets[p] - count;
  const codes = new Uint8Array(copies);
  const issued = new Int32Array(copies);
  for (const lane of lanes) fillPlan(schedule, lane, replay, room, codes, issued, offsets[lane.rank]);
  return { codes, offsets, issued, count: copies };
}

/**
 * Fills in the codes of a lane's copies, when each is issued, and which of them a backward waits for, for compute at
 * these times.
 * @param {Schedule} schedule @param {Lane} lane @param {Replay} replay @param {Room} room @param {Uint8Array} codes
 * @param {Int32Array} issued @param {number} from the flat index of the lane's first copy
 */
function fillPlan({ chunks, n, count, offsets }, lane, { start, end, reload }, room, codes, issued, from) {
  const { forwards, backwards, rank } = lane;
  const { release, deadline, home, kind, cell, which, starts, when, turn, ended } = room;
  const cells = backwards.length;
  let backward = Infinity;
  for (let x = 0; x < cells; x++) backward = Math.min(backward, end[backwards[x]] - start[backwards[x]]);
  for (let x = 0; x < cells; x++) {
    release[x] = end[forwards[x]];
    deadline[x] = start[backwards[x]] - backward;
  }
  planLane(lane, n, room);
  // A reload is issued before its backward at the latest, and its offload before it.
  const [first, last] = [offsets[rank], offsets[rank + 1]];
  let done = first; // the first op that has not ended when a copy starts; the starts ascend
  for (let x = 0; x < 2 * cells; x++) {
    while (done < last && end[done] <= starts[x]) done++;
    when[x] = Math.min(done, backwards[cell[x]]) - first;
    if (kind[x] === RELOAD) home[cell[x]] = when[x];
  }
  for (let x = 0; x < 2 * cells; x++) when[x] = Math.min(when[x], home[cell[x]]);
  argsortWhole(when, 2 * cells, turn, ended);
  for (let at = 0; at < 2 * cells; at++) {
    const x = turn[at];
    codes[from - count + at] = kind[x] * chunks + lane.chunks[which[x]];
    issued[from - count + at] = when[x];
    if (kind[x] === RELOAD) reload[backwards[cell[x]]] = from + at;
  }
}

/**
 * Plans one copy lane along the time axis. Next comes a reload that must start now to meet its deadline; else an
 * offload that is possible since its release and ends before that; else the next reload, a little early. Fills in the
 * sequence.
 * @param {Lane} lane @param {number} n @param {Room} room
 */
function planLane({ copy }, n, room) {
  const { release, due, kind, cell, which, starts } = room;
  const chunks = copy.length;
  findLatestStarts(copy, n, room);
  // By chunk: the cells of its next offload and its next reload, when the one can start, and the other has to.
  const gone = Int32Array.from(copy, (_, c) => c * n);
  const back = gone.slice();
  const possible = Float64Array.from(gone, (x) => release[x]);
  const needed = new Float64Array(chunks).fill(Infinity);
  let now = 0;
  for (let at = 0; at < 2 * n * chunks; at++) {
    let out = -1;
    let home = -1;
    let begin = Infinity;
    let wanted = Infinity;
    for (let c = 0; c < chunks; c++) {
      if (possible[c] < begin) {
        out = c;
        begin = possible[c];
      }
      if (needed[c] < wanted) {
        home = c;
        wanted = needed[c];
      }
    }
    if (begin < now) begin = now;
    if (wanted < now) wanted = now;
    if (home < 0 || (out >= 0 && begin + copy[out] <= wanted)) {
      kind[at] = OFFLOAD;
      which[at] = out;
      cell[at] = gone[out]++;
      possible[out] = gone[out] < (out + 1) * n ? release[gone[out]] : Infinity;
      needed[out] = due[back[out]];
      now = begin + copy[out];
    } else {
      // early only if the lane would otherwise be taken by what goes out
      if (wanted < begin) begin = wanted;
      kind[at] = RELOAD;
      which[at] = home;
      cell[at] = back[home]++;
      needed[home] = back[home] < gone[home] ? due[back[home]] : Infinity;
      now = begin + copy[home];
    }
    starts[at] = begin;
  }
}

/** Finds the latest start of each reload if the lane had only reloads, from the last deadline to the first.
 * @param {Float64Array} copy @param {number} n @param {Room} room */
function findLatestStarts(copy, n, { deadline, late, due, order, spare }) {
  const cells = copy.length * n;
  for (let x = 0; x < cells; x++) late[x] = -deadline[x];
  const latestFirst = argsort(late, cells, order, spare);
  let bound = Infinity;
  for (let at = 0; at < cells; at++) {
    const x = latestFirst[at];
    bound = Math.min(bound, deadline[x]) - copy[Math.floor(x / n)];
    due[x] = bound;
  }
}
