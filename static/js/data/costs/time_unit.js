// The unit of time on the screen: milliseconds where the costs come from a model, else the unit of the costs.
import { formatNumber } from "../../core/i18n/numbers.js";

let ms = false;

/** @param {boolean} on */
export function useMilliseconds(on) {
  ms = on;
}

/** "ms", or "". */
export const unit = () => (ms ? "ms" : "");

/** A time as a figure. In ms with few and always as many decimals, so that a moving number keeps its width.
 * @param {number} t */
export function timeNumber(t) {
  if (!ms || !Number.isFinite(t)) return formatNumber(t);
  const size = Math.abs(t);
  return t.toFixed(size >= 1e4 ? 0 : size >= 1e3 ? 1 : 2);
}

/** A time with its unit: from ten seconds on in seconds. @param {number} t */
export function timeText(t) {
  if (!ms || !Number.isFinite(t)) return formatNumber(t);
  return Math.abs(t) >= 1e4 ? `${Number((t / 1000).toPrecision(3))} s` : `${timeNumber(t)} ms`;
}

/** The time of a step: from one second on in seconds, as it is compared with others' figures. @param {number} t */
export const stepText = (t) =>
  ms && Number.isFinite(t) && Math.abs(t) >= 1e3 ? `${Number((t / 1000).toPrecision(3))} s` : timeText(t);

/** A sentence with times, which in milliseconds have two decimals. @param {string} text */
export const tame = (text) => (ms ? text.replace(/\d+\.\d{3,}/g, (x) => String(Number(Number(x).toFixed(2)))) : text);
