// Numbers as text: times, shares, counts, bytes.
import { language } from "./language.ts";

const BYTES = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
] as const;

/** A time with just the decimals that a step of this size needs. */
export function formatTime(x: number, step: number) {
  const decimals = step > 0 && step < 1 ? Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  const text = x.toFixed(decimals);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

/** One decimal, so that a moving number keeps its width. x: a fraction; returns "9.4 %". */
export const formatPercent = (x: number): string => `${formatTime(100 * x, 0.1)} %`;

/** A number for prose: at most four decimals, no trailing zeros; a tiny one to three digits, "2.95e-6". */
export function formatNumber(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "?" : x > 0 ? "∞" : "−∞";
  if (x !== 0 && Math.abs(x) < 5e-5) return Number(x.toPrecision(3)).toExponential();
  const rounded = Number(x.toFixed(4));
  return (rounded === 0 ? 0 : rounded).toString();
}

/** Bytes for prose, to three digits: 66.3 kB, 1.02 MB, 80 GB. */
export function formatBytes(x: number) {
  const [size, name] = BYTES.find(([each]) => x >= each * 0.9995) ?? [1, "B"];
  return `${formatNumber(Number((x / size).toPrecision(3)))} ${name}`;
}

/** A count with its thousands apart, as the reader's language writes them: 128,000. */
export const formatCount = (x: number) => x.toLocaleString(language());
