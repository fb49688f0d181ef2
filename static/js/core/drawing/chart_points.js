// A chart's points as data: their order for the keys, their spec on the timeline, their table as CSV.
//
// The frontier has points with figures; every other chart has rows, with the server's texts and spec changes.

import { t, tr } from "../i18n/language.js";

/** @import {Spec} from "../schedule/types.js" */
/** @typedef {{of_total: number, of_ideal: number}} Share */
/**
 * @typedef {{family: string, title: string, label: string, group: string, limit: number | null, memory: number, of_p:
 *   number, throughput: number, bubble: {span: Share, global: Share}, weights: number, dominated_by: number | null,
 *   adjusted: string | null, moved: boolean, spec: Spec, units?: Units | null}} Point
 */
/**
 * @typedef {{seconds: number, tokens_per_second: number, mfu: number, memory: {most: number, rank: number, limit:
 *   number, fits: boolean, activations: number[]}}} Units with a model and a machine
 */

/** @typedef {import("../i18n/language.js").Message | string} Text  of the server */
/** @typedef {Text | number | null} Cell */
/** @typedef {Partial<Omit<Spec, "costs">> & {costs?: Partial<Spec["costs"]>}} Put  what a click changes in a spec */
/**
 * @typedef {{cells: Cell[], lines: Text[], change: Put | null, mark: string}} Row mark: the schedules that stand there,
 *   "A"
 */
/**
 * @typedef {{columns: [Text, Text][], rows: Row[], notes: Text[]}} Rows columns: name and unit
 */

/** The text of the table's last column. @param {Point[]} points @param {Point} point */
export function rank(points, point) {
  if (point.moved) return t("at p {p}, m {m}", { p: point.spec.p, m: point.spec.m });
  return point.dominated_by === null ? t("on the line") : tr(points[point.dominated_by].label);
}

/** Positions of the points from the least memory to the most, slow before fast. @param {Point[]} points */
export function byMemory(points) {
  return points
    .map((_, at) => at)
    .sort((a, b) => points[a].memory - points[b].memory || points[a].throughput - points[b].throughput || a - b);
}

/** The next point that is drawn, in the order of the keys; from nowhere the first, or the last going back.
 * @param {number[]} order @param {(at: number) => boolean} drawn @param {number | null} at @param {1 | -1} way */
export function beside(order, drawn, at, way) {
  const all = order.filter(drawn);
  const now = at === null ? -1 : all.indexOf(at);
  if (now < 0) return all[way > 0 ? 0 : all.length - 1] ?? null;
  return all[Math.min(all.length - 1, Math.max(0, now + way))];
}

/** Of the points that stand on one another the one that is meant: a family before what was found.
 * @param {Point[]} points @param {number} at */
export function front(points, at) {
  const { memory, throughput } = points[at];
  const family = points.findIndex(
    (each) => each.limit === null && alike(each.memory, memory) && alike(each.throughput, throughput),
  );
  return points[at].limit === null || family < 0 ? at : family;
}

/** @param {number} a @param {number} b */
const alike = (a, b) => Math.abs(a - b) < 1e-9 * Math.max(1, a, b);

/**
 * A spec with what a point changes in it, and with what the server does not know of it.
 * @param {Put} put
 * @param {Spec} spec
 * @returns {Spec}
 */
export const putOver = (put, spec) => ({ ...spec, ...put, costs: { ...spec.costs, ...put.costs } });

/** In words, for who cannot see it. @param {Point[]} points @param {Point} point */
export function spoken(points, point) {
  const better = rank(points, point);
  const standing = point.moved
    ? t("drawn {where}, not ranked", { where: better })
    : point.dominated_by === null
      ? t("none is better")
      : t("{schedule} is better", { schedule: better });
  return t(
    "{schedule}: memory {memory} micro-batches, throughput {throughput} %, bubble {bubble} % of the step; {standing}.",
    {
      schedule: tr(point.label),
      memory: short(point.memory),
      throughput: (100 * point.throughput).toFixed(1),
      bubble: (100 * point.bubble.global.of_total).toFixed(1),
      standing,
    },
  );
}

/** At most four digits. @param {number} x */
export const short = (x) => String(Number(x.toPrecision(4)));

const HEAD = [
  "schedule",
  "family",
  "p",
  "m",
  "v",
  "limit",
  "memory",
  "memory_of_p",
  "throughput",
  "bubble_span_of_total",
  "bubble_global_of_total",
  "weights",
  "better",
];

const UNIT_HEAD = ["step_s", "tokens_per_s", "mfu", "memory_bytes", "activation_bytes", "limit_bytes", "fits"];

/** @param {Point} point */
const unitCells = ({ units }) =>
  units
    ? [
        units.seconds,
        units.tokens_per_second,
        units.mfu,
        units.memory.most,
        Math.max(...units.memory.activations),
        units.memory.limit,
        String(units.memory.fits),
      ]
    : UNIT_HEAD.map(() => "");

/** @param {Point[]} points */
export function csv(points) {
  const units = points.some((point) => point.units);
  const rows = points.map((point) => [
    point.label,
    point.family,
    point.spec.p,
    point.spec.m,
    point.spec.v,
    point.limit ?? "",
    point.memory,
    point.of_p,
    point.throughput,
    point.bubble.span.of_total,
    point.bubble.global.of_total,
    point.weights,
    rank(points, point),
    ...(units ? unitCells(point) : []),
  ]);
  return lines([units ? [...HEAD, ...UNIT_HEAD] : HEAD, ...rows]);
}

/** @param {Rows} chart */
export const rowsCsv = ({ columns, rows }) =>
  lines([
    columns.map(([name, unit]) => (unit ? `${english(name)} (${english(unit)})` : english(name))),
    ...rows.map(({ cells }) => cells.map(english)),
  ]);

/** A cell of a file, whose words stay English. @param {Cell} value @returns {string | number} */
const english = (value) => (value !== null && typeof value === "object" ? value.message : (value ?? ""));

/** A table cell: whole numbers in full, others to four digits, words in the reader's language. @param {Cell} value */
export function cellText(value) {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : short(value);
  return tr(value);
}

/** Rows of a CSV file. @param {(string | number)[][]} rows */
export const lines = (rows) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

/** @param {string | number} value */
function cell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
