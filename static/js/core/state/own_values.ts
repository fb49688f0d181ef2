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
    hint: t("of all activated experts together"),
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
  {
    name: "parameters",
    label: t("Parameters"),
    called: t("Active parameters"),
    unit: t("M/layer"),
    scale: 1e6,
    empty: t("shape"),
    hint: t("with experts, of those activated"),
  },
  {
    name: "stored",
    label: t("– stored"),
    called: t("Stored parameters"),
    unit: t("M/layer"),
    scale: 1e6,
    empty: t("active"),
    hint: t("of all experts"),
  },
];

export const machineFields = (): OwnField[] => [
  { name: "flops", label: t("Peak rate"), unit: "TFLOP/s", scale: 1e12, hint: t("dense, as trained") },
  {
    name: "efficiency",
    label: t("Efficiency"),
    unit: "%",
    scale: 0.01,
    hint: t("share of the peak rate that is reached"),
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
