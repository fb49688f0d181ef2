// The points of the frontier as a table: what the figure shows in numbers, and a way to each point without a pointer.
import { h } from "../../ui/dom.js";
import { byMemory, rank, short } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";
import { formatPercent } from "../../core/i18n/numbers.js";

/** @import {Point} from "../../core/drawing/chart_points.js" */
/** @typedef {(at: number, under: boolean) => void} Put */
/** @typedef {(at: number) => string} Mark  the letter of the schedule that a point is, "" for none */

/** @returns {[string, string][]} */
const columns = () => [
  [t("memory"), t("the fullest device, in one micro-batch's activations")],
  [t("throughput"), t("of what a pipeline without bubbles gives")],
  [t("bubble"), t("idle share of the longest device's own window (span, of total)")],
  [t("beaten by"), t("what holds no more and is faster, or holds less and is as fast")],
];

/**
 * @param {Point[]} points
 * @param {Mark} mark
 * @param {string} next the letter of the schedule that would come under the others
 * @param {Put} put
 * @param {(at: number | null) => void} point
 */
export function pointTable(points, mark, next, put, point) {
  const rows = byMemory(points).map((at) => rowOf(points, at, mark(at), next, put, point));
  return h(
    "table",
    { class: "charts-table" },
    h("caption", { class: "visually-hidden", text: t("The points of the chart, from the least memory to the most") }),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col", text: t("schedule") }),
        ...columns().map(([name, title]) => h("th", { scope: "col", title, text: name })),
      ),
    ),
    h("tbody", {}, ...rows),
  );
}

/**
 * @param {Point[]} points
 * @param {number} at
 * @param {string} mark
 * @param {string} next
 * @param {Put} put
 * @param {(at: number | null) => void} point
 */
function rowOf(points, at, mark, next, put, point) {
  const each = points[at];
  const letter = mark || next;
  const under = mark !== "" && mark !== "A";
  const first = h(
    "button",
    {
      type: "button",
      class: "put",
      "aria-pressed": String(mark === "A"),
      title: t("Put it on the timeline"),
      onclick: (/** @type {MouseEvent} */ event) => put(at, event.shiftKey),
    },
    tr(each.label),
  );
  const second = h(
    "button",
    {
      type: "button",
      class: "under",
      "aria-pressed": String(under),
      disabled: mark === "A",
      "aria-label": t("{name} as schedule {letter}", { name: tr(each.label), letter }),
      title: under
        ? t("Take schedule {letter} off the timeline", { letter })
        : t("Put it under the first schedule, as {letter}", { letter }),
      onclick: () => put(at, true),
    },
    letter,
  );
  return h(
    "tr",
    {
      "data-at": at,
      class:
        [mark && "is-shown", each.dominated_by === null && !each.moved && "is-best"].filter(Boolean).join(" ") || null,
      onmouseenter: () => point(at),
      onmouseleave: () => point(null),
    },
    h("th", { scope: "row" }, second, first),
    h("td", { text: short(each.memory) }),
    h("td", { text: formatPercent(each.throughput) }),
    h("td", { text: formatPercent(each.bubble.span.of_total) }),
    h("td", { class: "text", title: each.adjusted && tr(each.adjusted), text: rank(points, each) }),
  );
}
