// A time that no order of a board can beat: a rank cannot start before the first micro-batch has come to it, has all
// its ops to do, and after its last gradient that one still has to pass to the first stage and end there; only the
// rank's own weight gradients can run meanwhile. The server's bounds (/api/bound) also use the memory limit.
import { KIND_F, KIND_I, KIND_W, codesPerRank } from "../schedule/ops.ts";
import { durations } from "../schedule/simulate.ts";
import { emptyPosition, scheduleOf, type Board } from "./position.ts";

/** Returns a lower bound on the makespan. */
export function makespanBound(board: Board): number {
  const { placement, p, chunks, n, costs } = board;
  const took = durations(scheduleOf(emptyPosition(board)), costs);
  const width = codesPerRank(chunks);
  const time = (kind: number, slot: number) =>
    took[Math.floor(slot / chunks) * width + kind * chunks + (slot % chunks)];
  const hop = (a: number, b: number) => (Math.floor(a / chunks) === Math.floor(b / chunks) ? 0 : costs.comm);
  const slots = p * chunks;
  const enter = new Float64Array(slots); // when a micro-batch alone comes to a slot
  const home = new Float64Array(slots); // from its gradient's end in a slot until that micro-batch is over
  for (let first = 0; first < slots; first++) {
    if (placement.prev[first] >= 0) continue;
    home[first] = time(KIND_W, first);
    for (let slot = first; placement.next[slot] >= 0; slot = placement.next[slot]) {
      const next = placement.next[slot];
      enter[next] = enter[slot] + time(KIND_F, slot) + hop(slot, next);
      home[next] = hop(slot, next) + time(KIND_I, slot) + home[slot];
    }
  }
  let bound = 0;
  for (let rank = 0; rank < p; rank++) {
    let [work, weights, arrival, way] = [0, 0, Infinity, Infinity];
    for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++) {
      work += n * pairTime(costs.FB, time(KIND_F, slot) + time(KIND_I, slot) + time(KIND_W, slot), board.v);
      weights += n * time(KIND_W, slot);
      arrival = Math.min(arrival, enter[slot]);
      way = Math.min(way, home[slot]);
    }
    bound = Math.max(bound, arrival + work + Math.max(0, way - weights));
  }
  return bound;
}

/** Where an overlapped pair is faster than its ops, it is what a micro-batch takes at least. */
const pairTime = (pair: number | null, apart: number, v: number) => (pair === null ? apart : Math.min(apart, pair / v));
