// Which copies the lanes beside compute do, and when: the same plan as backend/schedule/options/offload.py, op by op.
// The sums are in the same order and ties go to the same side.

import { memoized } from "../memoized.ts";
import { KIND_B, KIND_F, KIND_I, chunkOf, kindOf, shareMicros } from "../schedule/ops.ts";
import { OFFLOAD, RELOAD } from "../schedule/copies.ts";
import { offloadOfChunks } from "../schedule/per_chunk.ts";
import { argsort, argsortWhole } from "./argsort.ts";
import { createReplay } from "./replay.ts";
import type { Copies, Costs, Modes, Schedule, Times } from "../schedule/types.ts";

const ROUNDS = 6; // of planning, at most
const STRETCH = 3; // of the times for the second round
const LEAST_GAIN = 0.002; // of a round after which another follows
const NEAR = 0.005; // the step without copies, which no plan is shorter than: no other round follows

/**
 * The schedule with its copies, and its times; without any if no activations live long enough to be copied. Copies are
 * planned on the times of the order without them. If compute then has to wait noticeably, they are planned again on
 * those times stretched, which leaves a busy lane time between its copies, and from the better plan on again on its own
 * times, as long as that shortens the step noticeably. Returns null: the times are still to be found.
 */
export function withOffload(
  schedule: Schedule, // without copies
  costs: Costs, // effective ones
  mode: Modes, // of offload
  into?: Times, // its arrays are reused when they are long enough
): { schedule: Schedule; times: Times | null } {
  const { p, n, chunks, count } = schedule;
  const replay = createReplay(schedule, costs);
  const chosen = offloadOfChunks(mode, chunks).flatMap((each, c) => (each === "full" ? [c] : []));
  const [without, first, second] = replay.rooms;
  replay.run(null, without);
  const cells = cellsOf(schedule);
  const lanes = Array.from({ length: p }, (_, r) =>
    laneOf(schedule, cells[r], without, r, chosen, replay.copyTook.subarray(r * chunks, (r + 1) * chunks)),
  );
  const offsets = new Int32Array(p + 1).fill(count);
  lanes.forEach((lane, r) => (offsets[r + 1] = offsets[r] + 2 * n * lane.chunks.length));
  if (offsets[p] === count) return { schedule: shareMicros(schedule, { ...schedule, base: false }), times: null };
  makeRoom(n * chunks, offsets[p] - count, schedule.offsets);
  /** Plan on some times, and find those with the plan. */
  const plan = (times: Times, found: Times) => {
    const copies = copiesOf(replay.rooms.indexOf(found), offsets);
    for (const lane of lanes) fillPlan(schedule, lane, times, replay.reload, copies);
    return replay.run(copies, found);
  };
  let [best, spare] = [first, second];
  const near = (1 + NEAR) * without.makespan;
  if (plan(without, first) > near) {
    stretch(without, count);
    if (plan(without, second) < first.makespan) [best, spare] = [second, first];
    for (let [round, going] = [2, true]; going && best.makespan > near && round < ROUNDS; round++) {
      going = plan(best, spare) <= (1 - LEAST_GAIN) * best.makespan;
      if (spare.makespan < best.makespan) [best, spare] = [spare, best];
    }
  }
  const { codes, issued } = copiesOf(replay.rooms.indexOf(best), offsets);
  const copies = { codes: codes.slice(), issued: issued.slice(), offsets, count: offsets[p] - count };
  const made = shareMicros(schedule, { ...schedule, base: false, copies });
  return { schedule: made, times: copyOf(best, offsets[p], into) };
}

/** count: of its ops. */
function stretch({ start, end }: Times, count: number) {
  for (let i = 0; i < count; i++) {
    start[i] *= STRETCH;
    end[i] *= STRETCH;
  }
}

/** Times of their own. */
function copyOf({ start, end, makespan }: Times, count: number, into?: Times): Times {
  const fits = into !== undefined && into.start.length >= count && into.end.length >= count;
  const own = fits ? into : { start: new Float64Array(count), end: new Float64Array(count) };
  own.start.set(start.subarray(0, count));
  own.end.set(end.subarray(0, count));
  return { start: own.start, end: own.end, makespan };
}

/**
 * The copies of a rank: its chunks that live long enough, the time of one copy of each, and the flat indices of their
 * forwards and backwards, by position among the chunks * n + micro-batch.
 */
type Lane = { rank: number; chunks: Int32Array; copy: Float64Array; forwards: Int32Array; backwards: Int32Array };

/** The flat indices of a rank's forwards and of its backwards, by chunk * n + micro-batch. */
type Cells = { forwards: Int32Array; backwards: Int32Array };
/** The cells of each rank. */
const cellsOf = memoized((schedule: Schedule) => Array.from({ length: schedule.p }, (_, r) => findCells(schedule, r)));

function findCells({ chunks, codes, n, offsets }: Schedule, rank: number): Cells {
  const forwards = new Int32Array(chunks * n);
  const backwards = new Int32Array(chunks * n);
  const counts = new Int32Array(2 * chunks); // forwards and backwards so far, by chunk
  for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
    const kind = kindOf(codes[i], chunks);
    const c = chunkOf(codes[i], chunks);
    if (kind === KIND_F) forwards[c * n + counts[c]++] = i;
    else if (kind === KIND_I || kind === KIND_B) backwards[c * n + counts[chunks + c]++] = i;
  }
  return { forwards, backwards };
}

function laneOf(
  { n }: Schedule,
  { forwards, backwards }: Cells,
  { start, end }: Times,
  rank: number,
  chosen: number[], // the chunks that may be copied
  copy: Float64Array, // the time of one, by chunk
): Lane {
  let shortest = Infinity;
  for (const i of backwards) shortest = Math.min(shortest, end[i] - start[i]);
  const some = Int32Array.from(chosen).filter((c) => {
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

/** The rows of some chunks, ascending. */
function only(rows: Int32Array, some: Int32Array, n: number) {
  if (some.length * n === rows.length) return rows;
  const out = new Int32Array(some.length * n);
  some.forEach((c, at) => out.set(rows.subarray(c * n, (c + 1) * n), at * n));
  return out;
}

/**
 * Arrays that each lane's plan is made in, one lane after the other; they may be longer than it needs. By cell, chunk *
 * n + micro-batch: release (when an offload can start), deadline (of a reload), late (the deadline negated), due (a
 * reload's latest start), order and spare. By copy in the sequence that the lane does them: kind, which (chunk of the
 * lane), cell, starts, when (it is issued) and turn, their order by that. ended: by compute ops of a rank.
 */
let room = roomFor(0, 0);
/** The codes of all copies and when each is issued, beside each room for times. */
const plans = [0, 1, 2].map(() => ({ codes: new Uint8Array(0), issued: new Int32Array(0) }));

/** ops: of a rank. */
function roomFor(cells: number, ops: number) {
  const floats = () => new Float64Array(cells);
  const whole = (length: number) => new Int32Array(length);
  return {
    ...{ release: floats(), deadline: floats(), late: floats(), due: floats() },
    ...{ order: whole(cells), spare: whole(cells) },
    ...{
      kind: new Uint8Array(2 * cells),
      which: new Uint8Array(2 * cells),
      cell: whole(2 * cells),
      starts: new Float64Array(2 * cells),
    },
    ...{ when: whole(2 * cells), turn: whole(2 * cells), ended: whole(ops + 2) },
  };
}

/**
 * Memory for a drag: with new arrays in each frame, a third of the frames waited for it. copies: of all ranks; offsets:
 * of the ranks' ops.
 */
function makeRoom(cells: number, copies: number, offsets: Int32Array) {
  const ops = offsets.reduce((most, offset, r) => (r ? Math.max(most, offset - offsets[r - 1]) : 0), 0);
  if (room.release.length < cells || room.ended.length !== ops + 2) room = roomFor(cells, ops);
  for (const plan of plans) {
    if (plan.codes.length >= copies) continue;
    plan.codes = new Uint8Array(copies);
    plan.issued = new Int32Array(copies);
  }
}

/** The copies whose times are in a room. */
function copiesOf(at: number, offsets: Int32Array): Copies {
  const { codes, issued } = plans[at];
  const count = offsets[offsets.length - 1] - offsets[0];
  return { codes: codes.subarray(0, count), issued: issued.subarray(0, count), offsets, count };
}

/**
 * Fills in the codes of a lane's copies, when each is issued, and which of them a backward waits for, for compute at
 * these times.
 */
function fillPlan(
  { chunks, n, count, offsets }: Schedule,
  lane: Lane,
  { start, end }: Times,
  reload: Int32Array, // of each backward
  copies: Copies,
) {
  const { forwards, backwards, rank } = lane;
  const { release, deadline, kind, cell, which, starts, when, turn, ended } = room;
  const { codes, issued } = copies;
  const from = copies.offsets[rank];
  const cells = backwards.length;
  let backward = Infinity;
  for (let x = 0; x < cells; x++) {
    const begin = start[backwards[x]];
    const took = end[backwards[x]] - begin;
    if (took < backward) backward = took;
    deadline[x] = begin;
    release[x] = end[forwards[x]];
  }
  for (let x = 0; x < cells; x++) deadline[x] -= backward;
  planLane(lane, n);
  // A reload is issued before its backward at the latest, and its offload before it, since that starts earlier.
  const [first, stop] = [offsets[rank], offsets[rank + 1]];
  let done = first; // the first op that has not ended when a copy starts; the starts ascend
  for (let x = 0; x < 2 * cells; x++) {
    while (done < stop && end[done] <= starts[x]) done++;
    const latest = backwards[cell[x]];
    when[x] = (done < latest ? done : latest) - first;
  }
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
 */
function planLane({ copy }: Lane, n: number) {
  const { release, due, kind, cell, which, starts } = room;
  const chunks = copy.length;
  findLatestStarts(copy, n);
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

/** Finds the latest start of each reload if the lane had only reloads, from the last deadline to the first. */
function findLatestStarts(copy: Float64Array, n: number) {
  const { deadline, late, due, order, spare } = room;
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
