// A position of the workbench: which ops have been placed on each rank, in which order. Never changed: a move makes a
// new position, which shares the rows of all other ranks with the one before, so that undo is a list of positions.
import { memoized } from "../memoized.ts";
import { backs, holding, takes, type Holding } from "../schedule/memory.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf, micros } from "../schedule/ops.ts";
import { build } from "../schedule/placement.ts";
import { durations, ownTime, simulateSoFar } from "../schedule/simulate.ts";
import { leadOf, timing } from "../schedule/effective_costs.ts";
import type { Costs, Placement, PlacementKind, Schedule, Spec, Times } from "../schedule/types.ts";

/** Sizes and costs. */
export type Board = {
  spec: Spec;
  placement: Placement;
  p: number;
  m: number;
  n: number;
  v: number;
  chunks: number;
  costs: Costs; // those that ops really have
  how: Holding;
  limit: number | null; // of each rank's memory, in units of one micro-batch's activations on a device
};
/** rows: an op is a number, code | micro-batch << 8 | (micro-batch of a pair's backward + 1) << 16. */
export type Position = { board: Board; rows: readonly Int32Array[]; count: number };

/** The largest board. */
export const MOST = { p: 16, v: 8, m: 64 };

/** first: local micro-batch; second: of a pair's backward. */
export const opOf = (code: number, first: number, second: number = -1) => code | (first << 8) | ((second + 1) << 16);
export const codeOf = (op: number) => op & 255;
export const firstOf = (op: number) => (op >> 8) & 255;
/** op: -1 for an op that is no pair. */
export const secondOf = (op: number) => (op >> 16) - 1;

export function createBoard(spec: Spec, kind: PlacementKind): Board {
  const { p, m, v, memory } = spec;
  const placement = build(kind, p, kind === "bidirectional" ? 2 : v);
  const n = m / placement.streams;
  return {
    spec,
    placement,
    p,
    m,
    n,
    v,
    chunks: placement.chunks,
    costs: timing(spec),
    how: holding(spec),
    limit: memory,
  };
}

export const emptyPosition = (board: Board): Position => ({
  board,
  rows: Array.from({ length: board.p }, () => new Int32Array(0)),
  count: 0,
});

function withRow({ board, rows, count }: Position, rank: number, row: Int32Array): Position {
  const next = rows.slice();
  next[rank] = row;
  return { board, rows: next, count: count + row.length - rows[rank].length };
}

/** The same rows on a board with other costs or another limit. */
export const onBoard = ({ rows, count }: Position, board: Board): Position => ({ board, rows, count });

/** Place an op at the end of a rank's row, or before the op at an index. */
export function place(position: Position, rank: number, op: number, at: number = position.rows[rank].length) {
  const before = position.rows[rank];
  const row = new Int32Array(before.length + 1);
  row.set(before.subarray(0, at));
  row[at] = op;
  row.set(before.subarray(at), at + 1);
  return withRow(position, rank, row);
}

/** Take the ops of a rank's row out from an index on. */
export const cut = (position: Position, rank: number, from: number) =>
  withRow(position, rank, position.rows[rank].slice(0, from));

/** Move an op of a row to another index. */
export function move(position: Position, rank: number, from: number, to: number) {
  const row = Array.from(position.rows[rank]);
  const [op] = row.splice(from, 1);
  row.splice(to, 0, op);
  return withRow(position, rank, Int32Array.from(row));
}

/** Keep only what has begun by a moment: what else was placed is taken back. Any prefix in time can run. */
export function rewind(position: Position, moment: number): Position {
  const { times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const rows = position.rows.map((row, r) => {
    let length = 0;
    while (length < row.length && times.start[offsets[r] + length] < moment) length++;
    return length === row.length ? row : row.slice(0, length);
  });
  return { board: position.board, rows, count: rows.reduce((sum, row) => sum + row.length, 0) };
}

/** How many ops an order has once it is whole. backward: of what is left; null: unknown, so the count is, too. */
export function wholeCount(position: Position, backward: "full" | "split" | null) {
  let count = 0;
  for (const bits of tablesOf(position).done) {
    if (!backward && !(bits & (HAS_B | HAS_I))) return null;
    count += bits & HAS_B || (!(bits & HAS_I) && backward === "full") ? 2 : 3;
  }
  return count - position.rows.flatMap((row) => Array.from(row)).filter((op) => op >> 16).length; // two ops in one
}

type Derived = { schedule: Schedule; timed: { times: Times; at: Int32Array } | null };
const derive = memoized((position: Position) => ({ schedule: makeSchedule(position), timed: null }) as Derived);

/** The rows as a schedule, its micro-batches stored. */
export const scheduleOf = (position: Position) => derive(position).schedule;

/**
 * When each op runs, Infinity from the first op of a rank that cannot run; and the flat index where each rank stops.
 */
export function timesOf(position: Position) {
  const found = derive(position);
  found.timed ??= simulateSoFar(found.schedule, position.board.costs);
  return found.timed;
}

function makeSchedule({ board, rows, count }: Position): Schedule {
  const { spec, placement, p, m, n, v, chunks } = board;
  const offsets = new Int32Array(p + 1);
  const codes = new Uint8Array(count);
  const first = new Int32Array(count);
  let second = null;
  let i = 0;
  for (let r = 0; r < p; r++) {
    for (const op of rows[r]) {
      codes[i] = op & 255;
      first[i] = (op >> 8) & 255;
      if (op >> 16) {
        second ??= new Int32Array(count).fill(-1);
        second[i] = (op >> 16) - 1;
      }
      i++;
    }
    offsets[r + 1] = i;
  }
  const micro = second ? [first, second] : [first];
  return { spec, placement, p, m, n, v, chunks, codes, offsets, micro, count, barriers: 0, copies: null };
}

/** The position of an order of the same sizes and placement: a fork. */
export function fromSchedule(board: Board, schedule: Schedule): Position {
  const { codes, offsets, count, p } = schedule;
  const { first, second } = micros(schedule);
  const rows = Array.from({ length: p }, (_, r) => {
    const row = new Int32Array(offsets[r + 1] - offsets[r]);
    for (let k = 0, i = offsets[r]; k < row.length; k++, i++)
      row[k] = opOf(codes[i], first[i], second ? second[i] : -1);
    return row;
  });
  return { board, rows, count };
}

/** The halves of an op. */
export function halvesOf({ chunks }: Board, rank: number, op: number): { kind: number; slot: number; k: number }[] {
  const code = codeOf(op);
  const kind = kindOf(code, chunks);
  const back = rank * chunks + (code % chunks);
  if (kind !== KIND_PAIR) return [{ kind, slot: back, k: firstOf(op) }];
  return [
    { kind: KIND_F, slot: rank * chunks + chunkOf(code, chunks), k: firstOf(op) },
    { kind: KIND_B, slot: back, k: secondOf(op) },
  ];
}

/** Bits of what has been placed of a micro-batch in a slot. */
export const [HAS_F, HAS_I, HAS_W, HAS_B] = [1, 2, 4, 8];
/** By kind of op. */
export const BITS = [HAS_F, HAS_I, HAS_W, HAS_B];
type Tables = {
  done: Uint8Array; // bits by slot * n + micro-batch
  split: number[][]; // by slot, the micro-batches whose gradient is an I, in the order of the row
  /** what each rank holds after its last op, peak: the most it held, in units of one chunk's activations */
  level: Float64Array;
  peak: Float64Array;
};

export const tablesOf = memoized(makeTables);

/** How many times the cost of its ops a micro-batch takes, and its size, by slot and number in it. */
export const scaleOf = memoized(({ costs, placement, n }: Board) => {
  const { sizes, fixed } = costs.sized ?? { sizes: null, fixed: 0 };
  const sizeOf = (slot: number, k: number) => (sizes ? sizes[k + n * placement.stream[slot]] : 1);
  return { sizeOf, timeOf: (slot: number, k: number) => (sizes ? fixed + (1 - fixed) * sizeOf(slot, k) : 1) };
});

const tookOf = memoized((board: Board) => durations(board, board.costs));

/** How long an op of a rank takes. */
export function opTime(board: Board, rank: number, op: number) {
  const width = codesPerRank(board.chunks);
  const took = tookOf(board).subarray(rank * width, (rank + 1) * width);
  const of = (chunk: number, k: number) => scaleOf(board).timeOf(rank * board.chunks + chunk, k);
  return ownTime(took, codeOf(op), board.chunks, of, firstOf(op), secondOf(op));
}

/** How long before its gradient arrives the backward of a micro-batch may begin. */
export const leadTime = (board: Board, slot: number, k: number) =>
  leadOf(board.costs, board.placement.stage[slot], board.v) * scaleOf(board).timeOf(slot, k);

/** What each op takes at its start and gives back at its end, by code, in units of one chunk's activations. */
export const effects = memoized(({ chunks, how }: Board) => ({
  takes: takes(chunks, how.kept),
  gives: backs(chunks, how.wShare),
}));

function makeTables({ board, rows }: Position): Tables {
  const { p, n, chunks } = board;
  const done = new Uint8Array(p * chunks * n);
  const split = Array.from({ length: p * chunks }, () => [] as number[]);
  const [level, peak] = [new Float64Array(p), new Float64Array(p)];
  const { takes: took, gives } = effects(board);
  const { sizeOf } = scaleOf(board);
  const kinds = Uint8Array.from({ length: codesPerRank(chunks) }, (_, code) => kindOf(code, chunks));
  for (let r = 0; r < p; r++) {
    let held = 0;
    let most = 0;
    for (const op of rows[r]) {
      const code = op & 255;
      const kind = kinds[code];
      const size = sizeOf(r * chunks + (code % chunks), kind === KIND_PAIR ? secondOf(op) : firstOf(op));
      held += took[code] * (kind === KIND_PAIR ? sizeOf(r * chunks + chunkOf(code, chunks), firstOf(op)) : size);
      if (held > most) most = held;
      held -= gives[code] * size;
      if (kind === KIND_PAIR) {
        done[(r * chunks + chunkOf(code, chunks)) * n + firstOf(op)] |= HAS_F;
        done[(r * chunks + (code % chunks)) * n + secondOf(op)] |= HAS_B;
      } else {
        done[(r * chunks + (code % chunks)) * n + firstOf(op)] |= BITS[kind];
        if (kind === KIND_I) split[r * chunks + (code % chunks)].push(firstOf(op));
      }
    }
    level[r] = held;
    peak[r] = most;
  }
  return { done, split, level, peak };
}

/** Whether every micro-batch of every chunk has its F, and its B or its I and W. */
export function isWhole(position: Position) {
  const { done } = tablesOf(position);
  return done.every((bits) => bits === (HAS_F | HAS_B) || bits === (HAS_F | HAS_I | HAS_W));
}

/**
 * The micro-batch that an op of a kind takes where none is named, -1 where none is left: the lowest that is open; of a
 * gradient, the lowest whose F is placed, if there is one; of a W, the one whose I came first.
 */
export function nextMicro(position: Position, rank: number, kind: number, chunk: number) {
  const { chunks, n } = position.board;
  const { done, split } = tablesOf(position);
  const slot = rank * chunks + chunk;
  if (kind === KIND_W) return split[slot].find((k) => !(done[slot * n + k] & HAS_W)) ?? -1;
  let open = -1;
  for (let k = 0; k < n; k++) {
    const bits = done[slot * n + k];
    if (kind === KIND_F) {
      if (!(bits & HAS_F)) return k;
    } else if (!(bits & (HAS_I | HAS_B))) {
      if (bits & HAS_F) return k;
      if (open < 0) open = k;
    }
  }
  return open;
}

/** Which kinds of backward a position uses; null for none so far. */
export function backwardOf({ board, rows }: Position): "full" | "split" | null {
  for (const row of rows)
    for (const op of row) {
      const kind = kindOf(codeOf(op), board.chunks);
      if (kind === KIND_I || kind === KIND_W) return "split";
      if (kind === KIND_B) return "full";
    }
  return null;
}

/**
 * The schedule to show and to compare: of a whole order whose micro-batches follow by counting, these are left out, as
 * in orders of the server.
 */
export function shownSchedule(position: Position): Schedule {
  const schedule = scheduleOf(position);
  if (!isWhole(position)) return schedule;
  return isCounted(schedule) ? { ...schedule, micro: [] } : schedule;
}

/** Whether the stored micro-batches are those that follow by counting. */
export function isCounted(schedule: Schedule) {
  const { first, second } = micros({ ...schedule, micro: [] });
  const same = (stored: Int32Array, counted: Int32Array | null) => stored.every((k, i) => k === counted?.[i]);
  return schedule.micro.every((stored, at) => same(stored, at ? second : first));
}
