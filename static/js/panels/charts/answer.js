// What an answer is to the panel, whichever chart it is: its points in the order of the keys, what each says and puts
// on
// the timeline, its table as a file. The frontier has points; every other chart has rows.
import { byMemory, csv, front, rowsCsv, spoken } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";

/** @import {Chart, Points} from "./api.js" */
/** @import {Put} from "../../core/drawing/chart_points.js" */
/**
 * @typedef {{order: number[], front: (at: number) => number, told: (at: number) => string, put: (at: number) => Put |
 *   null, csv: () => string, reads: string}} Face
 */

/** @param {Chart} chart @returns {Face} */
export const faceOf = (chart) => ("points" in chart ? pareto(chart) : rows(chart));

/** @param {Points} chart @returns {Face} */
const pareto = ({ points, reads }) => ({
  order: byMemory(points),
  front: (at) => front(points, at),
  told: (at) => spoken(points, points[at]),
  put: (at) => points[at]?.spec ?? null,
  csv: () => csv(points),
  reads: reads.map(tr).join(t(" ")),
});

/** @param {import("../../core/drawing/chart_points.js").Rows} chart @returns {Face} */
const rows = (chart) => ({
  order: chart.rows.map((_, at) => at),
  front: (at) => at,
  told: (at) => `${chart.rows[at].told.map(tr).join(t("; "))}${t(".")}`,
  put: (at) => chart.rows[at]?.put ?? null,
  csv: () => rowsCsv(chart),
  reads: [...chart.reads, ...chart.notes].map(tr).join(t(" ")),
});
