// A position that is being built: many ops are placed one after the other without making a position of each. It holds
// what a position derives from its rows and keeps it up to date.
import { KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf } from "../schedule/ops.ts";
import { BITS, HAS_B, HAS_F, HAS_I, HAS_W, codeOf, effects, halvesOf, opOf, tablesOf } from "./position.ts";
import type { Board, Position } from "./position.ts";

const DUST = 1e-9;
export const NONE = -1;

export class Draft {
  board: Board;
  rows: number[][];
  count: number;
  done: Uint8Array;
  split: number[][];
  level: Float64Array;
  most: number;
  effects: ReturnType<typeof effects>;
  kinds: Uint8Array;
  low: Int32Array;
  weights: Int32Array;

  constructor({ board, rows, count }: Position) {
    const { done, split, level } = tablesOf({ board, rows, count });
    this.board = board;
    this.rows = rows.map((row) => Array.from(row));
    this.count = count;
    this.done = done;
    this.split = split;
    this.level = level;
    /** The most a rank may hold, in chunks' activations. */
    this.most = board.limit === null ? Infinity : board.limit * board.v * (1 + DUST);
    this.effects = effects(board);
    this.kinds = Uint8Array.from({ length: codesPerRank(board.chunks) }, (_, code) => kindOf(code, board.chunks));
    const slots = board.p * board.chunks;
    this.low = new Int32Array(2 * slots); // by slot: every lower micro-batch has its F, and then its gradient
    this.weights = new Int32Array(slots); // by slot: how many of the first I's have their W
  }

  /** The micro-batch that a kind takes next, as nextMicro of position.ts; NONE where none is left. */
  nextMicro(rank: number, kind: number, chunk: number) {
    const { n, chunks, p } = this.board;
    const slot = rank * chunks + chunk;
    if (kind === KIND_W) return this.#nextWeight(slot);
    const [at, has] = kind === KIND_F ? [slot, HAS_F] : [p * chunks + slot, HAS_I | HAS_B];
    while (this.low[at] < n && this.done[slot * n + this.low[at]] & has) this.low[at]++;
    const first = this.low[at];
    if (first >= n) return NONE;
    for (let k = first; kind !== KIND_F && k < n; k++) {
      const bits = this.done[slot * n + k];
      if (bits & HAS_F && !(bits & has)) return k;
    }
    return first;
  }

  #nextWeight(slot: number) {
    const { n } = this.board;
    const split = this.split[slot];
    const has = (at: number) => (this.done[slot * n + split[at]] & HAS_W) !== 0;
    while (this.weights[slot] < split.length && has(this.weights[slot])) this.weights[slot]++;
    return split[this.weights[slot]] ?? NONE;
  }

  /** The op of a code for its next micro-batch; NONE where none is left. */
  next(rank: number, code: number) {
    const { chunks } = this.board;
    const kind = this.kinds[code];
    const first = this.nextMicro(rank, kind === KIND_PAIR ? KIND_F : kind, chunkOf(code, chunks));
    if (first < 0 || kind !== KIND_PAIR) return first < 0 ? NONE : opOf(code, first);
    const second = this.nextMicro(rank, KIND_I, code % chunks);
    return second < 0 ? NONE : opOf(code, first, second);
  }

  /** Whether an op may come next on a rank: the rules of legality.ts without their sentences. */
  allows(rank: number, op: number) {
    const takes = this.effects.takes[codeOf(op)];
    if (takes > 0 && this.level[rank] + takes > this.most) return false;
    return halvesOf(this.board, rank, op).every(({ kind, slot, k }) => this.#ready(kind, slot, k));
  }

  #ready(kind: number, slot: number, k: number) {
    const { placement, n } = this.board;
    const bits = this.done[slot * n + k];
    if (kind === KIND_F) {
      const from = placement.prev[slot];
      return !(bits & HAS_F) && (from < 0 || (this.done[from * n + k] & HAS_F) !== 0);
    }
    if (kind === KIND_W) return isOpen(bits);
    const from = placement.next[slot];
    const fed = from < 0 || (this.done[from * n + k] & (HAS_I | HAS_B)) !== 0;
    return fed && (bits & HAS_F) !== 0 && !(bits & (HAS_I | HAS_B));
  }

  push(rank: number, op: number) {
    const code = codeOf(op);
    const { n } = this.board;
    this.rows[rank].push(op);
    this.count++;
    this.level[rank] += this.effects.takes[code] - this.effects.gives[code];
    for (const { kind, slot, k } of halvesOf(this.board, rank, op)) {
      this.done[slot * n + k] |= BITS[kind];
      if (kind === KIND_I) this.split[slot].push(k);
    }
  }

  position(): Position {
    return { board: this.board, rows: this.rows.map((row) => Int32Array.from(row)), count: this.count };
  }
}

/** Whether a micro-batch has its I and waits for its W. */
const isOpen = (bits: number) => (bits & HAS_I) !== 0 && (bits & HAS_W) === 0;
