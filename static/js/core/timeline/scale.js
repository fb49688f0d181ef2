// Round ticks, numbers as text. Knows no schedule.
import { language } from "../i18n/language.js";

const BYTES = /** @type {const} */ ([
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
]);

/**
 * The smallest of 1, 2, 5 times a power of ten that gives at most count steps.
 * @param {number} span
 * @param {number} count
 */
export function tickStep(span, count) {
  const rough = span / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const unit of [1, 2, 5]) if (unit * power >= rough * (1 - 1e-9)) return unit * power;
  return 10 * power;
}

/**
 * Round positions within [d0, d1], at most count + 1 of them.
 * @param {number} d0 @param {number} d1 @param {number} count @returns {number[]}
 */
export function ticks(d0, d1, count) {
  const step = tickStep(d1 - d0, count);
  const out = [];
  // Multiply, never add up: 0.1 * 3 shows less dust than 0.1 + 0.1 + 0.1, and toPrecision removes the rest.
  for (let k = Math.ceil(d0 / step - 1e-9); k * step <= d1 + step * 1e-9; k++)
    out.push(Number((k * step).toPrecision(12)));
  return out;
}

/** A time with just the decimals that a step of this size needs. @param {number} x @param {number} step */
export function formatTime(x, step) {
  const decimals = step > 0 && step < 1 ? Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  const text = x.toFixed(decimals);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

/** One decimal, so that a moving number keeps its width. @param {number} x a fraction @returns {string} "9.4 %" */
export const formatPercent = (x) => `${formatTime(100 * x, 0.1)} %`;

/** A number for prose: at most four decimals, no trailing zeros. @param {number} x @returns {string} */
export function formatNumber(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "?" : x > 0 ? "∞" : "−∞";
  if (x !== 0 && Math.abs(x) < 5e-5) return Number(x.toPrecision(4)).toString();
  const rounded = Number(x.toFixed(4));
  return (rounded === 0 ? 0 : rounded).toString();
}

/** Bytes for prose, to three digits: 66.3 kB, 1.02 MB, 80 GB. @param {number} x */
export function formatBytes(x) {
  const [size, name] = BYTES.find(([each]) => x >= each * 0.9995) ?? [1, "B"];
  return `${formatNumber(Number((x / size).toPrecision(3)))} ${name}`;
}

/** A count with its thousands apart, as the reader's language writes them: 128,000. @param {number} x */
export const formatCount = (x) => x.toLocaleString(language());
