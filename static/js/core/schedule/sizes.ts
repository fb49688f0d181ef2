// Micro-batches that differ: the size of each, and the order in which they enter. The same as
// backend/schedule/options/sizes.py, bit by bit.
import { LIMITS } from "./spec_tables.ts";
import type { Spec } from "./types.ts";

export const INJECTIONS = ["given", "mountain"];
export const DEALS = ["given", "longest"];
export const MOST_REPLICAS = 512;
const [MOST_SIGMA, MOST_SEED, MOST_SIZE, MOST_TOKENS] = [2, 2 ** 31 - 1, 1e6, 1e9];
const DIGITS = 1000;

/** The size of each of m micro-batches in the order of the data; null for a text that is no rule. */
export function sizesOf(sizes: string | number[], m: number): number[] | null {
  if (typeof sizes !== "string") return sizes;
  const [kind, one, two, lengths, ...more] = sizes.split(":");
  if (more.length) return null;
  if (kind === "lognormal") {
    const [sigma, seed] = [numberUpTo(one, MOST_SIGMA), numberUpTo(two, MOST_SEED)];
    return sigma === null || seed === null || !Number.isInteger(seed) || lengths !== undefined
      ? null
      : lognormal(sigma, seed, m);
  }
  const [alpha, beta] = [numberUpTo(one, MOST_SIZE), numberUpTo(two, MOST_SIZE)];
  const tokens = (lengths ?? "").split(",").map((each) => numberUpTo(each, MOST_TOKENS));
  if (kind !== "tokens" || alpha === null || beta === null) return null;
  const whole = tokens.map((length) => (length === null ? 0 : alpha * length + beta * length * length));
  return whole.every((each) => each > 0) ? ofMeanOne(whole) : null;
}

/** Which micro-batch of the data enters first, second and so on. */
export function entryOrder(sizes: number[], injection: string | number[]): number[] {
  if (typeof injection !== "string") return injection;
  const all = sizes.map((_, micro) => micro);
  if (injection === "given") return all;
  const rising = all.sort((a, b) => sizes[a] - sizes[b]);
  return [...rising.filter((_, at) => at % 2 === 0), ...rising.filter((_, at) => at % 2 === 1).reverse()];
}

/**
 * The sizes of the shown replica's micro-batches in the order in which they enter; null where they are equal and all
 * recompute, or none.
 */
export function entering(spec: Spec): number[] | null {
  const found = ofReplica(spec);
  if (!found) return spec.spared || within(spec) ? Array<number>(spec.m).fill(1) : null;
  return entryOrder(found, spec.injection).map((micro) => found[micro]);
}

/** Of how many chunks a rank keeps all at most, and recomputes the others; 0: of any number. */
export const within = ({ p, v, recompute_at }: Spec) => (recompute_at === "bubble" ? p * v : 0);

/** The same in the order of the data. */
export const ofReplica = (spec: Spec): number[] | null =>
  spec.sizes ? (dealt(spec)?.[spec.replica ?? 0] ?? null) : null;

/**
 * The sizes of each replica's micro-batches, in the order of the data. longest: the longest first, each to the replica
 * with the least work so far that has fewer than m, of equal ones to the first.
 */
export function dealt({ sizes, m, replicas = 1, deal }: Spec): number[][] | null {
  const found = sizes ? sizesOf(sizes, m * replicas) : null;
  if (!found) return null;
  const all = Array.from({ length: replicas }, (_, replica) => replica);
  if (deal !== "longest") return all.map((replica) => found.slice(replica * m, (replica + 1) * m));
  const work = all.map(() => 0);
  const taken: number[][] = all.map(() => []);
  for (const micro of found.map((_, at) => at).sort((a, b) => found[b] - found[a])) {
    let least = -1;
    for (const each of all) if (taken[each].length < m && (least < 0 || work[each] < work[least])) least = each;
    work[least] += found[micro];
    taken[least].push(micro);
  }
  return taken.map((each) => each.sort((a, b) => a - b).map((micro) => found[micro]));
}

/** Whether the sizes of a spec, and what goes with them, are what the server takes. */
export function areSizes({ sizes, fixed, injection, m, replicas, deal, replica }: Spec) {
  const alone = replicas === 1 && deal === "given" && replica === 0;
  if (sizes === null) return fixed === 0 && injection === "given" && alone;
  const many = Number.isInteger(replicas) && replicas > 1 && replicas <= MOST_REPLICAS && m * replicas <= LIMITS.m;
  if (!alone && !(many && DEALS.includes(deal) && Number.isInteger(replica) && replica >= 0 && replica < replicas))
    return false;
  const found = sizesOf(sizes, m * replicas);
  const isOrder =
    typeof injection === "string"
      ? INJECTIONS.includes(injection)
      : injection.length === m && new Set(injection).size === m && injection.every((k) => k >= 0 && k < m);
  return (
    found !== null &&
    found.length === m * replicas &&
    found.every((size) => size >= 1e-4 && size <= MOST_SIZE) &&
    fixed >= 0 &&
    fixed <= 1 &&
    isOrder
  );
}

/** Null for anything but a plain number from 0 to `most`. */
function numberUpTo(text: string | undefined, most: number) {
  const x = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text ?? "") ? Number(text) : NaN;
  return x >= 0 && x <= most ? x : null;
}

/** Sizes of mean 1 whose logarithms are normal. */
function lognormal(sigma: number, seed: number, m: number) {
  const uniform = uniformNumbers(seed, 2 * m);
  return ofMeanOne(
    Array.from({ length: m }, (_, k) => {
      const normal = Math.sqrt(-2 * Math.log(1 - uniform[2 * k])) * Math.cos(2 * Math.PI * uniform[2 * k + 1]);
      return Math.exp(sigma * normal);
    }),
  );
}

function ofMeanOne(whole: number[]) {
  let total = 0;
  for (const each of whole) total += each;
  return whole.map((each) => Math.max(1, Math.floor(((each * whole.length) / total) * DIGITS + 0.5)) / DIGITS);
}

/** Numbers from 0 to below 1, by mulberry32. */
function uniformNumbers(seed: number, count: number) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  });
}
