// The points of a chart as a table: what the figure shows in numbers, and a way to each point without a pointer.
import { h } from "./dom.js";
import { byMemory, rank, short } from "./pure/charts.js";
import { formatPercent } from "./pure/scale.js";

/** @import {Point} from "./pure/charts.js" */
/** @typedef {(at: number, second: boolean) => void} Put */

const COLUMNS = [["memory", "the fullest device, in one micro-batch's activations"], 
  ["throughput", "of what a pipeline without bubbles gives"], ["bubble", "idle share of the longest device's own window (span, of total)"],
  ["beaten by", "what holds no more and is faster, or holds less and is as fast"]];

/** @param {Point[]} points @param {(at: number) => string} mark "A", "B" or "" @param {Put} put @param {(at: number | null) => void} point */
export function pointTable(points, mark, put, point) {
  const rows = byMemory(points).map((at) => rowOf(points, at, mark(at), put, point));
  return h("table", { class: "charts-table" }, h("caption", { class: "visually-hidden", text: "The points of the chart, from the least memory to the most" }),
    h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "schedule" }), ...COLUMNS.map(([name, title]) => h("th", { scope: "col", title, text: name })))),
    h("tbody", {}, ...rows));
}

/** @param {Point[]} points @param {number} at @param {string} mark @param {Put} put @param {(at: number | null) => void} point */
function rowOf(points, at, mark, put, point) {
  const each = points[at];
  const first = h("button", { type: "button", class: "put", "aria-pressed": String(mark === "A"), title: "Put it on the timeline",
    onclick: (/** @type {MouseEvent} */ event) => put(at, event.shiftKey) }, each.label);
  const under = h("button", { type: "button", class: "under", "aria-pressed": String(mark === "B"), disabled: mark === "A",
    "aria-label": `${each.label} as schedule B`, title: mark === "B" ? "Take schedule B off the timeline" : "Put it under the first schedule, as B",
    onclick: () => put(at, true) }, mark === "A" ? "A" : "B");
  return h("tr", { "data-at": at, class: [mark && "is-shown", each.dominated_by === null && !each.moved && "is-best"].filter(Boolean).join(" ") || null,
    onmouseenter: () => point(at), onmouseleave: () => point(null) },
  h("th", { scope: "row" }, under, first),
  h("td", { text: short(each.memory) }), h("td", { text: formatPercent(each.throughput) }),
  h("td", { text: formatPercent(each.bubble.span.of_total) }), h("td", { class: "text", title: each.adjusted, text: rank(points, each) }));
}
