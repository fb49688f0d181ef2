// The numbers of a model or machine of one's own: their names and units for people, and reading what was typed.
// Knows no preset and no page; the bounds are the server's.

/** @typedef {[number, number]} Bounds  in the server's units */
/**
 * @typedef {object} OwnField
 * @property {string} name      the server's
 * @property {string} label
 * @property {string} [called]  in a sentence, where the label alone says too little
 * @property {string} [unit]
 * @property {number} [scale]   one of this unit in the server's
 * @property {boolean} [whole]
 * @property {string} [empty]   what an empty box stands for, where it may be left empty
 * @property {string} [hint]
 */

/** @type {OwnField[]} */
export const MODEL_FIELDS = [
  { name: "layers", label: "Layers", whole: true },
  { name: "hidden", label: "Hidden size", whole: true },
  { name: "attention_heads", label: "Heads", called: "Attention heads", whole: true },
  { name: "kv_heads", label: "KV heads", called: "Key/value heads", whole: true, empty: "as heads", hint: "a divisor of the attention heads" },
  { name: "ffn", label: "FFN size", called: "Feed-forward size", whole: true, empty: "4 × hidden", hint: "of all activated experts together" },
  { name: "vocabulary", label: "Vocabulary", unit: "tokens", whole: true },
  { name: "sequence", label: "Sequence", unit: "tokens", whole: true },
  { name: "micro_batch", label: "Micro-batch", unit: "seq.", whole: true, hint: "sequences in one micro-batch" },
  { name: "parameters", label: "Parameters", called: "Active parameters", unit: "M/layer", scale: 1e6, empty: "shape", hint: "with experts, of those activated" },
  { name: "stored", label: "– stored", called: "Stored parameters", unit: "M/layer", scale: 1e6, empty: "active", hint: "of all experts" },
];

/** @type {OwnField[]} */
export const MACHINE_FIELDS = [
  { name: "flops", label: "Peak rate", unit: "TFLOP/s", scale: 1e12, hint: "dense, as trained" },
  { name: "efficiency", label: "Efficiency", unit: "%", scale: 0.01, hint: "share of the peak rate that is reached" },
  { name: "memory", label: "Memory", unit: "GB", scale: 1e9 },
  { name: "hbm_bandwidth", label: "HBM", called: "Memory bandwidth", unit: "GB/s", scale: 1e9, hint: "of a device" },
  { name: "per_node", label: "Node", unit: "devices", whole: true, hint: "devices that the fast links join" },
  { name: "intra_bandwidth", label: "Intra-node", called: "Link inside a node", unit: "GB/s", scale: 1e9, hint: "one direction of it" },
  { name: "intra_latency", label: "– latency", called: "Latency inside a node", unit: "µs", scale: 1e-6, hint: "of a message" },
  { name: "inter_bandwidth", label: "Inter-node", called: "Link between nodes", unit: "GB/s", scale: 1e9, hint: "one direction of it" },
  { name: "inter_latency", label: "– latency", called: "Latency between nodes", unit: "µs", scale: 1e-6, hint: "of a message" },
  { name: "host_bandwidth", label: "Host", called: "Link to host memory", unit: "GB/s", scale: 1e9, hint: "one direction; for offload" },
];

/** @param {OwnField} field */
export const called = (field) => field.called ?? field.label;

/** Twelve digits: more are only the traces of a unit's conversion. @param {number} x */
const clean = (x) => Number(x.toPrecision(12));

/** A value as its box shows it. @param {OwnField} field @param {number|null|undefined} value */
export const shown = ({ scale = 1 }, value) => (value === null || value === undefined ? "" : String(clean(value / scale)));

/** "1 to 4,096 TFLOP/s" @param {OwnField} field @param {Bounds} bounds */
export function range({ scale = 1, unit, whole }, bounds) {
  const [low, high] = bounds.map((bound) => (whole ? bound.toLocaleString("en") : people(clean(bound / scale))));
  return `${low} to ${high}${unit ? ` ${unit}` : ""}`;
}

/** What a person means by a text: a value, or what is wrong and the nearest legal value (undefined where none is nearer
 * than what was there).
 * @param {OwnField} field @param {string} text @param {Bounds} bounds
 * @returns {{value: number|null} | {message: string, nearest: number|undefined}} */
export function read(field, text, bounds) {
  const { scale = 1, whole, empty } = field;
  const trimmed = text.trim();
  if (trimmed === "" && empty !== undefined) return { value: null };
  const typed = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain(trimmed)) ? Number(plain(trimmed)) : NaN;
  const kind = whole ? "a whole number" : "a number";
  if (!Number.isFinite(typed)) return { message: `${called(field)} must be ${kind}, ${range(field, bounds)}`, nearest: undefined };
  const value = clean(typed * scale);
  const [low, high] = bounds;
  if (value < low || value > high) return { message: `${called(field)} must be ${range(field, bounds)}`, nearest: value < low ? low : high };
  if (whole && !Number.isInteger(value)) return { message: `${called(field)} must be ${kind}`, nearest: Math.min(Math.max(Math.round(value), low), high) };
  return { value };
}

/** "128,000" and "128 000" are 128000. @param {string} text */
const plain = (text) => (/^\d{1,3}([ ,\u00a0\u202f]\d{3})+(\.\d+)?$/.test(text) ? text.replace(/[ ,\u00a0\u202f]/g, "") : text);

/** @param {number} x */
function people(x) {
  if (x !== 0 && (x >= 1e7 || x < 1e-3)) {
    const [digits, power] = x.toExponential().split("e");
    const tens = `10${[...power.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
    return digits === "1" ? tens : `${Number(Number(digits).toPrecision(3))} × ${tens}`;
  }
  return x.toLocaleString("en");
}
