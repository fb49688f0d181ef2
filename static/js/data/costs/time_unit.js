// The unit of time on the screen: milliseconds while the costs come from a model, else the reader's own. Knows no DOM.
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

/** @param {number} t */
export const timeText = (t) => (ms && Number.isFinite(t) ? `${timeNumber(t)} ms` : formatNumber(t));

/** A sentence with times in it: in ms, two decimals say enough. @param {string} text */
export const tame = (text) => (ms ? text.replace(/\d+\.\d{3,}/g, (x) => String(Number(Number(x).toFixed(2)))) : text);
