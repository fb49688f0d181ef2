// A chart's points as data: their order for the keys, their spec on the timeline, their table as CSV.
//
// The frontier has points with figures; every other chart has rows, with the server's texts and spec changes.

import { t, tr } from "../i18n/language.ts";
import type { Spec, Text } from "../schedule/types.ts";

type Share = { of_total: number; of_ideal: number };
export type Point = {
  family: string;
  title: string;
  label: string;
  group: string;
  limit: number | null;
  memory: number;
  of_p: number;
  throughput: number;
  bubble: { span: Share; global: Share };
  weights: number;
  dominated_by: number | null;
  adjusted: string | null;
  moved: boolean;
  spec: Spec;
  units?: Units | null;
};
/** With a model and a machine. */
export type Units = {
  seconds: number; // of the pipeline
  tail: number; // seconds of what follows its last backward
  tokens: number;
  devices: number;
  tokens_per_second: number;
  span: { tokens_per_second: number }; // over the busiest device's window
  mfu: number;
  memory: { most: number; rank: number; limit: number; fits: boolean; activations: number[] };
};
type Cell = Text | number | null;
/** What a click changes in a spec. */
export type Put = Partial<Omit<Spec, "costs">> & { costs?: Partial<Spec["costs"]> };
export type Row = {
  cells: Cell[];
  lines: Text[];
  change: Put | null;
  mark: string; // the schedules that stand there, "A"
};
/** columns: name and unit. */
export type Rows = { columns: [Text, Text][]; rows: Row[]; notes: Text[] };

/** The text of the table's last column. */
export function rank(points: Point[], point: Point) {
  if (point.moved) return t("at p {p}, m {m}", { p: point.spec.p, m: point.spec.m });
  return point.dominated_by === null ? t("on the line") : tr(points[point.dominated_by].label);
}

/** Positions of the points from the least memory to the most, slow before fast. */
export function byMemory(points: Point[]) {
  return points
    .map((_, at) => at)
    .sort((a, b) => points[a].memory - points[b].memory || points[a].throughput - points[b].throughput || a - b);
}

/** The next point that is drawn, in the order of the keys; from nowhere the first, or the last going back. */
export function beside(order: number[], drawn: (at: number) => boolean, at: number | null, way: 1 | -1) {
  const all = order.filter(drawn);
  const now = at === null ? -1 : all.indexOf(at);
  if (now < 0) return all[way > 0 ? 0 : all.length - 1] ?? null;
  return all[Math.min(all.length - 1, Math.max(0, now + way))];
}

/** Of the points that stand on one another the one that is meant: a family before what was found. */
export function front(points: Point[], at: number) {
  const { memory, throughput } = points[at];
  const family = points.findIndex(
    (each) => each.limit === null && alike(each.memory, memory) && alike(each.throughput, throughput),
  );
  return points[at].limit === null || family < 0 ? at : family;
}

const alike = (a: number, b: number) => Math.abs(a - b) < 1e-9 * Math.max(1, a, b);

/** A spec with what a point changes in it, and with what the server does not know of it. */
export const putOver = (put: Put, spec: Spec): Spec => ({ ...spec, ...put, costs: { ...spec.costs, ...put.costs } });

/** In words, for who cannot see it. */
export function spoken(points: Point[], point: Point) {
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

/** At most four digits. */
export const short = (x: number) => String(Number(x.toPrecision(4)));

/** The columns of the file of points. */
const COLUMNS: [string, (point: Point, points: Point[]) => string | number][] = [
  ["schedule", ({ label }) => label],
  ["family", ({ family }) => family],
  ["p", ({ spec }) => spec.p],
  ["m", ({ spec }) => spec.m],
  ["v", ({ spec }) => spec.v],
  ["limit", ({ limit }) => limit ?? ""],
  ["memory", ({ memory }) => memory],
  ["memory_of_p", ({ of_p: ofP }) => ofP],
  ["throughput", ({ throughput }) => throughput],
  ["bubble_span_of_total", ({ bubble }) => bubble.span.of_total],
  ["bubble_global_of_total", ({ bubble }) => bubble.global.of_total],
  ["weights", ({ weights }) => weights],
  ["better", (point, points) => rank(points, point)],
];

/** Those of points with a model and a machine. */
const UNIT_COLUMNS: [string, (units: Units) => string | number][] = [
  ["step_s", ({ seconds }) => seconds],
  ["tokens_per_s", ({ tokens_per_second: tokens }) => tokens],
  ["mfu", ({ mfu }) => mfu],
  ["memory_bytes", ({ memory }) => memory.most],
  ["activation_bytes", ({ memory }) => Math.max(...memory.activations)],
  ["limit_bytes", ({ memory }) => memory.limit],
  ["fits", ({ memory }) => String(memory.fits)],
];

export function csv(points: Point[]) {
  const more = points.some((point) => point.units) ? UNIT_COLUMNS : [];
  return lines([
    [...COLUMNS, ...more].map(([name]) => name),
    ...points.map((point) => [
      ...COLUMNS.map(([, value]) => value(point, points)),
      ...more.map(([, value]) => (point.units ? value(point.units) : "")),
    ]),
  ]);
}

export const rowsCsv = ({ columns, rows }: Rows) =>
  lines([
    columns.map(([name, unit]) => (unit ? `${english(name)} (${english(unit)})` : english(name))),
    ...rows.map(({ cells }) => cells.map(english)),
  ]);

/** A cell of a file, whose words stay English. */
const english = (value: Cell): string | number =>
  value !== null && typeof value === "object" ? value.message : (value ?? "");

/** A table cell: whole numbers in full, others to four digits, words in the reader's language. */
export function cellText(value: Cell) {
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : short(value);
  return tr(value);
}

/** Rows of a CSV file. */
export const lines = (rows: (string | number)[][]) => rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";

function cell(value: string | number) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
