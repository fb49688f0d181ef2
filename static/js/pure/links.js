// Which op makes what, and who waits for it: the dependency rule as links between ops. Knows orders; knows no times.

import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, kindOf, micros, rankOf } from "./ops.js";

/** @import {Schedule} from "./types.js" */
/** @typedef {{forward: Int32Array, gradient: Int32Array, weight: Int32Array}} Makers
 *   flat op index by slot * n + local micro-batch, -1 for none */
/** @typedef {"activation"|"gradient"|"loss"|"own"} Cargo  what an op hands on: a stage's output, its input gradient,
 *   the last stage's own forward, or the own I that a W needs */
/** @typedef {{i: number, cargo: Cargo, hops: number, kind: number}} Link
 *   i: the other op; hops: 1 between ranks, else 0; kind: of the half that receives */

/** @type {WeakMap<Schedule, Makers>} */
const cache = new WeakMap();

/** @param {Schedule} schedule @returns {Makers} */
export function makers(schedule) {
  let found = cache.get(schedule);
  if (!found) cache.set(schedule, (found = index(schedule)));
  return found;
}

/** @param {Schedule} schedule @returns {Makers} */
function index(schedule) {
  const { p, chunks, n, codes, offsets } = schedule;
  const { first, second } = micros(schedule);
  const cells = () => new Int32Array(p * chunks * n).fill(-1);
  const out = { forward: cells(), gradient: cells(), weight: cells() };
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const at = (r * chunks + chunkOf(codes[i], chunks)) * n + first[i];
      if (kind === KIND_F || kind === KIND_PAIR) out.forward[at] = i;
      else if (kind === KIND_W) out.weight[at] = i;
      else out.gradient[at] = i;
      if (kind === KIND_PAIR && second) out.gradient[(r * chunks + (codes[i] % chunks)) * n + second[i]] = i;
    }
  }
  return out;
}

/**
 * The halves of an op: one, or a pair's two.
 * @param {Schedule} schedule @param {number} i
 * @returns {{kind: number, slot: number, k: number}[]}
 */
export function halves(schedule, i) {
  const { chunks, codes } = schedule;
  const base = rankOf(schedule, i) * chunks;
  const { first, second } = micros(schedule);
  const kind = kindOf(codes[i], chunks);
  const one = { kind: kind === KIND_PAIR ? KIND_F : kind, slot: base + chunkOf(codes[i], chunks), k: first[i] };
  if (kind !== KIND_PAIR || !second) return [one];
  return [one, { kind: KIND_B, slot: base + (codes[i] % chunks), k: second[i] }];
}

/**
 * What an op waits for.
 * @param {Schedule} schedule @param {number} i @returns {Link[]}
 */
export function sources(schedule, i) {
  const { placement, n } = schedule;
  const { forward, gradient } = makers(schedule);
  return halves(schedule, i).flatMap(({ kind, slot, k }) => {
    if (kind === KIND_W) return link(schedule, gradient[slot * n + k], slot, slot, "own", kind);
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    if (kind === KIND_F) return from < 0 ? [] : link(schedule, forward[from * n + k], from, slot, "activation", kind);
    return from < 0
      ? link(schedule, forward[slot * n + k], slot, slot, "loss", kind)
      : link(schedule, gradient[from * n + k], from, slot, "gradient", kind);
  });
}

/**
 * What waits for an op.
 * @param {Schedule} schedule @param {number} i @returns {Link[]}
 */
export function targets(schedule, i) {
  const { placement, n } = schedule;
  const { forward, gradient, weight } = makers(schedule);
  return halves(schedule, i).flatMap(({ kind, slot, k }) => {
    if (kind === KIND_W) return [];
    const ahead = kind === KIND_F ? placement.next[slot] : placement.prev[slot];
    if (kind === KIND_F) {
      return ahead < 0
        ? link(schedule, gradient[slot * n + k], slot, slot, "loss", KIND_B)
        : link(schedule, forward[ahead * n + k], slot, ahead, "activation", KIND_F);
    }
    const onward = ahead < 0 ? [] : link(schedule, gradient[ahead * n + k], slot, ahead, "gradient", KIND_B);
    return kind === KIND_I ? [...onward, ...link(schedule, weight[slot * n + k], slot, slot, "own", KIND_W)] : onward;
  });
}

/** @param {Schedule} schedule @param {number} i @param {number} from @param {number} to @param {Cargo} cargo
 * @param {number} kind @returns {Link[]} */
function link(schedule, i, from, to, cargo, kind) {
  if (i < 0) return [];
  const { chunks } = schedule;
  return [{ i, cargo, kind, hops: Math.floor(from / chunks) === Math.floor(to / chunks) ? 0 : 1 }];
}
