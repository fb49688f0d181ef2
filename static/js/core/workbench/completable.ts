// Can the rest of a position still be completed? Without a memory limit that is exact: placing what can run never
// hurts. Under a limit forwards compete for memory; a completion that is found proves it, an exhausted search disproves
// it, and a search that grows too long cannot tell.
//
// The search knows, for each micro-batch that is under way, how many forwards and gradients are done. Gradients and
// weight gradients only give memory back, so they run as soon as they can; what is left to choose is which micro-batch
// goes one stage further. Micro-batches at the same point are alike, so a state is a count of points.
import { memoized } from "../memoized.ts";
import { keptByChunk } from "../schedule/memory.ts";
import { KIND_B, KIND_F } from "../schedule/ops.ts";
import { Draft } from "./draft.ts";
import { HAS_B, HAS_F, HAS_I, tablesOf, timesOf, scheduleOf, type Position, type Board } from "./position.ts";
import { violations } from "./violations.ts";

/** free: nothing is in the way. */
type Completable = { answer: "yes" | "no" | "unknown"; why: "violations" | "deadlock" | "memory" | "free" };
/** Stages whose forward, and whose gradient, is done. */
type Point = { f: number; b: number; stream: number };

const MOST_STATES = 3000;

export const canComplete = memoized(decide);

function decide(position: Position): Completable {
  const { board } = position;
  const { at } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const waits = position.rows.some((_, r) => at[r] < offsets[r + 1]);
  if (violations(position).length) return { answer: "no", why: "violations" };
  if (waits) return board.limit === null ? withWaiting(position, at, offsets) : { answer: "unknown", why: "memory" };
  if (board.limit === null) return { answer: "yes", why: "free" };
  return underLimit(position);
}

/** Without a limit: ranks do what they have in their order, then anything that can run. */
function withWaiting(position: Position, at: Int32Array, offsets: Int32Array): Completable {
  const { board, rows } = position;
  const ran = rows.map((row, r) => row.slice(0, at[r] - offsets[r]));
  const draft = new Draft({ board, rows: ran, count: ran.reduce((sum, row) => sum + row.length, 0) });
  const queued = rows.map((row, r) => Array.from(row.subarray(at[r] - offsets[r])));
  for (let moved = true; moved;) {
    moved = false;
    for (let rank = 0; rank < board.p; rank++) {
      while (queued[rank].length && draft.allows(rank, queued[rank][0])) {
        draft.push(rank, queued[rank].shift() as number);
        moved = true;
      }
      if (!queued[rank].length && runAll(draft, rank)) moved = true;
    }
  }
  return queued.some((row) => row.length) ? { answer: "no", why: "deadlock" } : { answer: "yes", why: "free" };
}

/** Place every F and B that a rank can do. */
function runAll(draft: Draft, rank: number) {
  const { chunks, n } = draft.board;
  let moved = false;
  for (const kind of [KIND_F, KIND_B]) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (let k = 0; k < n; k++) {
        const op = (kind * chunks + chunk) | (k << 8);
        if (!draft.allows(rank, op)) continue;
        draft.push(rank, op);
        moved = true;
      }
    }
  }
  return moved;
}

function underLimit(position: Position): Completable {
  const search = new Search(position);
  if (search.impossible) return { answer: "no", why: "memory" };
  const answer = search.run();
  return { answer, why: answer === "yes" ? "free" : "memory" };
}

/** A depth-first search over which micro-batch goes on, the farthest first. */
class Search {
  board: Board;
  most: number;
  whole: number;
  stages: number;
  rank: Int32Array[];
  kept: Float64Array[];
  points: Point[];
  fresh: number[];
  impossible: boolean;

  #seen = new Set();
  #over = false;

  constructor({ board, rows, count }: Position) {
    const { placement, limit, v, n, chunks, how } = board;
    this.board = board;
    this.most = (limit ?? Infinity) * v * (1 + 1e-9);
    const kept = keptByChunk(how.kept, chunks);
    // the most that a micro-batch takes on a rank: all its chunks, one of them restored for its backward
    this.whole = kept.reduce((sum, each) => sum + each, 1 - Math.min(...kept));
    this.stages = placement.stages;
    // rank by stream and stage
    this.rank = Array.from({ length: placement.streams }, () => new Int32Array(this.stages));
    // what an F keeps, by stream and stage
    this.kept = this.rank.map(() => new Float64Array(this.stages));
    /** Slot by stream and stage. */
    const slots: number[][] = this.rank.map(() => []);
    placement.stage.forEach((stage, slot) => {
      this.rank[placement.stream[slot]][stage] = Math.floor(slot / chunks);
      this.kept[placement.stream[slot]][stage] = kept[slot % chunks];
      slots[placement.stream[slot]][stage] = slot;
    });
    const { done } = tablesOf({ board, rows, count });
    this.points = [];
    this.fresh = this.rank.map(() => 0); // micro-batches that have not begun, by stream
    for (let stream = 0; stream < this.rank.length; stream++) {
      for (let k = 0; k < n; k++) {
        let [f, b] = [0, 0];
        for (const slot of slots[stream]) {
          if (done[slot * n + k] & HAS_F) f++;
          if (done[slot * n + k] & (HAS_I | HAS_B)) b++;
        }
        if (f === 0) this.fresh[stream]++;
        else if (b < this.stages) this.points.push({ f, b, stream });
      }
    }
    this.impossible = this.fresh.some((left, stream) => left > 0 && !this.#fitsAlone(stream));
  }

  /** What each rank holds, with every W done that can be. */
  #levels(points: Point[]) {
    const level = new Float64Array(this.board.p);
    for (const { f, b, stream } of points)
      for (let stage = 0; stage < Math.min(f, this.stages - b); stage++)
        level[this.rank[stream][stage]] += this.kept[stream][stage];
    return level;
  }

  /** Run every gradient that can run. points: changed; level: changed. */
  #settle(points: Point[], level: Float64Array) {
    for (let moved = true; moved;) {
      moved = false;
      for (const point of points) {
        while (point.f === this.stages && point.b < this.stages) {
          const stage = this.stages - 1 - point.b;
          const rank = this.rank[point.stream][stage];
          const kept = this.kept[point.stream][stage];
          if (level[rank] + 1 - kept > this.most) break;
          level[rank] -= kept;
          point.b++;
          moved = true;
        }
      }
    }
    return points.filter(({ b }) => b < this.stages);
  }

  run() {
    const points = this.points.map((point) => ({ ...point }));
    const level = this.#levels(points);
    const found = this.#from(this.#settle(points, level), this.fresh.slice());
    return found ? "yes" : this.#over ? "unknown" : "no";
  }

  /** points: settled. */
  #from(points: Point[], fresh: number[]): boolean {
    // a list of what is left to try instead of calls: a chain may have thousands of links
    const open: { points: Point[]; fresh: number[] }[] = [{ points, fresh }];
    while (open.length) {
      const state = open.pop() as { points: Point[]; fresh: number[] };
      if (!state.points.length) return true; // the others fit one by one
      const level = this.#levels(state.points);
      if (this.#roomy(level)) return true;
      const key = keyOfState(state);
      if (this.#seen.has(key)) continue;
      if (this.#seen.size >= MOST_STATES) {
        this.#over = true;
        return false;
      }
      this.#seen.add(key);
      open.push(...this.#onward(state, level));
    }
    return false;
  }

  /** Whether a micro-batch can go through while no other is under way. */
  #fitsAlone(stream: number) {
    // its forwards fit where its backwards do: at a rank's first one all that they keep is still there
    const points = [{ f: this.stages, b: 0, stream }];
    return this.#settle(points, this.#levels(points)).length === 0;
  }

  /** Every rank has room for a whole micro-batch more: all can go through one by one. */
  #roomy(level: Float64Array) {
    return level.every((each) => each + this.whole <= this.most);
  }

  /** The states after one more forward, the most promising last. */
  #onward({ points, fresh }: { points: Point[]; fresh: number[] }, level: Float64Array) {
    const out: { points: Point[]; fresh: number[]; f: number }[] = [];
    const tried = new Set();
    const fits = (stream: number, stage: number) =>
      level[this.rank[stream][stage]] + this.kept[stream][stage] <= this.most;
    points.forEach((point, at) => {
      const key = `${point.f}/${point.stream}`;
      if (point.f === this.stages || tried.has(key) || !fits(point.stream, point.f)) return;
      tried.add(key);
      const next = points.map((each, k) => ({ ...each, f: each.f + Number(k === at) }));
      out.push({ points: this.#settle(next, this.#levels(next)), fresh, f: point.f + 1 });
    });
    fresh.forEach((count, stream) => {
      if (!count || !fits(stream, 0)) return;
      const next = [...points.map((each) => ({ ...each })), { f: 1, b: 0, stream }];
      const left = fresh.map((each, k) => each - Number(k === stream));
      out.push({ points: this.#settle(next, this.#levels(next)), fresh: left, f: 1 });
    });
    return out.sort((a, b) => a.f - b.f);
  }
}

const keyOfState = ({ points, fresh }: { points: Point[]; fresh: number[] }) =>
  `${points
    .map(({ f, b, stream }) => (stream * 512 + f) * 512 + b)
    .sort((a, b) => a - b)
    .join()}|${fresh}`;
