// The charts of the server: the request of a chart, the answers kept here, and one view of both kinds of answer. The
// frontier has points; every other chart has rows.
import { getAnswer } from "../../data/api.ts";
import { withoutDerived } from "../../data/costs/derive.ts";
import { isDark } from "../../ui/appearance.ts";
import { byMemory, csv, front, rowsCsv, spoken } from "../../core/drawing/chart_points.ts";
import { t, tr, type Message } from "../../core/i18n/language.ts";
import { specQuery, type State } from "../../core/state/link.ts";
import { presetEntries } from "../../core/state/link_preset.ts";
import { IDS } from "../../core/state/schedules.ts";
import type { Kind } from "./kinds.ts";
import type { Point, Put, Rows } from "../../core/drawing/chart_points.ts";
import type { Spec, SpecError, Text } from "../../core/schedule/types.ts";

type PlotlyFigure = { data: any[]; layout: any };
/** The frontier. */
type Points = {
  spec: Spec;
  figure: PlotlyFigure;
  notes: Text[];
  points: Point[];
  found: boolean; // with what searches found, or else why not
  error_found: SpecError | null;
};
export type Chart = Points | ({ spec: Spec; figure: PlotlyFigure } & Rows);
/** An answer, whichever chart it is of; positions are those of its points. */
export type ChartAnswer = {
  order: number[]; // of the points, for the keys
  front: (at: number) => number; // the point meant where several are in one place
  describe: (at: number) => string;
  put: (at: number) => Put | null; // what a click on it changes in a spec
  csv: () => string;
  guide: string; // how to read the chart
};

const MOST_KEPT = 48;

/** In the reader's language, the least recently used first. */
const kept = new Map<string, Chart>();
/** The same as the server sent them. */
const sent = new WeakMap<Chart, Chart>();

/** Whether an answer is here already. */
export const isKept = (url: string) => kept.has(url);

export async function requestChart(url: string): Promise<Chart> {
  const chart = kept.get(url) ?? translated(await getAnswer(url));
  kept.delete(url);
  kept.set(url, chart);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as string);
  return chart;
}

/** Drop an answer that is out of date, as when searches have found more. */
export const forgetChart = (url: string) => kept.delete(url);

const STEP = 20; // px; sizes are rounded to this, so that answers can be kept
const LEAST = { width: 260, height: 240 };

/** The request of a chart, without its look. With a model every point has the costs of its own stages. */
export function chartPath(kind: Kind, { spec, others, preset, origin }: State, defaults: Spec) {
  const query = (each: Spec) => specQuery(withoutDerived(preset, each, defaults), defaults);
  const parts = kind.others ? others.flatMap((other, at) => prefixed(query(other), `${IDS[at + 1]}.`)) : [];
  const source = preset ?? (kind.model ? origin : null) ?? null;
  const model = presetEntries(source, false).map(([key, text]) => `m.${key}=${encodeURIComponent(text)}`);
  return `/api/charts/${kind.id}${[query(spec), ...parts, ...model].join("&")}`;
}

/** query: with its "?". */
const prefixed = (query: string, prefix: string) =>
  query
    .slice(1)
    .split("&")
    .map((part) => prefix + part);

/** The request with the look of the chart. */
export function withLook(
  path: string,
  y: string,
  { theme, colours }: State["view"],
  size: { width: number; height: number },
) {
  const look = {
    ...(y ? { y } : {}),
    theme: (isDark(theme) ? "dark" : "light") + (colours ? `-${colours}` : ""),
    width: String(inSteps(size.width, LEAST.width)),
    height: String(inSteps(size.height, LEAST.height)),
  };
  return `${path}&${new URLSearchParams(look)}`;
}

const inSteps = (px: number, least: number) => STEP * Math.floor(Math.max(px, least) / STEP);

const isMessage = (value: unknown): value is Message =>
  value !== null && typeof value === "object" && Object.keys(value).sort().join() === "code,message,params";

/** A copy of the server's data with every message replaced by a text. */
function withTexts(data: any, textOf: (message: Message) => string): any {
  if (Array.isArray(data)) return data.map((each) => withTexts(each, textOf));
  if (isMessage(data)) return textOf(data);
  if (data === null || typeof data !== "object") return data;
  return Object.fromEntries(Object.entries(data).map(([name, each]) => [name, withTexts(each, textOf)]));
}

/** An answer in the reader's language. chart: as the server sent it. */
function translated(chart: Chart): Chart {
  const copy = withTexts(chart, tr);
  sent.set(copy, chart);
  return copy;
}

/** An answer with English texts, which files have whatever the page's language. */
const inEnglish = (chart: Chart): any => withTexts(sent.get(chart) ?? chart, (message) => message.message);

export const answerOf = (chart: Chart): ChartAnswer => ("points" in chart ? frontierAnswer(chart) : rowsAnswer(chart));

function frontierAnswer(chart: Points): ChartAnswer {
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

const rowsAnswer = (chart: Exclude<Chart, Points>): ChartAnswer => ({
  order: chart.rows.map((_, at) => at),
  front: (at) => at,
  describe: (at) => `${chart.rows[at].lines.map(tr).join(t("; "))}${t(".")}`,
  put: (at) => chart.rows[at]?.change ?? null,
  csv: () => rowsCsv(inEnglish(chart)),
  guide: chart.notes.map(tr).join(t(" ")),
});
