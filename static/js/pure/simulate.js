// Start and end of every op from an order and its costs, float64, bit for bit as the server's simulator.
// Knows the one dependency rule; knows no family and no screen.

import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf, micros, opText } from "./ops.js";

/** @import {Costs, Schedule, Times} from "./types.js" */

/** @param {number|number[]} cost @param {number} stage @param {number} v */
const share = (cost, stage, v) => (typeof cost === "number" ? cost / v : cost[stage]);

/**
 * Duration of every (rank, code), indexed rank * codesPerRank(chunks) + code.
 * @param {Schedule} schedule @param {Costs} costs
 */
export function durations(schedule, costs) {
  const { p, chunks, v, placement } = schedule;
  const width = codesPerRank(chunks);
  const out = new Float64Array(p * width);
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const stage = placement.stage[r * chunks + chunkOf(code, chunks)];
      const backStage = placement.stage[r * chunks + (code % chunks)];
      out[r * width + code] = duration(kindOf(code, chunks), stage, backStage, costs, v);
    }
  }
  return out;
}

/** @param {number} kind @param {number} stage @param {number} backStage @param {Costs} costs @param {number} v */
function duration(kind, stage, backStage, costs, v) {
  if (kind === KIND_F) return share(costs.F, stage, v);
  if (kind === KIND_I) return share(costs.I, stage, v);
  if (kind === KIND_W) return share(costs.W, stage, v);
  const backward = share(costs.I, backStage, v) + share(costs.W, backStage, v);
  if (kind === KIND_B) return backward;
  return costs.FB === null ? share(costs.F, stage, v) + backward : costs.FB / v;
}

/**
 * What each (rank, code) reads and writes. Ends of F's fill the first slots * n cells of the board, ends of
 * gradients the second; -1 = none. Lag is the hop from another rank.
 * @typedef {{inA: Int32Array, inB: Int32Array, outA: Int32Array, outB: Int32Array,
 *   lagA: Float64Array, lagB: Float64Array}} Tables
 */

/** @param {Schedule} schedule @param {number} comm @returns {Tables} */
function tables(schedule, comm) {
  const { p, chunks, n, placement } = schedule;
  const width = codesPerRank(chunks);
  const gradients = p * chunks * n;
  const ints = () => new Int32Array(p * width).fill(-1);
  const t = { inA: ints(), inB: ints(), outA: ints(), outB: ints(),
    lagA: new Float64Array(p * width), lagB: new Float64Array(p * width) };
  for (let r = 0; r < p; r++) {
    for (let code = 0; code < width; code++) {
      const at = r * width + code;
      const kind = kindOf(code, chunks);
      const slot = r * chunks + chunkOf(code, chunks);
      const back = r * chunks + (code % chunks);
      /** @param {number} source */
      const lag = (source) => (source >= 0 && Math.floor(source / chunks) !== r ? comm : 0);
      const gradientIn = placement.next[back] < 0 ? back * n : gradients + placement.next[back] * n;
      if (kind === KIND_F || kind === KIND_PAIR) {
        if (placement.prev[slot] >= 0) t.inA[at] = placement.prev[slot] * n;
        t.lagA[at] = lag(placement.prev[slot]);
        t.outA[at] = slot * n;
      } else if (kind !== KIND_W) { // W needs its own I, which stands before it on its rank, and nothing waits for W
        t.inA[at] = gradientIn;
        t.lagA[at] = lag(placement.next[back]);
        t.outA[at] = gradients + slot * n;
      }
      if (kind === KIND_PAIR) {
        t.inB[at] = gradientIn;
        t.lagB[at] = lag(placement.next[back]);
        t.outB[at] = gradients + back * n;
      }
    }
  }
  return t;
}

let board = new Float64Array(0);

/** Cells for 2 * slots * n ends, all "not yet". @param {number} size */
function clearBoard(size) {
  if (board.length < size) board = new Float64Array(size);
  board.fill(-1, 0, size);
  return board;
}

/**
 * Runs one rank until it ends or waits; returns the flat index it stopped at. Module level and free of closures so
 * that the compiler keeps it in registers.
 * @param {number} i @param {number} stop @param {number} row @param {Uint8Array} codes @param {Int32Array} first
 * @param {Int32Array} second @param {Float64Array} took @param {Tables} t @param {Float64Array} cells
 * @param {Float64Array} start @param {Float64Array} end @param {number} clock the rank's last end
 */
function advance(i, stop, row, codes, first, second, took, t, cells, start, end, clock) {
  const { inA, inB, outA, outB, lagA, lagB } = t;
  for (; i < stop; i++) {
    const at = row + codes[i];
    const k = first[i];
    const a = inA[at];
    let from = clock;
    if (a >= 0) {
      const x = cells[a + k];
      if (x < 0) return i;
      if (x + lagA[at] > from) from = x + lagA[at];
    }
    const b = outB[at];
    if (b >= 0) {
      const x = cells[inB[at] + second[i]];
      if (x < 0) return i;
      if (x + lagB[at] > from) from = x + lagB[at];
    }
    clock = from + took[at];
    start[i] = from;
    end[i] = clock;
    if (outA[at] >= 0) cells[outA[at] + k] = clock;
    if (b >= 0) cells[b + second[i]] = clock;
  }
  return i;
}

/**
 * @param {Schedule} schedule @param {Costs} costs
 * @param {Times} [into] its arrays are reused when they are long enough
 * @returns {Times}
 */
export function simulate(schedule, costs, into) {
  const { p, chunks, n, codes, offsets, count } = schedule;
  const width = codesPerRank(chunks);
  const fits = into !== undefined && into.start.length >= count && into.end.length >= count;
  const start = fits ? into.start : new Float64Array(count);
  const end = fits ? into.end : new Float64Array(count);
  const { first, second } = micros(schedule);
  const took = durations(schedule, costs);
  const table = tables(schedule, costs.comm);
  const cells = clearBoard(2 * p * chunks * n);
  const at = offsets.slice(0, p);
  let left = count;
  for (let sweep = 0; left > 0; sweep++) {
    const before = left;
    for (let step = 0; step < p; step++) {
      const r = sweep % 2 === 0 ? step : p - 1 - step;
      const i = at[r];
      if (i === offsets[r + 1]) continue;
      const clock = i > offsets[r] ? end[i - 1] : 0;
      at[r] = advance(i, offsets[r + 1], r * width, codes, first, second ?? first, took, table, cells, start, end, clock);
      left -= at[r] - i;
    }
    if (left === before) throw deadlock(schedule, at);
  }
  let makespan = 0;
  for (let r = 0; r < p; r++) if (at[r] > offsets[r]) makespan = Math.max(makespan, end[at[r] - 1]);
  return { start, end, makespan };
}

/** @param {Schedule} schedule @param {Int32Array} at where each rank stopped */
function deadlock(schedule, at) {
  for (let r = 0; r < schedule.p; r++) {
    if (at[r] < schedule.offsets[r + 1]) {
      return new Error(`rank ${r} waits forever at ${opText(schedule, at[r])}: the order deadlocks`);
    }
  }
  return new Error("the order deadlocks");
}
