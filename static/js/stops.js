// Where each slider stops: every small whole number, then coarser; costs in tenths.

/** Whole numbers from `low` to `high`: by 1 to 32, then each octave in sixteen steps. @param {number} low @param {number} high */
export function wholeStops(low, high) {
  const out = [];
  for (let x = low; x <= high;) {
    out.push(x);
    x += x < 32 ? 1 : 2 ** (Math.floor(Math.log2(x)) - 4);
  }
  if (out[out.length - 1] !== high) out.push(high);
  return out;
}

/** Costs from 0 to 4 in twentieths. */
export const COST_STOPS = Array.from({ length: 81 }, (_, k) => Number((k * 0.05).toFixed(2)));

/** From 0 to 1 in fiftieths. */
export const SHARE_STOPS = Array.from({ length: 51 }, (_, k) => Number((k * 0.02).toFixed(2)));

/** A list with `value` among it, so that a slider can rest where the link says. @param {number[]} stops @param {unknown} value */
export function including(stops, value) {
  if (typeof value !== "number" || stops.includes(value)) return stops;
  return [...stops, value].sort((a, b) => a - b);
}
