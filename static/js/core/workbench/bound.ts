// A time that no order which goes on from a position can beat: a rank cannot go on before its last op has ended, nor
// start before the first micro-batch has come to it, has the rest of its ops to do, and after its last gradient that
// one still has to pass to the first stage and end there; only the rank's own weight gradients can run meanwhile. The
// server's bounds (/api/bound) also use the memory limit. And what a move costs: how far it raises this bound.
import { memoized } from "../memoized.ts";
import { leadOf } from "../schedule/effective_costs.ts";
import { KIND_F, KIND_I, KIND_W, chunkOf, codesPerRank } from "../schedule/ops.ts";
import { durations } from "../schedule/simulate.ts";
import {
  HAS_B,
  HAS_F,
  HAS_I,
  HAS_W,
  codeOf,
  effects,
  firstOf,
  place,
  scaleOf,
  scheduleOf,
  tablesOf,
  timesOf,
  type Position,
} from "./position.ts";

/**
 * What an op would cost, placed at the end of a rank's row. from, to: when it runs; idle: of the rank before it;
 * before, after: the bound on the makespan; held: what the rank would hold, in micro-batches.
 */
export type MoveCost = {
  rank: number;
  op: number;
  from: number;
  to: number;
  idle: number;
  before: number;
  after: number;
  held: number;
};

const costsOf = memoized((_: Position) => new Map<string, MoveCost | null>());

/** Returns null for an op that would wait for its input. full: as in makespanBound. */
export function moveCost(position: Position, rank: number, op: number, full: boolean): MoveCost | null {
  const costs = costsOf(position);
  const key = `${rank}/${op}/${full}`;
  let cost = costs.get(key);
  if (cost === undefined) costs.set(key, (cost = findCost(position, rank, op, full)));
  return cost;
}

function findCost(position: Position, rank: number, op: number, full: boolean): MoveCost | null {
  const next = place(position, rank, op);
  const { times } = timesOf(next);
  const i = scheduleOf(next).offsets[rank + 1] - 1;
  const [from, to] = [times.start[i], times.end[i]];
  if (!Number.isFinite(to)) return null;
  const { board } = position;
  const size = scaleOf(board).sizeOf(rank * board.chunks + chunkOf(codeOf(op), board.chunks), firstOf(op));
  const held = (tablesOf(position).level[rank] + effects(board).takes[codeOf(op)] * size) / board.v;
  const idle = from - (position.rows[rank].length ? times.end[i - 1] : 0);
  return { rank, op, from, to, idle, before: makespanBound(position, full), after: makespanBound(next, full), held };
}

/** Returns a lower bound on the makespan. full: all backwards are whole, so that no weight gradient can wait. */
export function makespanBound(position: Position, full = false): number {
  const { board } = position;
  const { placement, p, chunks, n, costs, v } = board;
  const { timeOf } = scaleOf(board);
  const took = durations(board, costs);
  const width = codesPerRank(chunks);
  const time = (kind: number, slot: number) =>
    took[Math.floor(slot / chunks) * width + kind * chunks + (slot % chunks)];
  const slots = p * chunks;
  // any micro-batch may be the first, and any the last
  const least = Array.from({ length: slots }, (_, slot) =>
    Math.min(...Array.from({ length: n }, (__, k) => timeOf(slot, k))),
  );
  const hop = (a: number, b: number) => (Math.floor(a / chunks) === Math.floor(b / chunks) ? 0 : costs.comm);
  const gradient = (slot: number) =>
    (time(KIND_I, slot) - leadOf(costs, placement.stage[slot], v) + (full ? time(KIND_W, slot) : 0)) * least[slot];
  const enter = new Float64Array(slots); // when a micro-batch alone comes to a slot
  const home = new Float64Array(slots); // from its gradient's end in a slot until that micro-batch is over
  for (let first = 0; first < slots; first++) {
    if (placement.prev[first] >= 0) continue;
    home[first] = full ? 0 : time(KIND_W, first) * least[first];
    for (let slot = first; placement.next[slot] >= 0; slot = placement.next[slot]) {
      const next = placement.next[slot];
      enter[next] = enter[slot] + time(KIND_F, slot) * least[slot] + hop(slot, next);
      home[next] = hop(slot, next) + gradient(slot) + home[slot];
    }
  }
  const free = endsOf(position);
  let bound = 0;
  for (let rank = 0; rank < p; rank++) {
    let [work, weights, arrival, way] = [0, 0, Infinity, Infinity];
    for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++) {
      const [F, I, W] = restOf(slot);
      const [f, i, w] = [time(KIND_F, slot), time(KIND_I, slot), time(KIND_W, slot)];
      const pairs = Math.min(F, I);
      work += pairs * pairTime(costs.FB, f + i + w, v) + (F - pairs) * f + (I - pairs) * i + (W - pairs) * w;
      if (!full) weights += W * w;
      arrival = Math.min(arrival, enter[slot]);
      if (I) way = Math.min(way, home[slot]);
    }
    const start = position.rows[rank].length ? free[rank] : arrival;
    bound = Math.max(bound, start + work + (way === Infinity ? 0 : Math.max(0, way - weights)));
  }
  return bound;

  /**
   * How many F, gradients and weight gradients of a slot are left, each as many times as it takes its cost; a B is one
   * of the last two each.
   */
  function restOf(slot: number) {
    const rest = [0, 0, 0];
    const { done } = tablesOf(position);
    for (let k = 0; k < n; k++) {
      const bits = done[slot * n + k];
      rest[0] += bits & HAS_F ? 0 : timeOf(slot, k);
      rest[1] += bits & (HAS_I | HAS_B) ? 0 : timeOf(slot, k);
      rest[2] += bits & (HAS_W | HAS_B) ? 0 : timeOf(slot, k);
    }
    return rest;
  }
}

/** When the last op of each rank that can run ends. */
function endsOf(position: Position) {
  const { times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  return position.rows.map((row, rank) => {
    const ends = Array.from(row, (_, index) => times.end[offsets[rank] + index]).filter(Number.isFinite);
    return ends.at(-1) ?? 0;
  });
}

/** Where an overlapped pair is faster than its ops, it is what a micro-batch takes at least. */
const pairTime = (pair: number | null, apart: number, v: number) => (pair === null ? apart : Math.min(apart, pair / v));
