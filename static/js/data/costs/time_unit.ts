// The unit of time on the screen: milliseconds where the costs come from a model, else the unit of the costs.
import { formatNumber } from "../../core/i18n/numbers.ts";

let ms = false;

export function useMilliseconds(on: boolean) {
  ms = on;
}

/** "ms", or "". */
export const unit = () => (ms ? "ms" : "");

/** A time as a figure. In ms with few and always as many decimals, so that a moving number keeps its width. */
export function timeNumber(t: number) {
  if (!ms || !Number.isFinite(t)) return formatNumber(t);
  const size = Math.abs(t);
  return t.toFixed(size >= 1e4 ? 0 : size >= 1e3 ? 1 : 2);
}

/** A time with its unit: from ten seconds on in seconds. */
export function timeText(t: number) {
  if (!ms || !Number.isFinite(t)) return formatNumber(t);
  return Math.abs(t) >= 1e4 ? `${Number((t / 1000).toPrecision(3))} s` : `${timeNumber(t)} ms`;
}

/**
 * The time of a step as a figure. Without a unit of time it has as many digits as tables have room for: from 1000 on
 * two decimals, from 100,000 on none; in a narrow column five digits.
 */
export function stepNumber(t: number, narrow = false) {
  const size = Math.abs(t);
  if (ms || !Number.isFinite(t)) return timeNumber(t);
  if (size >= 1e5) return formatNumber(Math.round(t));
  if (narrow) return formatNumber(Number(t.toPrecision(5)));
  return formatNumber(size < 1e3 ? t : Number(t.toFixed(2)));
}

/** The time of a step with its unit, as it is compared with others' figures: from one second on in seconds. */
export function stepText(t: number) {
  if (!ms || !Number.isFinite(t)) return stepNumber(t);
  return Math.abs(t) >= 1e3 ? `${Number((t / 1000).toPrecision(3))} s` : timeText(t);
}

/** A sentence with times, which in milliseconds have two decimals. */
export const tame = (text: string) =>
  ms ? text.replace(/\d+\.\d{3,}/g, (x) => String(Number(Number(x).toFixed(2)))) : text;
