// The costs that ops really have: what the options of a spec make of the costs that were given. The same sums in the
// same order as backend/schedule/options/effective_costs.py, so that times are equal bit by bit. Knows no order.
import { entering, within } from "./sizes.ts";
import { ofStages } from "./per_chunk.ts";
import { BARRIERS, RECOMPUTE } from "./spec_tables.ts";
import type { Costs, Spec } from "./types.ts";

export const LAYERS_A_STAGE = 4; // where layers are redistributed and none were given

/** The stages of a custom placement, with which the text of its order begins, as in "c3-"; null for another one. */
export function customStages({ order }: Spec): number | null {
  const custom = /^c(\d+)-/.exec(order ?? "");
  return custom ? Number(custom[1]) : null;
}

export const stagesOf = (spec: Spec) => customStages(spec) ?? spec.p * spec.v;

/** How often all ranks wait for each other around S and T, for each micro-batch. */
export const barriersOf = (spec: Spec) => BARRIERS[spec.vocabulary] ?? 0;

/** Does the order itself, not only its times, follow from the costs? */
export const shapedByOptions = (spec: Spec) =>
  (barriersOf(spec) > 0 && spec.vocabulary !== "interlaced") || spec.offload !== "none";

/** The time of one op, or copy, of a stage. */
export const share = (cost: number | number[], stage: number, v: number) =>
  typeof cost === "number" ? cost / v : cost[stage];

/** How long before its gradient arrives an op of a stage may begin. */
export const leadOf = ({ lead }: Costs, stage: number, v: number) => (lead === undefined ? 0 : share(lead, stage, v));

/** The natural times of S, T and O, each a device's. */
export function natural(spec: Spec) {
  const [f, i, w] = [spec.costs.F, spec.costs.I, spec.costs.W].map((cost) => device(cost, spec.p));
  return { S: f / 4, T: f / 2, O: (f + i + w) / 2 };
}

/** Every option counted; S, T and O are numbers where ops of that kind exist. */
export function timing(spec: Spec): Costs {
  const sizes = entering(spec);
  const { fixed, spared } = spec;
  return sizes ? { ...meanTiming(spec), sized: { sizes, fixed, spared, within: within(spec) } } : meanTiming(spec);
}

/** The same of a micro-batch of size 1, for which orders are constructed. */
export function meanTiming(spec: Spec): Costs {
  const { costs, p, v, vocabulary } = spec;
  const plain =
    vocabulary === "plain" && costs.S === null && costs.T === null && spec.offload === "none" && spec.layers === null;
  if (plain && spec.recompute === "none" && !spec.frozen) return costs;
  const [f, i, w] = [costs.F, costs.I, costs.W].map((cost) => device(cost, p));
  let { S, T, O } = costs;
  if (vocabulary !== "plain") {
    S ??= f / 4;
    T ??= f / 2;
  }
  if (spec.offload !== "none") {
    O ??= (f + i + w) / 2;
    if (spec.shared_link) O = times(O, 2);
  }
  const head = p * ((S ?? 0) + (T ?? 0));
  const layers = vocabulary === "redistribute" ? fewerOnTheLast(spec, (f + i + w) / v, head) : spec.layers;
  let out: Costs = { ...costs, S, T, O };
  if (layers) {
    const over = (cost: number | number[]) => spread(cost, v, layers);
    out = {
      ...out,
      F: over(out.F),
      I: over(out.I),
      W: over(out.W),
      O: O === null ? null : over(O),
      R: out.R === null ? null : over(out.R),
    };
  }
  out = withRecomputation(out, spec);
  return withoutFrozen(barriersOf(spec) > 0 ? out : withHead(out, spec, S ?? 0, T ?? 0), spec);
}

/** The first stage that is trained: those before it have no backwards. */
export function firstTrained({ frozen }: Spec) {
  const first = (frozen ?? []).findIndex((stage, at) => stage !== at);
  return first < 0 ? (frozen ?? []).length : first;
}

/**
 * No weight gradients of stages that are not trained: their B is the input gradient alone, and before the first trained
 * one there is none. Neither has the spread output layer of a frozen last stage: half of T, or all of it where S has
 * the products of the input gradient.
 */
function withoutFrozen(costs: Costs, spec: Spec): Costs {
  const { frozen } = spec;
  if (!frozen) return costs;
  const first = firstTrained(spec);
  const barriers = barriersOf(spec);
  const shorter = costs.T !== null && barriers > 0 && frozen.includes(stagesOf(spec) - 1);
  return {
    ...costs,
    I: first ? each(costs.I, spec).map((cost, stage) => (stage < first ? 0 : cost)) : costs.I,
    W: each(costs.W, spec).map((cost, stage) => (frozen.includes(stage) ? 0 : cost)),
    T: shorter ? (barriers > 1 ? (costs.T as number) / 2 : 0) : costs.T,
  };
}

/** The layers of each stage in a run: as given, or with fewer on the last, whose output layer takes time too. */
export function runLayers(spec: Spec) {
  const { F, I, W, S, T } = spec.costs;
  if (spec.vocabulary !== "redistribute" || typeof F !== "number" || typeof I !== "number" || typeof W !== "number")
    return spec.layers;
  return fewerOnTheLast(spec, (F + I + W) / spec.v, spec.p * ((S ?? F / 4) + (T ?? F / 2)));
}

/**
 * The layers of each stage so that the slowest is as fast as it can be; the others share what the last one has not.
 * stage: time of a stage with its even share; head: the output layer's.
 */
function fewerOnTheLast(spec: Spec, stage: number, head: number) {
  const stages = stagesOf(spec);
  const total = spec.layers ? spec.layers.reduce((a, b) => a + b, 0) : LAYERS_A_STAGE * stages;
  if (stages === 1) return [total];
  const layer = (stage * stages) / total;
  let best = 0;
  let least = Infinity;
  for (let last = 0; last <= Math.floor(total / stages); last++) {
    const slowest = Math.max(layer * Math.ceil((total - last) / (stages - 1)), layer * last + head);
    if (slowest <= least) {
      best = last;
      least = slowest;
    }
  }
  const each = Math.floor((total - best) / (stages - 1));
  const more = (total - best) % (stages - 1);
  return [...new Array(more).fill(each + 1), ...new Array(stages - 1 - more).fill(each), best];
}

/** A device's whole share. */
function device(cost: number | number[], p: number) {
  if (typeof cost === "number") return cost;
  let total = 0;
  for (const each of cost) total += each;
  return total / p;
}

/** One entry a stage, by its layers. */
function spread(cost: number | number[], v: number, layers: number[]) {
  if (typeof cost !== "number") return cost;
  const total = layers.reduce((a, b) => a + b, 0);
  return layers.map((n) => (cost / v) * ((n * layers.length) / total));
}

const times = (cost: number | number[], factor: number) =>
  typeof cost === "number" ? cost * factor : cost.map((each) => each * factor);

/** One entry a stage. */
const each = (cost: number | number[], spec: Spec): number[] =>
  typeof cost === "number" ? new Array(stagesOf(spec)).fill(cost / spec.v) : cost;

/**
 * With I also what runs again, R or a part of F: a number if all chunks recompute the same of numbers, else a list.
 */
function withRecomputation(costs: Costs, spec: Spec): Costs {
  const { recompute } = spec;
  const { F, I, R } = costs;
  if (recompute === "none") return costs;
  if (Array.isArray(F) !== Array.isArray(I)) throw new Error("with recomputation F and I are both lists or numbers");
  if (typeof recompute === "string" && typeof F === "number" && typeof I === "number" && !Array.isArray(R))
    return again(costs, spec, I + (R ?? RECOMPUTE[recompute].extra * F), R ?? RECOMPUTE[recompute].extra * F);
  const forward = each(F, spec);
  const given = R === null ? null : each(R, spec);
  const more = ofStages(recompute, forward.length).map((mode, stage) =>
    given === null ? RECOMPUTE[mode].extra * forward[stage] : mode === "none" ? 0 : given[stage],
  );
  const whole = each(I, spec).map((i, stage) => i + more[stage]);
  return again(costs, spec, whole, more);
}

/** I with what runs again, which needs no gradient where it runs ahead of it. */
const again = (costs: Costs, spec: Spec, I: number | number[], more: number | number[]): Costs =>
  spec.recompute_at !== "backward" ? { ...costs, I, again: more, lead: more } : { ...costs, I, again: more };

/** The whole output layer on the last stage: S with its F, half of T with its I, half with its W. */
function withHead(costs: Costs, spec: Spec, s: number, t: number): Costs {
  if (s === 0 && t === 0) return costs;
  const { p } = spec;
  const last = (cost: number | number[], more: number) => {
    const out = each(cost, spec).slice();
    out[out.length - 1] += more;
    return out;
  };
  return { ...costs, F: last(costs.F, p * s), I: last(costs.I, (p * t) / 2), W: last(costs.W, (p * t) / 2) };
}
