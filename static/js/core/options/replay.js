// The times of an order over and over, with other costs and other copies: what does not depend on them is found once.
// The sums of core/schedule/simulate.js, which times orders of every kind, for those of F, I, W, B and copies.

import { makers } from "../schedule/dependencies.js";
import { KIND_F, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf, micros } from "../schedule/ops.js";
import { durations, share } from "../schedule/simulate.js";

/** @import {Copies, Costs, Schedule} from "../schedule/types.js" */

/**
 * By position in a sequence in which every op comes after those that it waits for: op, its flat index; rank; source,
 * the flat index of the op on another rank that it waits for, -1 for none; at, its rank and code as a place in a table.
 * @typedef {{op: Int32Array, rank: Int32Array, source: Int32Array, at: Int32Array}} Sequence
 */
/** @type {WeakMap<Schedule, Sequence>} */
const sequences = new WeakMap();

/** @param {Schedule} schedule without S and T @returns {Sequence} */
function sequenceOf(schedule) {
  let found = sequences.get(schedule);
  if (!found) sequences.set(schedule, (found = findSequence(schedule)));
  return found;
}

/** @param {Schedule} schedule @returns {Sequence} */
function findSequence(schedule) {
  const { p, chunks, codes, count, offsets } = schedule;
  const width = codesPerRank(chunks);
  const sources = sourcesOf(schedule);
  const columns = () => new Int32Array(count);
  const found = { op: columns(), rank: columns(), source: columns(), at: columns() };
  const passed = new Uint8Array(count);
  const next = offsets.slice(0, p);
  for (let filled = 0; filled < count;) {
    const before = filled;
    for (let r = 0; r < p; r++) {
      for (; next[r] < offsets[r + 1]; next[r]++) {
        const i = next[r];
        if (sources[i] >= 0 && !passed[sources[i]]) break;
        passed[i] = 1;
        found.op[filled] = i;
        found.rank[filled] = r;
        found.source[filled] = sources[i];
        found.at[filled++] = r * width + codes[i];
      }
    }
    if (filled === before) throw new Error("the order deadlocks");
  }
  return found;
}

/** The op on another rank that each op waits for, -1 for none. @param {Schedule} schedule */
function sourcesOf(schedule) {
  const { p, chunks, codes, count, n, offsets, placement } = schedule;
  const { forward, gradient } = makers(schedule);
  const { first } = micros(schedule);
  const sources = new Int32Array(count).fill(-1);
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      if (kind >= KIND_PAIR) throw new Error("an order with pairs, S or T has no copies");
      if (kind === KIND_W) continue;
      const slot = r * chunks + chunkOf(codes[i], chunks);
      const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
      // what its own rank has made came before it
      if (from >= 0 && Math.floor(from / chunks) !== r)
        sources[i] = (kind === KIND_F ? forward : gradient)[from * n + first[i]];
    }
  }
  return sources;
}

/**
 * Something that times an order again and again. `start` and `end` are by flat index, of copies too; `reload` has the
 * flat index of the copy that each op waits for, -1 for none, and is the caller's to fill in.
 * @param {Schedule} schedule without S and T @param {Costs} costs effective ones
 */
export function createReplay(schedule, costs) {
  const { p, chunks, v, count, offsets, placement } = schedule;
  const sequence = sequenceOf(schedule);
  const took = durations(schedule, costs);
  const copyTook = Float64Array.from(placement.stage, (stage) => share(costs.O ?? 0, stage, v));
  const room = count + 2 * p * chunks * schedule.n;
  const start = new Float64Array(count);
  const end = new Float64Array(room);
  const reload = new Int32Array(count).fill(-1);
  const next = new Int32Array(p);

  /** Time the ops, beside these copies. @param {Copies | null} copies @returns {number} the makespan */
  function run(copies) {
    if (copies) next.set(copies.offsets.subarray(0, p));
    timeOps(sequence, took, costs.comm, offsets, reload, start, end, copies, copyTook, chunks, next, count);
    let makespan = 0;
    for (let r = 0; r < p; r++) if (offsets[r + 1] > offsets[r]) makespan = Math.max(makespan, end[offsets[r + 1] - 1]);
    return makespan;
  }
  return { start, end, reload, copyTook, run };
}

/**
 * Module level and free of closures so that the compiler keeps it in registers.
 * @param {Sequence} sequence @param {Float64Array} took by rank and code @param {number} comm
 * @param {Int32Array} offsets @param {Int32Array} reload @param {Float64Array} start @param {Float64Array} end
 * @param {Copies | null} copies @param {Float64Array} copyTook by slot @param {number} chunks
 * @param {Int32Array} next the next copy of each rank @param {number} count
 */
function timeOps(sequence, took, comm, offsets, reload, start, end, copies, copyTook, chunks, next, count) {
  const { op, rank, source, at } = sequence;
  for (let x = 0; x < count; x++) {
    const i = op[x];
    const r = rank[x];
    const first = offsets[r];
    if (copies) runCopies(copies, r, i - first, first, chunks, copyTook, end, next, count);
    let begin = i > first ? end[i - 1] : 0;
    if (source[x] >= 0 && end[source[x]] + comm > begin) begin = end[source[x]] + comm;
    if (reload[i] >= 0 && end[reload[i]] > begin) begin = end[reload[i]];
    start[i] = begin;
    end[i] = begin + took[at[x]];
  }
}

/**
 * Runs the copies of a rank that are issued before an op. They wait for nothing else, and an op's reload is among them.
 * @param {Copies} copies @param {number} r @param {number} done compute ops of the rank so far @param {number} first of
 * the rank's ops @param {number} chunks @param {Float64Array} took by slot @param {Float64Array} end
 * @param {Int32Array} next @param {number} count
 */
function runCopies({ codes, issued, offsets }, r, done, first, chunks, took, end, next, count) {
  let y = next[r];
  if (y === offsets[r + 1] || issued[y - count] > done) return;
  let free = y > offsets[r] ? end[y - 1] : 0;
  for (; y < offsets[r + 1] && issued[y - count] <= done; y++) {
    const from = issued[y - count] > 0 ? end[first + issued[y - count] - 1] : 0;
    const code = codes[y - count];
    free = (from > free ? from : free) + took[r * chunks + (code < chunks ? code : code - chunks)];
    end[y] = free;
  }
  next[r] = y;
}
