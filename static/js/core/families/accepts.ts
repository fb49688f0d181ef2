// Whether a family surely takes the costs and options of a spec, so that the page can construct its order without the
// server. What is not sure is for the server to answer or to refuse, with its reason.
import { CONSTRUCTED } from "./construct.ts";
import { isLastFirst, ofSizes } from "./table.ts";
import { areSizes } from "../schedule/sizes.ts";
import { barriersOf } from "../schedule/effective_costs.ts";
import { codesPerRank } from "../schedule/ops.ts";
import { offloadOfChunks, ofStages } from "../schedule/per_chunk.ts";
import { BARRIERS, LIMITS, OFFLOAD, OFFLOAD_OF_CHUNK, RECOMPUTE, STREAMS } from "../schedule/spec_tables.ts";
import type { Constructed, Modes, Spec } from "../schedule/types.ts";

const MOST_TIME = 1e9;
const LEAST_MEMORY = 1e-3;
const MOST_LAYERS = 10_000; // of a stage
const MOST_SPARED = 1_000_000;

/**
 * Whether the page constructs the order of a spec, or refuses its sizes (legal.ts); the server leaves out the ops of
 * frozen stages.
 */
export function isConstructed(spec: Spec) {
  const family = Object.hasOwn(CONSTRUCTED, spec.family) && !spec.frozen ? CONSTRUCTED[spec.family] : null;
  return family !== null && hasValues(spec) && fitsStages(spec, family) && goTogether(spec, family);
}

const isWhole = (x: unknown, least: number, most: number) => Number.isInteger(x) && isTime(x, least, most);

const isTime = (x: unknown, least = 0, most: number = MOST_TIME) => typeof x === "number" && x >= least && x <= most;

/** Whether each field is in its range by itself. */
function hasValues(spec: Spec) {
  const { p, m, v, group, memory, w_share, weights, recompute, offload, vocabulary, layers, costs } = spec;
  const { F, I, W, comm, FB, S, T, O } = costs;
  const times = [F, I, W].flatMap((cost) => (Array.isArray(cost) && cost.length ? cost : [cost]));
  const areModes = (modes: Modes, words: string[], ofChunk: string[]) =>
    typeof modes === "string"
      ? words.includes(modes)
      : modes.length === v && modes.every((mode) => ofChunk.includes(mode));
  return (
    isWhole(p, 1, LIMITS.p) &&
    isWhole(m, 1, LIMITS.m) &&
    isWhole(v, 1, LIMITS.v) &&
    (group === null || isWhole(group, 1, LIMITS.m)) &&
    (memory === null || isTime(memory, LEAST_MEMORY)) &&
    isTime(w_share, 0, 1) &&
    (weights === null || isTime(weights)) &&
    [...times, comm].every((time) => isTime(time)) &&
    [FB, S, T, O].every((time) => time === null || isTime(time)) &&
    areModes(recompute, Object.keys(RECOMPUTE), Object.keys(RECOMPUTE)) &&
    (spec.recompute_at === "backward" || recompute !== "none") &&
    (spec.recompute_at !== "bubble" || (typeof recompute === "string" && offload === "none" && !spec.spared)) &&
    (spec.spared === 0 || (isWhole(spec.spared, 1, MOST_SPARED) && recompute !== "none" && offload === "none")) &&
    areModes(offload, OFFLOAD, OFFLOAD_OF_CHUNK) &&
    areSizes(spec) &&
    areStreams(spec) &&
    Object.hasOwn(BARRIERS, vocabulary) &&
    (layers === null || (layers.every((each) => isWhole(each, 0, MOST_LAYERS)) && layers.some((each) => each > 0)))
  );
}

/** Whether lists have an entry for each stage, and the order has no more ops than it may. */
function fitsStages(spec: Spec, family: Constructed) {
  const { p, v, layers, costs, vocabulary, recompute } = spec;
  const stages = family.placement === "bidirectional" ? p : p * v;
  const lists = [costs.F, costs.I, costs.W].filter((cost) => Array.isArray(cost));
  const spreads = layers !== null || vocabulary === "redistribute";
  return (
    lists.every((cost) => cost.length === stages) &&
    (lists.length === 0 || !spreads) &&
    (layers === null || layers.length === stages) &&
    (recompute === "none" || Array.isArray(costs.F) === Array.isArray(costs.I)) &&
    opCount(spec, family) <= mostOps(spec, family)
  );
}

/** Held-back receives may deadlock: the server looks. */
const areStreams = ({ streams, receives, costs }: Spec) =>
  STREAMS.includes(streams) &&
  (streams === "none" ? receives === "torch" && costs.wire === 0 : receives === "torch" || receives === "placed") &&
  isTime(costs.wire);

function opCount(spec: Spec, { ops, backward }: Constructed) {
  const each = spec.p * spec.m * spec.v;
  if (spec.forward_only) return each;
  const own = ops === null ? (backward === "full" ? 2 : 3) * each : ofSizes(ops)(spec);
  return own + (barriersOf(spec) ? 2 * spec.p * spec.m : 0);
}

/** Fewer where ops are placed one by one, by costs or with the number of a micro-batch. */
function mostOps(spec: Spec, { shaped_by_costs, table }: Constructed) {
  const numbered = table !== null && isLastFirst(table, spec);
  const placed = shaped_by_costs || numbered || barriersOf(spec) > 0 || spec.offload !== "none";
  return placed ? LIMITS.placed_ops : LIMITS.ops;
}

/** Whether options go with the family and with each other. */
function goTogether(spec: Spec, { fields, vocabulary: taken, asynchronous }: Constructed) {
  const { p, v, group, lifo, forward_only, effort, seed, order, recompute, vocabulary, offload, shared_link } = spec;
  const spread = barriersOf(spec) > 0;
  const takes = (name: string) => fields.includes(name);
  const again = ofStages(recompute, v);
  const copies = offloadOfChunks(offload, v);
  return (
    (group === null || takes("group")) &&
    (!lifo || takes("lifo")) &&
    effort === null &&
    seed === 1 &&
    order === null &&
    (spec.weights === null || asynchronous) &&
    (spec.costs.FB === null ||
      (takes("FB") && recompute === "none" && vocabulary === "plain" && spec.layers === null)) &&
    (!forward_only ||
      (takes("forward_only") && !lifo && recompute === "none" && vocabulary === "plain" && offload === "none")) &&
    (!spread || (taken.includes(vocabulary) && codesPerRank(v) > 4 * v && !lifo)) &&
    (offload === "none" || (takes("offload") && !spread)) &&
    copies.every((mode, chunk) => mode === "none" || again[chunk] !== "full") &&
    (!shared_link || (offload !== "none" && p % 2 === 0))
  );
}
