// A position as the text of an order, whole or not, and back: what the server calls a packed order
// (backend/schedule/order/order_codec.py has the format). Micro-batches are stored only where they do not follow from
// counting.
import { deflateSync, inflateSync } from "../../../vendor/fflate.js";
import { codesPerRank, micros } from "../schedule/ops.ts";
import { withChunks } from "../schedule/per_chunk.ts";
import { fromBase64url, toBase64url } from "../state/base64url.ts";
import { MOST, createBoard, fromSchedule, isCounted, scheduleOf, type Position } from "./position.ts";
import type { PlacementKind, Schedule, Spec } from "../schedule/types.ts";

const LETTERS: Record<string, PlacementKind> = { l: "looped", v: "v", b: "bidirectional" };
const [STORED, ALIKE] = [3, 32];
const MOST_BYTES = 600_000; // unpacked; the largest board has a ninth of that in ops

export function toText(position: Position): string {
  const schedule = scheduleOf(position);
  const { p, m, chunks, codes, offsets, micro, placement } = schedule;
  const counts = Array.from({ length: p }, (_, r) => offsets[r + 1] - offsets[r]);
  const alike = counts.every((count) => count === counts[0]);
  const columns = isCounted(schedule) ? [] : micro;
  const bytes = [p, m, chunks, columns.length | (alike ? ALIKE : 0), ...(alike ? counts.slice(0, 1) : counts)].flatMap(
    varint,
  );
  const parts = [Uint8Array.from(bytes), codes, ...columns.map((column) => planes(steps(schedule, column)))];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  const letter = Object.keys(LETTERS).find((each) => LETTERS[each] === placement.kind);
  return `${letter}${toBase64url(deflateSync(whole, { level: 9 }))}`;
}

/**
 * spec: whose costs and limit the board gets; its sizes follow from the text; Returns null for a text that is no packed
 * order, or one that is too large for the workbench.
 */
export function fromText(text: string, spec: Spec): Position | null {
  try {
    return read(text, spec);
  } catch {
    return null; // malformed base64 or deflate, or bytes missing
  }
}

function read(text: string, spec: Spec) {
  const kind = LETTERS[text[0]];
  const body = new Body(inflateSync(fromBase64url(text.slice(1)), { out: new Uint8Array(MOST_BYTES) }));
  const [p, m, chunks, flags] = [body.varint(), body.varint(), body.varint(), body.varint()];
  const v = kind === "bidirectional" ? chunks / 2 : chunks;
  if (!kind || !isSize(kind, p, m, v) || (flags & ~(STORED | ALIKE)) !== 0) return null;
  const same = flags & ALIKE ? body.varint() : -1;
  const offsets = new Int32Array(p + 1);
  for (let r = 0; r < p; r++) offsets[r + 1] = offsets[r] + (same >= 0 ? same : body.varint());
  const count = offsets[p];
  const board = createBoard({ ...withChunks(spec, v), p, m }, kind);
  if (count > 6 * p * chunks * board.n) return null; // each op twice at most
  const codes = body.take(count);
  if (codes.some((code) => code >= codesPerRank(chunks) || code >= 4 * chunks + chunks * chunks)) return null;
  const bare: Schedule = { ...board, codes, offsets, micro: [], count, barriers: 0, copies: null };
  const micro = Array.from({ length: flags & STORED }, () => sums(bare, body.column(count)));
  if (!body.over()) return null;
  const schedule = { ...bare, micro };
  const { first, second } = micros(schedule);
  if (first.some((k) => k < 0 || k >= board.n) || second?.some((k) => k < -1 || k >= board.n)) return null;
  return fromSchedule(board, schedule);
}

/** Whether the workbench has a board of these sizes. */
export function isSize(kind: PlacementKind, p: number, m: number, v: number) {
  const within = p >= 1 && p <= MOST.p && m >= 1 && m <= MOST.m && v >= 1 && v <= MOST.v && Number.isInteger(v);
  return within && (kind !== "bidirectional" || (v === 1 && p % 2 === 0 && m % 2 === 0));
}

class Body {
  data: Uint8Array;

  #at = 0;
  constructor(data: Uint8Array) {
    this.data = data;
  }

  varint() {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const [byte] = this.take(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError("a number that is too long");
  }

  take(count: number) {
    if (this.#at + count > this.data.length) throw new RangeError("bytes are missing");
    return this.data.slice(this.#at, (this.#at += count));
  }

  column(count: number) {
    const bytes = this.take(4 * count);
    return Int32Array.from({ length: count }, (_, i) =>
      [0, 1, 2, 3].reduce((sum, plane) => sum | (bytes[plane * count + i] << (8 * plane)), 0),
    );
  }

  over() {
    return this.#at === this.data.length;
  }
}

function varint(number: number): number[] {
  const out = [];
  for (; number > 127; number >>= 7) out.push((number & 127) | 128);
  return [...out, number];
}

/** All low bytes, then all second ones, and so on. */
function planes(column: Int32Array) {
  const n = column.length;
  return Uint8Array.from({ length: 4 * n }, (_, at) => (column[at % n] >> (8 * Math.floor(at / n))) & 255);
}

/** Each number less that of the last op of the same code on its rank. */
function steps({ p, codes, offsets }: Schedule, column: Int32Array) {
  const out = new Int32Array(column.length);
  for (let r = 0; r < p; r++) {
    const last = new Int32Array(256).fill(-1);
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      out[i] = column[i] - last[codes[i]];
      last[codes[i]] = column[i];
    }
  }
  return out;
}

/** The inverse of steps. */
function sums({ p, codes, offsets }: Schedule, column: Int32Array) {
  const out = new Int32Array(column.length);
  for (let r = 0; r < p; r++) {
    const last = new Int32Array(256).fill(-1);
    for (let i = offsets[r]; i < offsets[r + 1]; i++) out[i] = last[codes[i]] += column[i];
  }
  return out;
}
