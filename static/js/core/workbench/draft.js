// A position that is being built: many ops are placed one after the other without making a position of each. It holds
// what a position derives from its rows and keeps it up to date.
import { KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, codesPerRank, kindOf } from "../schedule/ops.js";
import { HAS_B, HAS_F, HAS_I, HAS_W, codeOf, effects, firstOf, opOf, secondOf, tablesOf } from "./position.js";

/** @import {Position} from "./position.js" */

const DUST = 1e-9;
const BIT = [HAS_F, HAS_I, HAS_W, HAS_B];
export const NONE = -1;

export class Draft {
  /** @param {Position} position */
  constructor({ board, rows, count }) {
    const { done, level } = tablesOf({ board, rows, count });
    this.board = board;
    this.rows = rows.map((row) => Array.from(row));
    this.count = count;
    this.done = done;
    this.level = level;
    /** The most a rank may hold, in chunks' activations. */
    this.most = board.limit === null ? Infinity : board.limit * board.v * (1 + DUST);
    this.effects = effects(board);
    this.kinds = Uint8Array.from({ length: codesPerRank(board.chunks) }, (_, code) => kindOf(code, board.chunks));
    this.low = new Int32Array(4 * board.p * board.chunks); // by kind and slot: every lower micro-batch is done
  }

  /** The lowest micro-batch that is open for a kind; NONE where none is. @param {number} rank @param {number} kind
   * @param {number} chunk */
  nextMicro(rank, kind, chunk) {
    const { n, chunks, p } = this.board;
    const slot = rank * chunks + chunk;
    const group = kind === KIND_F || kind === KIND_W ? kind : KIND_I;
    const at = group * p * chunks + slot;
    const first = this.low[at];
    for (let k = first; k < n; k++) {
      const bits = this.done[slot * n + k];
      if (group === KIND_F ? !(bits & HAS_F) : group === KIND_I ? !(bits & (HAS_I | HAS_B)) : isOpen(bits)) {
        if (group !== KIND_W) this.low[at] = k; // a W may come later for a lower micro-batch
        return k;
      }
      if (group === KIND_W && k === this.low[at] && bits & (HAS_W | HAS_B)) this.low[at] = k + 1;
    }
    return NONE;
  }

  /** The op of a code for its next micro-batch; NONE where none is left. @param {number} rank @param {number} code */
  next(rank, code) {
    const { chunks } = this.board;
    const kind = this.kinds[code];
    const first = this.nextMicro(rank, kind === KIND_PAIR ? KIND_F : kind, chunkOf(code, chunks));
    if (first < 0 || kind !== KIND_PAIR) return first < 0 ? NONE : opOf(code, first);
    const second = this.nextMicro(rank, KIND_I, code % chunks);
    return second < 0 ? NONE : opOf(code, first, second);
  }

  /** Whether an op may come next on a rank: the rules of legality.js without their sentences. @param {number} rank
   * @param {number} op */
  allows(rank, op) {
    const code = codeOf(op);
    const kind = this.kinds[code];
    const { chunks } = this.board;
    if (this.level[rank] + this.effects.takes[kind] > this.most) return false;
    const back = rank * chunks + (code % chunks);
    if (kind !== KIND_PAIR) return this.#ready(kind, back, firstOf(op));
    const slot = rank * chunks + chunkOf(code, chunks);
    return this.#ready(KIND_F, slot, firstOf(op)) && this.#ready(KIND_I, back, secondOf(op));
  }

  /** @param {number} kind @param {number} slot @param {number} k */
  #ready(kind, slot, k) {
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

  /** @param {number} rank @param {number} op */
  push(rank, op) {
    const code = codeOf(op);
    const kind = this.kinds[code];
    const { n, chunks } = this.board;
    const back = rank * chunks + (code % chunks);
    this.rows[rank].push(op);
    this.count++;
    this.level[rank] += this.effects.takes[kind] - this.effects.gives[kind];
    if (kind === KIND_PAIR) {
      this.done[(rank * chunks + chunkOf(code, chunks)) * n + firstOf(op)] |= HAS_F;
      this.done[back * n + secondOf(op)] |= HAS_B;
    } else this.done[back * n + firstOf(op)] |= BIT[kind];
  }

  /** @returns {Position} */
  position() {
    return { board: this.board, rows: this.rows.map((row) => Int32Array.from(row)), count: this.count };
  }
}

/** Whether a micro-batch has its I and waits for its W. @param {number} bits */
const isOpen = (bits) => (bits & HAS_I) !== 0 && (bits & HAS_W) === 0;
