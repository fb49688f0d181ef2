// The order of a building block in unit slots: the block repeated, and squeezed at both ends. The same moves in the
// same sequence as in backend/schedule/families/v_shape/unit_slots.py, so that orders are equal byte by byte.
//
// F, I and W take one slot each, a hop none. The steady state remains the block, slot for slot. In the warm-up and the
// cool-down each op moves to the earliest free slot that its inputs and the peak allow: first with the W in their
// slots, then in the cool-down once more with the W taken out and put back into the slots that are left.
//
// Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 4. The ops and the slots are
// those of the authors' published generator, zbv_greedy.py of sail-sg/zero-bubble-pipeline-parallelism.
import { build } from "../schedule/placement.ts";
import { simulate } from "../schedule/simulate.ts";
import { fromRows } from "./from_rows.ts";
import type { Costs } from "../schedule/types.ts";
import type { Row } from "./table.ts";

/**
 * Which op is in each slot of each rank: a pass of a micro-batch (F0, F1, I1, I0, one after the other, the even ones
 * down the ranks and the odd ones up), a W of either chunk, or none.
 */
type Grid = Int8Array[];
type Rank = {
  ops: Int8Array;
  level: Int32Array; // chunks in flight in each slot
  due: Int32Array; // W that wait there; by op: next, how many were placed, and came, their slots
  next: Int32Array;
  came: Int32Array[];
  made: number; // I placed so far
};
/** limit: of chunks in flight; isKept: the W stay in their slots. */
type Rule = { limit: number; isKept: boolean };

const [F0, I1, I0, W, FREE] = [0, 2, 3, 4, -1];
const CODES = [0, 1, 3, 2]; // kind * 2 + chunk of each pass
const PASSES = [0, 3, 1, 2]; // of F and I of chunk 0, then of chunk 1
const PERIOD = 6;
/** Of a device's whole share: an op of one of two chunks takes one slot. */
const UNIT = { F: 2, I: 2, W: 2, comm: 0, FB: null, S: null, T: null, O: null, R: null, wire: 0 } as Costs;

/**
 * The rows of a block on the V repeated for `m` micro-batches. due: the slots of F and I of chunk 0, then of chunk 1,
 * of every rank in turn.
 */
export function unitOrder(due: Float64Array, m: number): Row[] {
  let grid = repeated(due, m);
  grid.forEach(putWeights);
  squeeze(grid, m, true);
  grid = timed(grid, m);
  grid.forEach(takeWeights);
  squeeze(grid, m, false);
  grid.forEach(putWeights);
  grid = timed(grid, m);
  grid.forEach(takeWeights);
  grid.forEach(putWeights);
  return grid.map((ops) => codesOf(ops, m));
}

/** The F and I of a block in their slots, with enough free slots behind them for every W. */
function repeated(due: Float64Array, m: number): Grid {
  const slots = due.reduce((a, b) => Math.max(a, b)) + PERIOD * m + 2 * m;
  return Array.from({ length: due.length / 4 }, (_, r) => {
    const ops = new Int8Array(slots).fill(FREE);
    for (let k = 0; k < m; k++) PASSES.forEach((op, at) => (ops[due[4 * r + at] + PERIOD * k] = op));
    return ops;
  });
}

/** The same ops in the same sequence, each in the first slot after its inputs. */
function timed(grid: Grid, m: number): Grid {
  const rows = grid.map((ops) => codesOf(ops, m));
  const { start } = simulate(fromRows(build("v", grid.length, 2), m, 2, rows), UNIT);
  return grid.map((ops, r) => {
    const out = new Int8Array(ops.length).fill(FREE);
    ops.filter((op) => op !== FREE).forEach((op, at) => (out[start[r * rows[r].length + at]] = op));
    return out;
  });
}

/** The codes of a rank's ops; of the W that are due, those of chunk 1 go first. */
function codesOf(ops: Int8Array, m: number): Row {
  const row = new Uint8Array(PERIOD * m);
  let [at, due] = [0, 0]; // the W of chunk 1 that are due
  for (const op of ops) {
    if (op === FREE) continue;
    if (op === I1) due++;
    row[at++] = op === W ? (due > 0 ? 5 : 4) : CODES[op];
    if (op === W && due > 0) due--;
  }
  return row;
}

/** Put each W into the first slot after its I that is free. ops: of a rank. */
function putWeights(ops: Int8Array) {
  let due = 0;
  for (let x = 0; x < ops.length; x++) {
    if (ops[x] === I1 || ops[x] === I0) due++;
    else if (ops[x] === FREE && due > 0) {
      ops[x] = W;
      due--;
    }
  }
}

/** ops: of a rank. */
function takeWeights(ops: Int8Array) {
  for (let x = 0; x < ops.length; x++) if (ops[x] === W) ops[x] = FREE;
}

/**
 * Move the ops of the warm-up and the cool-down forward, in the sequence of their slots, within the peak. The warm-up
 * ends with the first I0 of rank 0, the cool-down begins after the last F0 of rank 0. isKept: whether the W stay in
 * their slots; else the grid has none, and only the cool-down is squeezed.
 */
function squeeze(grid: Grid, m: number, isKept: boolean) {
  const slots = grid[0].length;
  const ranks = grid.map((ops) => rankOf(ops, m));
  const rule = { limit: Infinity, isKept };
  for (const rank of ranks) over(rank, rule, 0, slots);
  rule.limit = Math.max(...ranks.map(({ level }) => level.reduce((a, b) => Math.max(a, b))));
  let phase = 0;
  for (let x = 0; x < slots; x++) {
    for (const [r, rank] of ranks.entries()) {
      const op = rank.ops[x];
      if (op === FREE) continue;
      const k = rank.next[op]++;
      if (phase === 0 && op === I0 && r === 0) phase = 1;
      const isMovable = phase === 2 || (phase === 0 && isKept);
      if (phase === 1 && op === F0 && k === m - 1) phase = 2;
      rank.came[op][k] = isMovable ? moved(rank, rule, ready(ranks, r, x, k), x) : x;
      if (op === I1 || op === I0) rank.made++;
    }
  }
}

function rankOf(ops: Int8Array, m: number): Rank {
  const [level, due] = [new Int32Array(ops.length).fill(-1), new Int32Array(ops.length).fill(-1)];
  const came = Array.from({ length: 5 }, () => new Int32Array(2 * m));
  return { ops, level, due, next: new Int32Array(5), came, made: 0 };
}

/** The slot to which the op in slot `x` moves, the first from `from` on that is free and within the limit. */
function moved(rank: Rank, rule: Rule, from: number, x: number) {
  const { ops } = rank;
  const op = ops[x];
  for (let y = from; y < x; y++) {
    if (ops[y] !== FREE) continue;
    [ops[x], ops[y]] = [FREE, op];
    const beyond = over(rank, rule, y, x);
    if (beyond < 0) return y;
    [ops[x], ops[y]] = [op, FREE];
    over(rank, rule, y, x);
    y = beyond; // in any slot before, it would be in flight there too
  }
  return x;
}

/**
 * Count the chunks in flight and the W that are due in each slot from `begin` on, and return the last slot with more
 * than the limit; -1 for none. Ends behind `changed`, the last slot that changed, as soon as nothing differs from the
 * last count. Unless the W are kept in their slots, each takes the next free one.
 */
function over({ ops, level, due }: Rank, { limit, isKept }: Rule, begin: number, changed: number) {
  let [now, waiting, last] = [begin > 0 ? level[begin - 1] : 0, begin > 0 ? due[begin - 1] : 0, -1];
  for (let x = begin; x < ops.length; x++) {
    const op = ops[x];
    if (op === FREE || op >= I1) {
      if (op === W) now--;
      else if (!isKept && op !== FREE) waiting++;
      else if (!isKept && waiting > 0) {
        now--;
        waiting--;
      }
    } else now++;
    if (x > changed && level[x] === now && due[x] === waiting) return last;
    level[x] = now;
    due[x] = waiting;
    if (now > limit) last = x;
  }
  return last;
}

/** The first slot after the inputs of the k-th op of its kind, which is in slot `x` of rank `r`. */
function ready(ranks: Rank[], r: number, x: number, k: number) {
  const { ops, came, made } = ranks[r];
  const op = ops[x];
  let slot = -1;
  if (op === W) {
    slot = x;
    for (let left = made - k; left > 0;) {
      slot--;
      if (ops[slot] === I1 || ops[slot] === I0) left--;
    }
  } else {
    const before = ranks[op % 2 === 0 ? r - 1 : r + 1];
    if (before) slot = before.came[op][k];
    if (op > 0) slot = Math.max(slot, came[op - 1][k]);
  }
  if (k > 0) slot = Math.max(slot, came[op][k - 1]);
  return slot + 1;
}
