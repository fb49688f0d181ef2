// A schedule by list scheduling: always the op that can start first; of several that could, gradients before forwards
// before weight gradients. What comes next where there is no order to follow.
import { KIND_B, KIND_F, KIND_I, KIND_W } from "../schedule/ops.ts";
import { canComplete } from "./completable.ts";
import { Draft, NONE } from "./draft.ts";
import { backwardOf, codeOf, firstOf, halvesOf, leadTime, opTime, timesOf, type Position } from "./position.ts";

export type Step = {
  rank: number;
  op: number;
  start: number; // when its rank is free as well
  ready: number; // when the op's input is there
};

const DUST = 1e-9;
/** Of ops that can start at the same moment, the lower goes first: by kind, F I W B pair. */
const TURN = [1, 0, 2, 0, 0];

/** A draft that knows when its ops run. An op that is pushed must be one that the draft allows. */
export class TimedDraft extends Draft {
  forward: Float64Array;
  gradient: Float64Array;
  clock: Float64Array;

  constructor(position: Position) {
    super(position);
    const { board } = position;
    const { times } = timesOf(position);
    const cells = board.p * board.chunks * board.n;
    this.forward = new Float64Array(cells).fill(Infinity);
    this.gradient = new Float64Array(cells).fill(Infinity);
    this.clock = new Float64Array(board.p);
    let i = 0;
    position.rows.forEach((row, rank) => {
      for (const op of row) this.#note(rank, op, times.end[i++]);
    });
  }

  #note(rank: number, op: number, end: number) {
    for (const { kind, slot, k } of halvesOf(this.board, rank, op))
      if (kind !== KIND_W) (kind === KIND_F ? this.forward : this.gradient)[slot * this.board.n + k] = end;
    this.clock[rank] = end;
  }

  /** When the input of an op is there, as far as it needs it to begin. */
  ready(rank: number, op: number) {
    return Math.max(...halvesOf(this.board, rank, op).map(({ kind, slot, k }) => this.#inputAt(kind, slot, k)));
  }

  #inputAt(kind: number, slot: number, k: number) {
    const { placement, chunks, n, costs } = this.board;
    if (kind === KIND_W) return this.gradient[slot * n + k];
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    const lead = kind === KIND_F ? 0 : leadTime(this.board, slot, k);
    if (from < 0) return kind === KIND_F ? 0 : this.forward[slot * n + k] - lead;
    const hop = Math.floor(from / chunks) === Math.floor(slot / chunks) ? 0 : costs.comm;
    return (kind === KIND_F ? this.forward : this.gradient)[from * n + k] + hop - lead;
  }

  override push(rank: number, op: number) {
    const start = Math.max(this.clock[rank], this.ready(rank, op));
    super.push(rank, op);
    this.#note(rank, op, start + opTime(this.board, rank, op));
  }

  /** The next op of each kind and chunk that a rank may do. */
  steps(rank: number, backward: "full" | "split"): Step[] {
    const { chunks } = this.board;
    const found: Step[] = [];
    for (const kind of backward === "split" ? [KIND_F, KIND_I, KIND_W] : [KIND_F, KIND_B, KIND_W]) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        const op = this.next(rank, kind * chunks + chunk);
        if (op === NONE || !this.allows(rank, op)) continue;
        const ready = this.ready(rank, op);
        found.push({ rank, op, ready, start: Math.max(this.clock[rank], ready) });
      }
    }
    return found;
  }

  /** b: negative where a goes first. */
  compare(a: Step, b: Step) {
    if (Math.abs(a.start - b.start) > DUST * Math.max(1, a.start)) return a.start - b.start;
    if (a.rank !== b.rank) return b.rank - a.rank; // later stages first: what they send on is waited for
    const [x, y] = [codeOf(a.op), codeOf(b.op)];
    return (
      TURN[this.kinds[x]] - TURN[this.kinds[y]] ||
      firstOf(a.op) - firstOf(b.op) ||
      // forwards of later chunks first, as they end a micro-batch's way
      (y % this.board.chunks) - (x % this.board.chunks)
    );
  }

  /** The next op by list scheduling, passing over those from which the rest could not be completed; null at the end. */
  greedy(backward: "full" | "split"): Step | null {
    const all: Step[] = [];
    for (let rank = 0; rank < this.board.p; rank++) all.push(...this.steps(rank, backward));
    all.sort((a, b) => this.compare(a, b));
    return all.find((step) => !this.endsDead(step)) ?? null;
  }

  /** Whether the rest could surely not be completed after a step: memory would be full. */
  endsDead({ rank, op }: Step) {
    const kind = this.kinds[codeOf(op)];
    if (this.most === Infinity || kind !== KIND_F) return false;
    const { chunks } = this.board;
    // room for a whole micro-batch more on every rank: it cannot end dead
    const room = this.level.every((level, r) => level + Number(r === rank) + chunks <= this.most);
    if (room) return false;
    const { board } = this;
    const rows = this.rows.map((row, r) => Int32Array.from(r === rank ? [...row, op] : row));
    return canComplete({ board, rows, count: this.count + 1 }).answer === "no";
  }
}

/** The next op by list scheduling; null at the end. */
export const greedyStep = (
  position: Position,
  backward: "full" | "split" = backwardOf(position) ?? "split",
): Step | null => new TimedDraft(position).greedy(backward);

/** A whole order from a position by list scheduling. */
export function complete(position: Position, backward: "full" | "split" = backwardOf(position) ?? "split") {
  const draft = new TimedDraft(position);
  for (let step = draft.greedy(backward); step; step = draft.greedy(backward)) draft.push(step.rank, step.op);
  return draft.position();
}
