// Where each slider stops: every small whole number, then coarser; costs in tenths.

/** Whole numbers from `low` to `high`: by 1 to 32, then each octave in sixteen steps. */
export function wholeStops(low: number, high: number) {
  const out = [];
  for (let x = low; x <= high;) {
    out.push(x);
    x += x < 32 ? 1 : 2 ** (Math.floor(Math.log2(x)) - 4);
  }
  if (out[out.length - 1] !== high) out.push(high);
  return out;
}

/** Costs from 0 to `top` in eighty steps. */
const costsTo = (top: number) => Array.from({ length: 81 }, (_, k) => Number(((k * top) / 80).toPrecision(6)));

const COST_STOPS = new Map<number, number[]>();

/** Costs from 0 to 4, or to 8, 16, 32 ... if the value is larger, and room above it. */
export function costStops(value: unknown) {
  let top = 4;
  if (typeof value === "number") while (value > 4 && top < value * 1.25) top *= 2;
  let stops = COST_STOPS.get(top);
  if (!stops) COST_STOPS.set(top, (stops = costsTo(top)));
  return including(stops, value);
}

/**
 * Limits of memory: from one micro-batch by halves to a little above 2p, which is all that the zero-bubble families
 * use.
 */
export const memoryStops = (p: number) => wholeStops(2, 4 * p + 2).map((x) => x / 2);

/** From 0 to 1 in fiftieths. */
export const SHARE_STOPS = Array.from({ length: 51 }, (_, k) => Number((k * 0.02).toFixed(2)));

/** A list with `value` among it, so that a slider can show the link's value. */
export function including(stops: number[], value: unknown) {
  if (typeof value !== "number" || stops.includes(value)) return stops;
  return [...stops, value].sort((a, b) => a - b);
}
