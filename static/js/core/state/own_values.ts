// The numbers of a model or machine of one's own: their names and units for people, and reading what was typed.
import { t } from "../i18n/language.ts";
import { formatCount } from "../i18n/numbers.ts";

/** In the server's units. */
export type Bounds = [number, number];
export type OwnField = {
  name: string; // the server's
  label: string;
  called?: string; // in a sentence, if the label alone is not clear
  unit?: string;
  scale?: number; // one of this unit in the server's
  whole?: boolean;
  empty?: string; // the meaning of an empty box, where it may be empty
  hint?: string;
};

export const modelFields = (): OwnField[] => [
  { name: "layers", label: t("Layers"), whole: true },
  { name: "hidden", label: t("Hidden size"), whole: true },
  { name: "attention_heads", label: t("Heads"), called: t("Attention heads"), whole: true },
  {
    name: "kv_heads",
    label: t("KV heads"),
    called: t("Key/value heads"),
    whole: true,
    empty: t("as heads"),
    hint: t("a divisor of the attention heads"),
  },
  {
    name: "ffn",
    label: t("FFN size"),
    called: t("Feed-forward size"),
    whole: true,
    empty: t("4 × hidden"),
    hint: t("of a dense layer"),
  },
  {
    name: "head_width",
    label: t("Head width"),
    whole: true,
    empty: t("hidden ÷ heads"),
    hint: t("of one attention head"),
  },
  { name: "vocabulary", label: t("Vocabulary"), unit: t("tokens"), whole: true },
  { name: "sequence", label: t("Sequence"), unit: t("tokens"), whole: true },
  {
    name: "micro_batch",
    label: t("Micro-batch"),
    unit: t("seq."),
    whole: true,
    hint: t("sequences in one micro-batch"),
  },
];

export const expertFields = (): OwnField[] => [
  { name: "experts", label: t("Experts"), whole: true, empty: t("none"), hint: t("of a layer, without shared ones") },
  { name: "experts_per_token", label: t("– per token"), called: t("Experts per token"), whole: true },
  { name: "shared_experts", label: t("– shared"), called: t("Shared experts"), whole: true },
  { name: "expert_ffn", label: t("– FFN size"), called: t("FFN size of an expert"), whole: true, empty: t("as FFN") },
  { name: "capacity", label: t("– capacity"), called: t("Capacity factor"), hint: t("filled room over the tokens") },
  {
    name: "dense_layers",
    label: t("Dense layers"),
    whole: true,
    hint: t("the first layers, which have no experts"),
  },
  {
    name: "mtp",
    label: t("MTP modules"),
    called: t("Multi-token prediction modules"),
    whole: true,
    hint: t("a layer and the output layer each, on the last stage"),
  },
  {
    name: "kv_rank",
    label: t("KV latent"),
    called: t("Latent of keys and values"),
    whole: true,
    empty: t("none"),
    hint: t("multi-head latent attention; head width is then that of keys without position"),
  },
  { name: "query_rank", label: t("Query latent"), whole: true, empty: t("none") },
  { name: "rope_width", label: t("RoPE width"), whole: true, hint: t("of the part of a key with position") },
  { name: "value_width", label: t("Value width"), whole: true, empty: t("head width") },
];

export const sharedFields = (): OwnField[] => [
  {
    name: "context",
    label: t("Context (CP)"),
    called: t("Context parallel"),
    whole: true,
    hint: t("devices that share each sequence"),
  },
  {
    name: "expert",
    label: t("Expert (EP)"),
    called: t("Expert parallel"),
    whole: true,
    hint: t("devices that share the experts of a layer; divides tensor × context × data"),
  },
  { name: "weight_bytes", label: t("Weights"), unit: t("B/param."), hint: t("bytes of a parameter") },
  {
    name: "gradient_bytes",
    label: t("Gradients"),
    unit: t("B/param."),
    hint: t("4: accumulated in float32; 2: in bfloat16"),
  },
  {
    name: "optimizer_bytes",
    label: t("Optimizer"),
    unit: t("B/param."),
    hint: t("12: float32 weights and Adam’s two moments"),
  },
  {
    name: "reserve",
    label: t("Reserve"),
    unit: "GB",
    scale: 1e9,
    hint: t("buffers of communication, gaps of the allocator, the device’s own context"),
  },
  {
    name: "calibration",
    label: t("Calibration"),
    hint: t("a measured step over the estimated one; multiplies all times of compute"),
  },
];

export const machineFields = (): OwnField[] => [
  { name: "flops", label: t("Peak rate"), unit: "TFLOP/s", scale: 1e12, hint: t("dense, as trained") },
  {
    name: "efficiency",
    label: t("Efficiency"),
    unit: "%",
    scale: 0.01,
    empty: t("by shape"),
    hint: t("share of the peak rate that is reached; empty: from the shapes of the matrix products"),
  },
  { name: "fp8_flops", label: t("FP8 rate"), unit: "TFLOP/s", scale: 1e12, hint: t("0: none") },
  {
    name: "product_share",
    label: t("Products"),
    unit: "%",
    scale: 0.01,
    hint: t("share of the peak rate that large matrix products reach"),
  },
  {
    name: "core_share",
    label: t("Attention"),
    unit: "%",
    scale: 0.01,
    hint: t("share of the peak rate that the core of the attention reaches"),
  },
  { name: "memory", label: t("Memory"), unit: "GB", scale: 1e9 },
  {
    name: "hbm_bandwidth",
    label: t("HBM"),
    called: t("Memory bandwidth"),
    unit: "GB/s",
    scale: 1e9,
    hint: t("of a device"),
  },
  { name: "per_node", label: t("Node"), unit: t("devices"), whole: true, hint: t("devices that the fast links join") },
  {
    name: "intra_bandwidth",
    label: t("Intra-node"),
    called: t("Link inside a node"),
    unit: "GB/s",
    scale: 1e9,
    hint: t("one direction of it"),
  },
  {
    name: "intra_latency",
    label: t("– latency"),
    called: t("Latency inside a node"),
    unit: "µs",
    scale: 1e-6,
    hint: t("of a message"),
  },
  {
    name: "inter_bandwidth",
    label: t("Inter-node"),
    called: t("Link between nodes"),
    unit: "GB/s",
    scale: 1e9,
    hint: t("one direction of it"),
  },
  {
    name: "inter_latency",
    label: t("– latency"),
    called: t("Latency between nodes"),
    unit: "µs",
    scale: 1e-6,
    hint: t("of a message"),
  },
  { name: "nics", label: t("Adapters"), unit: t("per node"), whole: true, empty: t("as devices") },
  {
    name: "host_bandwidth",
    label: t("Host"),
    called: t("Link to host memory"),
    unit: "GB/s",
    scale: 1e9,
    hint: t("one direction; for offload"),
  },
];

export const called = (field: OwnField) => field.called ?? field.label;

/** Twelve digits: more are only the traces of a unit's conversion. */
const clean = (x: number) => Number(x.toPrecision(12));

/** A value as its box shows it. */
export const shown = ({ scale = 1 }: OwnField, value: number | null | undefined) =>
  value === null || value === undefined ? "" : String(clean(value / scale));

/** "1 to 4,096 TFLOP/s". */
export function range({ scale = 1, unit, whole }: OwnField, bounds: Bounds) {
  const [low, high] = bounds.map((bound) => (whole ? formatCount(bound) : people(clean(bound / scale))));
  return unit ? t("{low} to {high} {unit}", { low, high, unit }) : t("{low} to {high}", { low, high });
}

/**
 * What a person means by a text: a value, or what is wrong and the nearest legal value (undefined where none is nearer
 * than what was there).
 */
export function read(
  field: OwnField,
  text: string,
  bounds: Bounds,
): { value: number | null } | { message: string; nearest: number | undefined } {
  const { scale = 1, whole, empty } = field;
  const trimmed = text.trim();
  if (trimmed === "" && empty !== undefined) return { value: null };
  const typed = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain(trimmed)) ? Number(plain(trimmed)) : NaN;
  const kind = whole ? t("a whole number") : t("a number");
  if (!Number.isFinite(typed))
    return {
      message: t("{name} must be {kind}, {range}", { name: called(field), kind, range: range(field, bounds) }),
      nearest: undefined,
    };
  const value = clean(typed * scale);
  const [low, high] = bounds;
  if (value < low || value > high)
    return {
      message: t("{name} must be {range}", { name: called(field), range: range(field, bounds) }),
      nearest: value < low ? low : high,
    };
  if (whole && !Number.isInteger(value))
    return {
      message: t("{name} must be {kind}", { name: called(field), kind }),
      nearest: Math.min(Math.max(Math.round(value), low), high),
    };
  return { value };
}

/** "128,000" and "128 000" are 128000. */
const plain = (text: string) =>
  /^\d{1,3}([ ,\u00a0\u202f]\d{3})+(\.\d+)?$/.test(text) ? text.replace(/[ ,\u00a0\u202f]/g, "") : text;

function people(x: number) {
  if (x !== 0 && (x >= 1e7 || x < 1e-3)) {
    const [digits, power] = x.toExponential().split("e");
    const tens = `10${[...power.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
    return digits === "1" ? tens : `${Number(Number(digits).toPrecision(3))} × ${tens}`;
  }
  return formatCount(x);
}
