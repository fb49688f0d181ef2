// Which forwards run again where only some do, and in front of which op of their rank each of them runs again. The same
// as backend/schedule/simulation/recomputation.py.
import { memoized } from "../memoized.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, kindOf, micros } from "./ops.ts";
import type { Schedule, Sized } from "./types.ts";

/**
 * keeps: of each op, whether it (1), and of a pair its backward (2, of others the same), are of a forward that keeps
 * all; before: where an op is the backward of a forward that runs again, the op in front of which it does, else -1.
 */
export type Recomputation = { keeps: Uint8Array; before: Int32Array };

const knownOf = memoized((_: Schedule) => new Map<string, Recomputation>());

/** What runs again, where that is not all; null where it is. */
export function recomputation(schedule: Schedule, { spared, within }: Pick<Sized, "spared" | "within">) {
  if (!spared && !within) return null;
  const [known, key] = [knownOf(schedule), `${spared} ${within}`];
  const found = known.get(key) ?? find(schedule, spared ?? 0, within ?? 0);
  known.set(key, found);
  return found;
}

/**
 * The ops of a rank, from index low to high: the activations that each makes (-1: none), those that a backward needs
 * (-1: it is none), and 1 where it frees some; due: the backward of each.
 */
type Row = { low: number; high: number; makes: Int32Array; needs: Int32Array; frees: Uint8Array; due: Int32Array };

function find(schedule: Schedule, spared: number, within: number): Recomputation {
  const { p, offsets, count } = schedule;
  const { own, ...columns } = columnsOf(schedule);
  const { needs, due } = columns;
  const again = new Uint8Array(due.length); // by activations, as own, makes and needs
  const before = needs.map((cell, i) => (cell < 0 ? -1 : i));
  for (let r = 0; r < p; r++) {
    const row = { ...columns, low: offsets[r], high: offsets[r + 1] };
    const beyond = within ? beyondLimit(row, within) : notSpared(row, spared);
    for (const cell of beyond) again[cell] = 1;
    if (within) for (const [cell, at] of inTheDrain(row, beyond, within)) before[due[cell]] = at;
  }
  const keeps = Uint8Array.from(
    own,
    (cell, i) => (again[cell] ? 0 : 1) + (again[needs[i] < 0 ? cell : needs[i]] ? 0 : 2),
  );
  for (let i = 0; i < count; i++) if (keeps[i] & 2) before[i] = -1;
  return { keeps, before };
}

function columnsOf({ p, chunks, n, codes, offsets, count, ...rest }: Schedule) {
  const { first, second } = micros({ p, chunks, n, codes, offsets, count, ...rest });
  const [own, makes, needs] = [0, 0, 0].map(() => new Int32Array(count).fill(-1));
  const frees = new Uint8Array(count);
  const due = new Int32Array(p * chunks * n).fill(-1);
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const cell = (chunk: number, k: number) => (r * chunks + chunk) * n + k;
      own[i] = cell(chunkOf(codes[i], chunks), first[i]);
      if (kind === KIND_F || kind === KIND_PAIR) makes[i] = own[i];
      if (kind === KIND_I || kind === KIND_B) needs[i] = own[i];
      if (kind === KIND_PAIR && second) needs[i] = cell(codes[i] % chunks, second[i]);
      if (needs[i] >= 0) due[needs[i]] = i;
      frees[i] = kind === KIND_W || kind === KIND_B || kind === KIND_PAIR ? 1 : 0;
    }
  }
  return { own, makes, needs, frees, due };
}

/** All but, of as many forwards in a row as the rank holds chunks at most, the first `count`. */
function notSpared({ low, high, makes, frees, due }: Row, count: number) {
  const made: number[] = [];
  let held = 0;
  let most = 1;
  for (let i = low; i < high; i++) {
    if (makes[i] >= 0 && due[makes[i]] >= 0) {
      made.push(makes[i]);
      most = Math.max(most, ++held);
    }
    held -= frees[i];
  }
  return made.filter((_, at) => at % most >= count);
}

/**
 * As few as let the rank keep the others within a limit, by their backwards: where an op would exceed it, those go
 * whose backward is furthest.
 */
function beyondLimit({ low, high, makes, needs, frees, due }: Row, limit: number) {
  const kept: number[] = []; // by their backwards
  const again = new Set<number>();
  let level = 0;
  for (let i = low; i < high; i++) {
    const made = makes[i];
    if (made >= 0 && due[made] >= 0) {
      let at = kept.length;
      while (at > 0 && due[kept[at - 1]] > due[made]) at--;
      kept.splice(at, 0, made);
      level++;
    }
    if (needs[i] >= 0 && again.has(needs[i])) level++;
    for (; level > limit && kept.length && due[kept[kept.length - 1]] > i; level--) again.add(kept.pop() as number);
    level -= frees[i];
  }
  return [...again].sort((a, b) => due[a] - due[b]);
}

/**
 * Which run again before it is their backward's turn, and in front of which op: once the rank has run its last forward
 * it waits for gradients, and runs one forward again before each for which there is room.
 */
function inTheDrain({ low, high, makes, needs, frees, due }: Row, again: number[], limit: number) {
  const left = new Set(again);
  const moved: [number, number][] = [];
  let last = high - 1;
  while (last > low && makes[last] < 0) last--;
  let level = 0;
  for (let i = low; i < high; i++) {
    if (makes[i] >= 0 && due[makes[i]] >= 0 && !left.has(makes[i])) level++;
    if (left.delete(needs[i])) level++;
    else if (needs[i] >= 0 && i > last && left.size && level < limit) {
      const [each] = left;
      left.delete(each);
      moved.push([each, i]);
      level++;
    }
    level -= frees[i];
  }
  return moved;
}
