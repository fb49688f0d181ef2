// Which op makes what, and who waits for it: the dependency rule as links between ops. Knows orders; knows no times.

import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, kindOf, micros, partText, rankOf } from "./ops.js";

/** @import {Schedule} from "./types.js" */
/** @typedef {{forward: Int32Array, gradient: Int32Array, weight: Int32Array}} Makers
 *   flat op index by slot * n + local micro-batch, -1 for none */
/** @typedef {"activation"|"gradient"|"loss"|"own"} Cargo  what an op hands on: a stage's output, its input gradient,
 *   the last stage's own forward, or the own I that a W needs */
/** @typedef {{i: number, cargo: Cargo, hops: number, giver: string, taker: string}} Link
 *   i: the other op; hops: 1 between ranks, else 0; giver, taker: op texts, of a pair the half that is meant */

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
 * @returns {Half[]}
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

/** @typedef {{kind: number, slot: number, k: number}} Half */

/**
 * What an op waits for.
 * @param {Schedule} schedule @param {number} i @returns {Link[]}
 */
export function sources(schedule, i) {
  const { placement, n } = schedule;
  const { forward, gradient } = makers(schedule);
  return halves(schedule, i).flatMap((half) => {
    const { kind, slot, k } = half;
    if (kind === KIND_W) return link(schedule, gradient[slot * n + k], { kind: KIND_I, slot, k }, half, "own", false);
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    if (kind === KIND_F) {
      return from < 0 ? [] : link(schedule, forward[from * n + k], { kind, slot: from, k }, half, "activation", false);
    }
    return from < 0
      ? link(schedule, forward[slot * n + k], { kind: KIND_F, slot, k }, half, "loss", false)
      : link(schedule, gradient[from * n + k], { kind: KIND_B, slot: from, k }, half, "gradient", false);
  });
}

/**
 * What waits for an op.
 * @param {Schedule} schedule @param {number} i @returns {Link[]}
 */
export function targets(schedule, i) {
  const { placement, n } = schedule;
  const { forward, gradient, weight } = makers(schedule);
  return halves(schedule, i).flatMap((half) => {
    const { kind, slot, k } = half;
    if (kind === KIND_W) return [];
    const to = kind === KIND_F ? placement.next[slot] : placement.prev[slot];
    if (kind === KIND_F) {
      return to < 0
        ? link(schedule, gradient[slot * n + k], half, { kind: KIND_B, slot, k }, "loss", true)
        : link(schedule, forward[to * n + k], half, { kind, slot: to, k }, "activation", true);
    }
    const onward = to < 0 ? [] : link(schedule, gradient[to * n + k], half, { kind: KIND_B, slot: to, k }, "gradient", true);
    if (kind !== KIND_I) return onward;
    return [...onward, ...link(schedule, weight[slot * n + k], half, { kind: KIND_W, slot, k }, "own", true)];
  });
}

/**
 * A link to op i, which is the taker (ahead) or the giver; its half is named as a gradient (B) where it may be an I.
 * @param {Schedule} schedule @param {number} i @param {Half} giver @param {Half} taker @param {Cargo} cargo
 * @param {boolean} ahead @returns {Link[]}
 */
function link(schedule, i, giver, taker, cargo, ahead) {
  if (i < 0) return [];
  const { chunks, codes } = schedule;
  const other = ahead ? taker : giver;
  const isI = other.kind === KIND_B && kindOf(codes[i], chunks) === KIND_I;
  /** @param {Half} half */
  const label = (half) => partText(schedule, half.slot, half === other && isI ? KIND_I : half.kind, half.k);
  const hops = Math.floor(giver.slot / chunks) === Math.floor(taker.slot / chunks) ? 0 : 1;
  return [{ i, cargo, hops, giver: label(giver), taker: label(taker) }];
}
