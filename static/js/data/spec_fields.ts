// The fields of a spec as the controls show them, and which of them mean something to a family.
import { t } from "../core/i18n/language.ts";
import { natural } from "../core/schedule/effective_costs.ts";
import { PER_CHUNK, inWords, withChunks } from "../core/schedule/per_chunk.ts";
import { BARRIERS } from "../core/schedule/spec_tables.ts";
import { readSpecField } from "../core/state/link_fields.ts";
import { SHARE_STOPS, costStops, including, memoryStops, wholeStops } from "../ui/fields/slider_stops.ts";
import type { Family, Spec } from "../core/schedule/types.ts";
import type { FieldOptions } from "../ui/fields/field.ts";

export const COSTS = ["F", "I", "W", "comm", "FB", "S", "T", "O", "R", "wire"];
/** Fields that change the order, not only its times. */
export const SHAPES = ["p", "m", "v", "group"];
/** Fields that mean nothing without backwards. */
const OF_BACKWARDS = ["I", "W", "FB", "T", "O", "R", "w_share", "lifo", "memory", "weights"];
/** Fields that compared schedules share, unless the reader unties them. */
export const SHARED = new Set(["p", "m", "F", "I", "W", "comm", "S", "T", "w_share"]);

export const fieldOf = (spec: Spec, name: string): any => ((COSTS.includes(name) ? spec.costs : spec) as any)[name];

/** The spec with one field changed; with another v, the modes of chunks go with their parts of the model. */
export function withField(spec: Spec, name: string, value: unknown): Spec {
  if (COSTS.includes(name)) return { ...spec, costs: { ...spec.costs, [name]: value } };
  if (name === "v" && typeof value === "number") return withChunks(spec, value);
  if (name === "m" && typeof value === "number") return { ...withCount(spec, value), m: value };
  if (name === "streams" && value === "none") return inAir(spec);
  if (name === "sizes" && value === null)
    return { ...spec, sizes: null, fixed: 0, injection: "given", replicas: 1, deal: "given", replica: 0 };
  if (name === "replicas" && typeof value === "number") return withReplicas(spec, value);
  const next = { ...spec, [name]: value };
  const spelled = PER_CHUNK.includes(name) ? inWords(next) : next;
  if (spelled.recompute === "none") return { ...spelled, recompute_at: "backward", spared: 0 };
  const again = spelled.recompute_at === "bubble" && !takesBubble(spelled, null) ? "ahead" : spelled.recompute_at;
  return {
    ...spelled,
    recompute_at: again,
    spared: spelled.offload !== "none" || again === "bubble" ? 0 : spelled.spared,
  };
}

/** Whether only what exceeds p micro-batches may be recomputed. */
export const takesBubble = (spec: Spec, family: Family | null) =>
  typeof spec.recompute === "string" && spec.offload === "none" && !family?.searched;

/** Without streams, and without what depends on them. */
const inAir = (spec: Spec): Spec => ({
  ...spec,
  streams: "none",
  receives: "torch",
  costs: { ...spec.costs, wire: 0 },
});

/** Other micro-batches: sizes that are listed begin again after the last, and enter as given. */
function withCount(spec: Spec, m: number): Spec {
  const { injection } = spec;
  return { ...spec, sizes: listed(spec, m * spec.replicas), injection: Array.isArray(injection) ? "given" : injection };
}

const withReplicas = (spec: Spec, replicas: number): Spec => ({
  ...spec,
  replicas,
  sizes: listed(spec, spec.m * replicas),
  deal: replicas > 1 ? spec.deal : "given",
  replica: Math.min(spec.replica, replicas - 1),
});

const listed = ({ sizes }: Spec, count: number) =>
  Array.isArray(sizes) ? Array.from({ length: count }, (_, k) => sizes[k % sizes.length]) : sizes;

/** The names of the fields that mean something here: a limit of memory that was set is held against any family. */
export function applicable(family: Family | null, spec: Spec) {
  const names = new Set(["p", "m", "F", "I", "W", "comm"]);
  if (spec.memory !== null) names.add("memory");
  if (spec.costs.FB !== null) names.add("FB");
  if (!family) return names;
  if (family.v.max > family.v.min) names.add("v");
  if (family.backward !== "full") names.add("w_share");
  for (const name of family.fields) names.add(name);
  if (spec.vocabulary !== "plain" || spec.costs.S !== null || spec.costs.T !== null) names.add("S").add("T");
  if (spec.offload !== "none") names.add("O");
  if (family.asynchronous) names.add("weights");
  if (spec.streams !== "none") names.add("wire");
  if (
    spec.recompute !== "none" &&
    spec.recompute_at !== "bubble" &&
    takesBubble({ ...spec, recompute: "full" }, family)
  )
    names.add("spared");
  names.add("layers");
  names.add("sizes");
  if (spec.sizes !== null) names.add("fixed").add("replicas");
  if (spec.replicas > 1) names.add("replica");
  if (spec.forward_only) for (const name of OF_BACKWARDS) names.delete(name);
  return names;
}

/** The spec with or without its backwards; without them, also without the options that act on them. */
export const withoutBackwards = (spec: Spec, forwardOnly: boolean): Spec =>
  forwardOnly
    ? {
        ...spec,
        forward_only: true,
        lifo: false,
        recompute: "none",
        recompute_at: "backward",
        spared: 0,
        vocabulary: "plain",
        offload: "none",
        shared_link: false,
        frozen: null,
      }
    : { ...spec, forward_only: false };

/** The same sizes in another family. */
export function moveTo(spec: Spec, from: Family | null, to: Family): Spec {
  const keeps = from !== null && from.v.max > 1 && spec.v >= to.v.min && spec.v <= to.v.max;
  const takes = (name: string) => to.fields.includes(name);
  const v = keeps ? spec.v : to.v.default;
  const sized = withChunks(spec, v);
  const offload = takes("offload") ? sized.offload : "none";
  const spread = BARRIERS[spec.vocabulary] === 0 || to.vocabulary.includes(spec.vocabulary);
  return {
    ...sized,
    family: to.name,
    group: takes("group") ? spec.group : null,
    lifo: takes("lifo") && spec.lifo,
    forward_only: takes("forward_only") && spec.forward_only,
    frozen: takes("frozen") && v === spec.v ? spec.frozen : null,
    effort: null,
    seed: takes("seed") ? spec.seed : 1,
    order: null,
    vocabulary: spread ? spec.vocabulary : "plain",
    offload,
    recompute_at: to.searched && spec.recompute_at === "bubble" ? "ahead" : spec.recompute_at,
    spared: to.searched || offload !== "none" ? 0 : sized.spared,
    shared_link: offload !== "none" && spec.shared_link,
    layers: v === spec.v ? spec.layers : null,
    weights: to.asynchronous ? spec.weights : null,
    costs: { ...spec.costs, FB: takes("FB") ? spec.costs.FB : null },
  };
}

/** Lists by stage, which are typed. */
const stageLists = (): FieldOptions[] => [
  {
    name: "layers",
    symbol: t("layers"),
    label: t(
      "Layers of each stage, separated by commas, or Megatron-LM's layout such as Et*3|(tt|)*29,m|L; one number: the " +
        "same for every stage; empty: equal stages",
    ),
    layout: true,
    stops: () => [0],
    step: 1,
    empty: t("equal stages"),
    list: true,
    boxOnly: true,
  },
  {
    name: "frozen",
    symbol: t("frozen"),
    label: t("Stages that are not trained: their numbers, separated by commas; empty: none"),
    stops: () => [0],
    step: 1,
    empty: t("none"),
    list: true,
    boxOnly: true,
  },
];

/** Of the chunks that a rank holds at once. */
const sparedField = (spec: () => Spec): FieldOptions => ({
  name: "spared",
  symbol: t("Spared"),
  label: t("Of the micro-batches that a device holds at once, how many keep all and recompute nothing"),
  stops: () => including(wholeStops(0, spec().p * spec().v), spec().spared),
  step: 1,
  stacked: true,
});

/** Micro-batches that differ. */
const sizeFields = (spec: () => Spec): FieldOptions[] => [
  {
    name: "sizes",
    symbol: t("sizes"),
    label: t(
      "Sizes of micro-batches: one number each, separated by commas, or a rule such as lognormal:0.3:1; empty: " +
        "all alike",
    ),
    read: (text) => readSpecField("sizes", text),
    stops: () => [0],
    step: 1,
    empty: t("all alike"),
    list: true,
    boxOnly: true,
  },
  {
    name: "fixed",
    symbol: t("Fixed part of an op"),
    label: t("Part of an op that takes as long for a small micro-batch as for a large one"),
    stops: () => including(SHARE_STOPS, spec().fixed),
    step: 0.05,
    stacked: true,
    percent: true,
  },
  {
    name: "replicas",
    symbol: t("Replicas"),
    label: t("Data-parallel replicas, each with micro-batches of its own; they wait for the slowest"),
    stops: () => including(wholeStops(1, 64), spec().replicas),
    step: 1,
    stacked: true,
  },
  {
    name: "replica",
    symbol: t("Shown"),
    label: t("The replica that the timeline shows"),
    stops: () => wholeStops(0, spec().replicas - 1),
    step: 1,
    stacked: true,
  },
];

export function fieldList(spec: () => Spec, family: () => Family | null): FieldOptions[] {
  const cost = (name: string, symbol: string, caption: string, label: string) => ({
    name,
    symbol,
    caption,
    label,
    step: 0.1,
    list: name !== "comm" && name !== "FB",
    stops: () => costStops(fieldOf(spec(), name)),
  });
  /** A cost whose slider, where its box is empty, shows the default. */
  const optionCost = (name: "S" | "T" | "O", symbol: string, label: string) => ({
    name,
    symbol,
    label,
    step: 0.1,
    stops: () => costStops(fieldOf(spec(), name) ?? natural(spec())[name]),
    rest: () => natural(spec())[name],
  });
  const chunks = () => wholeStops(family()?.v.min ?? 1, Math.min(16, family()?.v.max ?? 16));
  return [
    {
      name: "p",
      symbol: "p",
      caption: t("Devices p"),
      stacked: true,
      label: t("Devices (pipeline ranks)"),
      stops: () => including(wholeStops(1, 64), spec().p),
      step: 1,
    },
    {
      name: "m",
      symbol: "m",
      caption: t("Micro-batches m"),
      stacked: true,
      label: t("Micro-batches in a step"),
      stops: () => including(wholeStops(1, 512), spec().m),
      step: 1,
    },
    {
      name: "v",
      symbol: "v",
      caption: t("Chunks v"),
      stacked: true,
      label: t("Model chunks on each device"),
      stops: () => including(chunks(), spec().v),
      step: 1,
    },
    {
      name: "group",
      symbol: "g",
      caption: t("Group g"),
      stacked: true,
      label: t("Micro-batches that pass through the chunks as a group; empty: torch's rule"),
      stops: () => including(wholeStops(1, Math.max(1, spec().m)), spec().group),
      step: 1,
      empty: t("auto"),
    },
    cost("F", "f", t("Forward F"), t("Forward")),
    cost("I", "i", t("Input grad I"), t("Input gradient")),
    cost("W", "w", t("Weight grad W"), t("Weight gradient")),
    { ...cost("FB", "f&b", t("Pair F & B"), t("Overlapped forward and backward; empty: f + i + w")), empty: "f+i+w" },
    cost("comm", "c", t("Hop (p2p) c"), t("Communication, one hop between devices")),
    {
      name: "wire",
      symbol: t("wire"),
      label: t("Time for which a message occupies its streams"),
      stops: () => costStops(spec().costs.wire),
      step: 0.1,
    },
    {
      name: "memory",
      symbol: t("Memory limit"),
      label: t("Memory limit of a device, in one micro-batch's activations; empty: the schedule's own"),
      stops: () => including(memoryStops(spec().p), spec().memory),
      step: 0.5,
      empty: t("its own"),
      stacked: true,
    },
    {
      ...optionCost(
        "S",
        "s",
        t("A device's shard of the output layer; empty: f / 4 where the output layer is sharded"),
      ),
      empty: t("auto"),
    },
    {
      ...optionCost("T", "t", t("The gradients of that shard; empty: f / 2 where the output layer is sharded")),
      empty: t("auto"),
    },
    {
      ...optionCost(
        "O",
        t("copy"),
        t("One copy of a device's activations of a micro-batch, out or back; empty: (f + i + w) / 2, which is k = 1"),
      ),
      empty: "k = 1",
    },
    {
      name: "weights",
      symbol: t("stash"),
      label: t("Memory of a stashed weight version, in one micro-batch's activations; empty: not counted"),
      stops: () => including(costStops(spec().weights), spec().weights),
      step: 0.1,
      empty: t("none"),
    },
    ...stageLists(),
    sparedField(spec),
    ...sizeFields(spec),
    {
      name: "w_share",
      symbol: t("Activation kept until W"),
      label: t("Part of an activation that is kept until the weight gradient W; it changes memory, not times"),
      stops: () => including(SHARE_STOPS, spec().w_share),
      step: 0.05,
      stacked: true,
      percent: true,
    },
  ];
}
