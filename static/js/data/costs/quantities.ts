// Quantities of models and machines as text, with unit prefixes. Knows no DOM.
import { t, tr } from "../../core/i18n/language.ts";
import type { Text } from "../../core/schedule/types.ts";
import type { DeviceMemory } from "./step_units.ts";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
/** From which size on, the size of one, and its letter. */
const LARGE = [
  [1e12, 1e12, "T"],
  [1e9, 1e9, "G"],
  [1e6, 1e6, "M"],
  [1e4, 1e3, "k"],
] as const;

/** Three digits that matter and no more. */
const three = (x: number) => (Math.abs(x) >= 100 ? Math.round(x).toString() : Number(x.toPrecision(3)).toString());

/** "13.1 GB", decimal as machines are sold. */
export function bytesText(count: number, binary = false) {
  const base = binary ? 1024 : 1000;
  let at = 0;
  for (let x = Math.abs(count); x >= base && at < BINARY.length - 1; x /= base) at++;
  const unit = binary ? BINARY[at] : BINARY[at].replace("i", "").replace("K", "k");
  return `${three(count / base ** at)} ${unit}`;
}

/** Bytes in GB however many, so that figures side by side have one unit. */
export const gigabytesText = (count: number) => `${three(count / 1e9)} GB`;

/** A rate per second: "412 k". */
export function rateText(x: number) {
  const large = LARGE.find(([size]) => x >= size);
  return large ? `${three(x / large[1])} ${large[2]}` : three(x);
}

/** "Fits: 62 GB of 80 GB on device 0". */
export function fitText({ most, limit, rank, fits }: Pick<DeviceMemory, "most" | "limit" | "rank" | "fits">) {
  const sums = { total: bytesText(most), limit: bytesText(limit), rank };
  return fits
    ? t("Fits: {total} of {limit} on device {rank}", sums)
    : t("Does not fit: {total} of {limit} on device {rank}", sums);
}

/** A value of the arithmetic with its unit. label: of the unit. */
export function quantity(value: number, label: Text) {
  const unit = typeof label === "string" ? label : label.message;
  if (/^(bytes?|B)$/.test(unit)) return bytesText(value);
  if (unit === "ms") return `${mathText(String(Number(value.toPrecision(5))))} ms`;
  const large = LARGE.find(([size]) => Math.abs(value) >= size);
  const text = large
    ? `${three(value / large[1])} ${large[2] === "G" && unit === "parameters" ? "B" : large[2]}`
    : Number(value.toPrecision(4)).toString();
  return unit ? `${text}${large && unit.length <= 6 ? "" : " "}${tr(label)}` : text;
}

/** A formula or number of the server's as people write it: s*s is s², 1.5e+09 is 1.5 × 10⁹. */
export const mathText = (text: string) =>
  text
    .replace(/\b([a-z])\*\1\b/gi, "$1²")
    .replace(/([a-z])\^2/gi, "$1²")
    .replace(
      /(\d)e([+-]?)0*(\d+)/g,
      (_, digit, sign, power) =>
        `${digit} × 10${sign === "-" ? "⁻" : ""}${[...power].map((x) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(x)]).join("")}`,
    )
    .replaceAll("*", " × ")
    .replaceAll("/", " / ");

/** "5, 4 × 6, 5": neighbours that are alike are counted. */
export function runs(list: number[]) {
  const out = [];
  for (let at = 0; at < list.length;) {
    let next = at + 1;
    while (next < list.length && list[next] === list[at]) next++;
    out.push(next - at > 2 ? `${next - at} × ${list[at]}` : list.slice(at, next).join(", "));
    at = next;
  }
  return out.join(", ");
}
