// A chart's points as data: their order for the keys, their spec on the timeline, their table as CSV. Knows no page.

/** @import {Spec} from "./types.js" */
/** @typedef {{of_total: number, of_ideal: number}} Share */
/**
 * @typedef {{family: string, title: string, label: string, group: string, limit: number | null, memory: number, of_p: number,
 *   throughput: number, bubble: {span: Share, global: Share}, weights: number, dominated_by: number | null,
 *   adjusted: string | null, moved: boolean, spec: Spec}} Point
 */

/** What stands in the table's last column. @param {Point[]} points @param {Point} point */
export function rank(points, point) {
  if (point.moved) return `at p ${point.spec.p}, m ${point.spec.m}`;
  return point.dominated_by === null ? "on the line" : points[point.dominated_by].label;
}

/** Positions of the points from the least memory to the most, slow before fast. @param {Point[]} points */
export function byMemory(points) {
  return points.map((_, at) => at).sort((a, b) => points[a].memory - points[b].memory || points[a].throughput - points[b].throughput || a - b);
}

/** The next point that is drawn, in that order; from nowhere the first, or the last going back.
 * @param {Point[]} points @param {(at: number) => boolean} drawn @param {number | null} at @param {1 | -1} way */
export function beside(points, drawn, at, way) {
  const all = byMemory(points).filter(drawn);
  const now = at === null ? -1 : all.indexOf(at);
  if (now < 0) return all[way > 0 ? 0 : all.length - 1] ?? null;
  return all[Math.min(all.length - 1, Math.max(0, now + way))];
}

/** Of the points that stand on one another the one that is meant: a family before what was found.
 * @param {Point[]} points @param {number} at */
export function front(points, at) {
  const { memory, throughput } = points[at];
  const family = points.findIndex((each) => each.limit === null && alike(each.memory, memory) && alike(each.throughput, throughput));
  return points[at].limit === null || family < 0 ? at : family;
}

/** @param {number} a @param {number} b */
const alike = (a, b) => Math.abs(a - b) < 1e-9 * Math.max(1, a, b);

/** A point's spec, with what the server does not know of the present one. @param {Point} point @param {Spec} spec @returns {Spec} */
export const putOver = ({ spec: own }, spec) => ({ ...spec, ...own, costs: { ...spec.costs, ...own.costs } });

/** In words, for who cannot see it. @param {Point[]} points @param {Point} point */
export function spoken(points, point) {
  const better = rank(points, point);
  const standing = point.moved ? `drawn ${better}, not ranked` : point.dominated_by === null ? "none is better" : `${better} is better`;
  return `${point.label}: memory ${short(point.memory)} micro-batches, throughput ${(100 * point.throughput).toFixed(1)} %, bubble ${(100 * point.bubble.span.of_total).toFixed(1)} % of the span; ${standing}.`;
}

/** At most four digits. @param {number} x */
export const short = (x) => String(Number(x.toPrecision(4)));

const HEAD = ["schedule", "family", "p", "m", "v", "limit", "memory", "memory_of_p", "throughput", "bubble_span_of_total",
  "bubble_global_of_total", "weights", "better"];

/** @param {Point[]} points */
export function csv(points) {
  const rows = points.map((point) => [point.label, point.family, point.spec.p, point.spec.m, point.spec.v, point.limit ?? "", point.memory,
    point.of_p, point.throughput, point.bubble.span.of_total, point.bubble.global.of_total, point.weights, rank(points, point)]);
  return [HEAD, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** @param {string | number} value */
function cell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
