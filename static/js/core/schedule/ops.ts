// What a code byte means: kind, chunk, micro-batch, text.

import { COPY_LETTERS, copyText, findCopy } from "./copies.ts";
import type { OpRef, Schedule } from "./types.ts";

export const KIND_F = 0;
export const KIND_I = 1;
export const KIND_W = 2;
export const KIND_B = 3;
export const KIND_PAIR = 4;
export const KIND_S = 5;
export const KIND_T = 6;
export const LETTERS = "FIWB?ST"; // by kind; a pair has none

const MAX_PAIR_CHUNKS = 14; // 4 * 14 + 14 * 14 codes, and S and T, still fit a byte; with more chunks there are none

/** Codes a rank can have: the width of every (rank, code) table. */
export const codesPerRank = (chunks: number) => 4 * chunks + (chunks <= MAX_PAIR_CHUNKS ? chunks * chunks + 2 : 0);

export function kindOf(code: number, chunks: number) {
  if (code < 4 * chunks) return (code / chunks) | 0;
  const beyond = code - 4 * chunks - chunks * chunks;
  return beyond < 0 ? KIND_PAIR : KIND_S + beyond;
}

/** The chunk of an op; of a pair, the chunk of its forward half; S and T have none but 0. */
export function chunkOf(code: number, chunks: number) {
  if (code < 4 * chunks) return code % chunks;
  return code < 4 * chunks + chunks * chunks ? ((code - 4 * chunks) / chunks) | 0 : 0;
}

/** Returns the forward's and the backward's chunk. */
export const pairChunks = (code: number, chunks: number): [number, number] => [chunkOf(code, chunks), code % chunks];

/** Where each rank's ops begin, or its copies where i is one. */
export const rowsOf = (schedule: Schedule, i: number) =>
  schedule.copies && i >= schedule.count ? schedule.copies.offsets : schedule.offsets;

/** The rank of a flat index, of an op or of a copy. */
export function rankOf(schedule: Schedule, i: number) {
  const offsets = rowsOf(schedule, i);
  let lo = 0;
  let hi = schedule.p;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (offsets[mid] <= i) lo = mid;
    else hi = mid;
  }
  // Ranks without ops share an offset: the search already ends on the last of them, the one that holds i.
  return lo;
}

export function refOf(schedule: Schedule, i: number): OpRef {
  const rank = rankOf(schedule, i);
  return { rank, index: i - rowsOf(schedule, i)[rank], i };
}

export type Micros = { first: Int32Array; second: Int32Array | null };
const microCache = new WeakMap<Schedule, Micros>();

/** Local micro-batch of every op; second is the backward half of pairs, -1 elsewhere, null without pairs. */
export function micros(schedule: Schedule): Micros {
  let found = microCache.get(schedule);
  if (!found) {
    found =
      schedule.micro.length > 0 ? { first: schedule.micro[0], second: schedule.micro[1] ?? null } : implied(schedule);
    microCache.set(schedule, found);
  }
  return found;
}

/** Note that another schedule has the same ops, and so the same micro-batches. Returns the other one. */
export function shareMicros(schedule: Schedule, other: Schedule): Schedule {
  microCache.set(other, micros(schedule));
  return other;
}

/**
 * The counting rule: a slot's k-th F is its micro-batch k, its k-th gradient (I or B) is k, and its W's take, in order,
 * the micro-batches whose gradient was an I.
 */
function implied(schedule: Schedule): Micros {
  const { p, chunks, codes, offsets, count } = schedule;
  const first = new Int32Array(count);
  // looked up: there may be millions of ops
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOf(code, chunks));
  const chunk = Uint8Array.from({ length: 256 }, (_, code) => chunkOf(code, chunks));
  const there = new Uint8Array(256);
  for (let i = 0; i < count; i++) there[codes[i]] = 1;
  const has = (kind: number) => there.some((is, code) => is === 1 && kinds[code] === kind);
  const second = has(KIND_PAIR) ? new Int32Array(count).fill(-1) : null;
  const late = has(KIND_W);
  for (let r = 0; r < p; r++) {
    const split = late ? deferred(schedule, r, kinds) : [];
    const done = new Int32Array(3 * chunks + 2); // F's, gradients and W's so far, by chunk; then S's and T's
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const code = codes[i];
      const kind = kinds[code];
      const c = chunk[code];
      if (kind === KIND_W) first[i] = split[c][done[2 * chunks + c]++] ?? -1;
      else if (kind === KIND_I || kind === KIND_B) first[i] = done[chunks + c]++;
      else if (kind >= KIND_S) first[i] = done[3 * chunks + kind - KIND_S]++;
      else first[i] = done[c]++;
      if (kind === KIND_PAIR && second) second[i] = done[chunks + (code % chunks)]++;
    }
  }
  return { first, second };
}

/** Per chunk of a rank, the micro-batches whose gradient is an I. kinds: by code. */
function deferred({ chunks, codes, offsets, n }: Schedule, rank: number, kinds: Uint8Array) {
  const split = Array.from({ length: chunks }, () => new Int32Array(n));
  const sizes = new Int32Array(chunks);
  const gradients = new Int32Array(chunks);
  for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
    const kind = kinds[codes[i]];
    const c = codes[i] % chunks;
    if (kind === KIND_I) split[c][sizes[c]++] = gradients[c]++;
    else if (kind === KIND_B || kind === KIND_PAIR) gradients[c]++;
  }
  return split.map((list, c) => list.subarray(0, sizes[c]));
}

/** The number in op text: streams number their micro-batches one after the other. k: local micro-batch. */
export const globalMicro = (schedule: Schedule, slot: number, k: number) =>
  schedule.placement.stream[slot] * schedule.n + k;

export const partText = (schedule: Schedule, slot: number, kind: number, k: number) =>
  `${schedule.placement.stage[slot]}${LETTERS[kind]}${globalMicro(schedule, slot, k)}`;

/** Op text as torch spells it: "2F0", "(0F7;7B3)OVERLAP_F_B"; a copy's in the same manner: "2O0". i: flat index. */
export function opText(schedule: Schedule, i: number) {
  if (i >= schedule.count) return copyText(schedule, i);
  const { chunks, codes } = schedule;
  const base = rankOf(schedule, i) * chunks;
  const kind = kindOf(codes[i], chunks);
  const { first, second } = micros(schedule);
  if (kind !== KIND_PAIR) return partText(schedule, base + chunkOf(codes[i], chunks), kind, first[i]);
  const [f, b] = pairChunks(codes[i], chunks);
  const backward = partText(schedule, base + b, KIND_B, second ? second[i] : -1);
  return `(${partText(schedule, base + f, KIND_F, first[i])};${backward})OVERLAP_F_B`;
}

const PART = /^(\d+)([FIWBSTOR])(\d+)$/;
const PAIR = /^\((\d+F\d+);(\d+B\d+)\)OVERLAP_F_B$/;

/** The op of a text; half of a pair finds the pair. */
export function find(schedule: Schedule, text: string): OpRef | null {
  const pair = PAIR.exec(text.trim());
  const i = findPart(schedule, pair ? pair[1] : text.trim());
  if (i < 0 || (pair && opText(schedule, i) !== text.trim())) return null;
  return refOf(schedule, i);
}

/** Returns flat index, or -1. */
function findPart(schedule: Schedule, text: string): number {
  const match = PART.exec(text.toUpperCase());
  if (!match) return -1;
  const { placement, n, chunks } = schedule;
  if (COPY_LETTERS.includes(match[2])) return findCopy(schedule, Number(match[1]), match[2], Number(match[3]));
  const stream = Math.floor(Number(match[3]) / n);
  const slot = placement.stage.findIndex((s, at) => s === Number(match[1]) && placement.stream[at] === stream);
  if (slot < 0) return -1;
  return scan(
    schedule,
    Math.floor(slot / chunks),
    slot % chunks,
    LETTERS.indexOf(match[2]),
    Number(match[3]) - stream * n,
  );
}

function scan(schedule: Schedule, rank: number, chunk: number, kind: number, k: number) {
  const { chunks, codes, offsets } = schedule;
  const { first, second } = micros(schedule);
  for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
    const code = codes[i];
    if (kindOf(code, chunks) !== KIND_PAIR) {
      if (kindOf(code, chunks) === kind && chunkOf(code, chunks) === chunk && first[i] === k) return i;
    } else if (kind === KIND_F && chunkOf(code, chunks) === chunk && first[i] === k) return i;
    else if (kind === KIND_B && code % chunks === chunk && second && second[i] === k) return i;
  }
  return -1;
}
