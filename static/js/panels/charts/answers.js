// The charts of the server: the request of a chart, the answers kept here, and one view of both kinds of answer. The
// frontier has points; every other chart has rows.
import { getAnswer } from "../../data/api.js";
import { evenly } from "../../data/costs/api.js";
import { priceOf } from "../../data/costs/derive.js";
import { isDark } from "../../ui/appearance.js";
import { byMemory, csv, front, rowsCsv, spoken } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";
import { specQuery } from "../../core/state/link.js";
import { presetEntries } from "../../core/state/link_preset.js";
import { IDS } from "../../core/state/schedules.js";

/** @import {Kind} from "./kinds.js" */
/** @import {Point, Put, Rows, Text} from "../../core/drawing/chart_points.js" */
/** @import {Message} from "../../core/i18n/language.js" */
/** @import {Spec, SpecError} from "../../core/schedule/types.js" */
/** @import {State} from "../../core/state/link.js" */
/** @typedef {{data: any[], layout: any}} PlotlyFigure */
/**
 * @typedef {{spec: Spec, figure: PlotlyFigure, notes: Text[], points: Point[], found: boolean, error_found: SpecError |
 *   null}} Points the frontier; found: with what searches found, or else why not
 */
/** @typedef {Points | ({spec: Spec, figure: PlotlyFigure} & Rows)} Chart */
/**
 * @typedef {object} ChartAnswer  an answer, whichever chart it is of; positions are those of its points
 * @property {number[]} order  of the points, for the keys
 * @property {(at: number) => number} front  the point meant where several are in one place
 * @property {(at: number) => string} describe
 * @property {(at: number) => Put | null} put  what a click on it changes in a spec
 * @property {() => string} csv
 * @property {string} guide  how to read the chart
 */

const MOST_KEPT = 48;

/** @type {Map<string, Chart>} in the reader's language, the least recently used first */
const kept = new Map();
/** @type {WeakMap<Chart, Chart>} the same as the server sent them */
const sent = new WeakMap();

/** Whether an answer is here already. @param {string} url */
export const isKept = (url) => kept.has(url);

/** @param {string} url @returns {Promise<Chart>} */
export async function requestChart(url) {
  const chart = kept.get(url) ?? translated(await getAnswer(url));
  kept.delete(url);
  kept.set(url, chart);
  if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  return chart;
}

/** Drop an answer that is out of date, as when searches have found more. @param {string} url */
export const forgetChart = (url) => kept.delete(url);

const STEP = 20; // px; sizes are rounded to this, so that answers can be kept
const LEAST = { width: 260, height: 240 };

/** The request of a chart, without its look. @param {Kind} kind @param {State} state @param {Spec} defaults */
export function chartPath(kind, { spec, others, preset, origin }, defaults) {
  const parts = kind.others
    ? others.flatMap((other, at) => prefixed(specQuery(other, defaults), `${IDS[at + 1]}.`))
    : [];
  const source = kind.withModel ? preset : (preset ?? origin ?? null);
  const model =
    (kind.model || kind.withModel) && source
      ? presetEntries(evenly(source), false).map(([key, text]) => `m.${key}=${encodeURIComponent(text)}`)
      : [];
  // the points of other families have the costs of their own stages
  const derived = kind.withModel && preset !== null && priceOf(preset, spec) === spec;
  const asked = derived ? { ...spec, costs: defaults.costs, w_share: defaults.w_share } : spec;
  return `/api/charts/${kind.id}${[specQuery(asked, defaults), ...parts, ...model].join("&")}`;
}

/** @param {string} query with its "?" @param {string} prefix */
const prefixed = (query, prefix) =>
  query
    .slice(1)
    .split("&")
    .map((part) => prefix + part);

/**
 * The request with the look of the chart.
 * @param {string} path
 * @param {string} y
 * @param {State["view"]} view
 * @param {{width: number, height: number}} size
 */
export function withLook(path, y, { theme, colours }, size) {
  const look = {
    ...(y ? { y } : {}),
    theme: (isDark(theme) ? "dark" : "light") + (colours ? `-${colours}` : ""),
    width: String(inSteps(size.width, LEAST.width)),
    height: String(inSteps(size.height, LEAST.height)),
  };
  return `${path}&${new URLSearchParams(look)}`;
}

/** @param {number} px @param {number} least */
const inSteps = (px, least) => STEP * Math.floor(Math.max(px, least) / STEP);

/** @param {unknown} value @returns {value is Message} */
const isMessage = (value) =>
  value !== null && typeof value === "object" && Object.keys(value).sort().join() === "code,message,params";

/**
 * A copy of the server's data with every message replaced by a text.
 * @param {any} data
 * @param {(message: Message) => string} textOf
 * @returns {any}
 */
function withTexts(data, textOf) {
  if (Array.isArray(data)) return data.map((each) => withTexts(each, textOf));
  if (isMessage(data)) return textOf(data);
  if (data === null || typeof data !== "object") return data;
  return Object.fromEntries(Object.entries(data).map(([name, each]) => [name, withTexts(each, textOf)]));
}

/** An answer in the reader's language. @param {Chart} chart as the server sent it @returns {Chart} */
function translated(chart) {
  const copy = withTexts(chart, tr);
  sent.set(copy, chart);
  return copy;
}

/** An answer with English texts, which files have whatever the page's language. @param {Chart} chart @returns {any} */
const inEnglish = (chart) => withTexts(sent.get(chart) ?? chart, (message) => message.message);

/** @param {Chart} chart @returns {ChartAnswer} */
export const answerOf = (chart) => ("points" in chart ? frontierAnswer(chart) : rowsAnswer(chart));

/** @param {Points} chart @returns {ChartAnswer} */
function frontierAnswer(chart) {
  const { points, notes } = chart;
  return {
    order: byMemory(points),
    front: (at) => front(points, at),
    describe: (at) => spoken(points, points[at]),
    put: (at) => points[at]?.spec ?? null,
    csv: () => csv(inEnglish(chart).points),
    guide: notes.map(tr).join(t(" ")),
  };
}

/** @param {Exclude<Chart, Points>} chart @returns {ChartAnswer} */
const rowsAnswer = (chart) => ({
  order: chart.rows.map((_, at) => at),
  front: (at) => at,
  describe: (at) => `${chart.rows[at].lines.map(tr).join(t("; "))}${t(".")}`,
  put: (at) => chart.rows[at]?.change ?? null,
  csv: () => rowsCsv(inEnglish(chart)),
  guide: chart.notes.map(tr).join(t(" ")),
});
