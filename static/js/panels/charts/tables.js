// The numbers of a chart as a table: a row for each of its points, with a way to put it on the timeline.
import { bytesText, fitText, rateText } from "../../data/costs/quantities.js";
import { h } from "../../ui/dom.js";
import { byMemory, cellText, rank, short } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";
import { formatPercent } from "../../core/i18n/numbers.js";

/** @import {Point, Row, Rows} from "../../core/drawing/chart_points.js" */
/** @typedef {(at: number, under: boolean) => void} Put */
/** @typedef {(at: number) => string} Mark  the letter of the schedule that a point is, "" for none */
/** @typedef {{put: Put, point: (at: number | null) => void}} Acts */

const MOST = 400; // rows on the page; all are in the file

/** @param {boolean} withUnits @returns {[string, string][]} */
const pointColumns = (withUnits) => [
  [t("memory"), t("on the device with the most, in one micro-batch's activations")],
  ...(withUnits ? unitColumns() : []),
  [t("throughput"), t("share of what a pipeline without bubbles reaches")],
  [t("bubble"), t("idle share of the busiest device's window, from its own first start to its last end")],
  [t("dominated by"), t("a schedule that needs no more memory and is faster, or less memory and is as fast")],
];

/** What a model and a machine add. @returns {[string, string][]} */
const unitColumns = () => [
  [t("in bytes"), t("weights, gradients, optimizer and activations on the device with the most")],
  [t("MFU"), t("model FLOP ÷ peak")],
  [t("tokens / s"), t("tokens of all replicas in a second")],
];

/**
 * @param {Point[]} points
 * @param {Mark} mark
 * @param {string} next the letter of the schedule that would be added
 * @param {Put} put
 * @param {(at: number | null) => void} point
 */
export function pointTable(points, mark, next, put, point) {
  const rows = byMemory(points).map((at) => pointRow(points, at, mark(at), next, put, point));
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
        ...pointColumns(points.some(({ units }) => units)).map(([name, title]) =>
          h("th", { scope: "col", title, text: name }),
        ),
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
function pointRow(points, at, mark, next, put, point) {
  const each = points[at];
  const letter = mark || next;
  const under = mark !== "" && mark !== "A";
  const first = h(
    "button",
    {
      type: "button",
      class: "put",
      "aria-pressed": String(mark === "A"),
      title: t("Show it on the timeline"),
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
      title: under ? t("Remove schedule {letter}", { letter }) : t("Add it as schedule {letter}", { letter }),
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
    ...(each.units
      ? [
          h("td", {
            class: each.units.memory.fits ? null : "over",
            title: fitText(each.units.memory),
            text: bytesText(each.units.memory.most),
          }),
          h("td", { text: formatPercent(each.units.mfu) }),
          h("td", { text: rateText(each.units.tokens_per_second) }),
        ]
      : []),
    h("td", { text: formatPercent(each.throughput) }),
    h("td", { text: formatPercent(each.bubble.global.of_total) }),
    h("td", { class: "text", title: each.adjusted && tr(each.adjusted), text: rank(points, each) }),
  );
}

/** @param {Rows} chart @param {string} title @param {Acts} acts */
export function rowTable({ columns, rows }, title, acts) {
  const head = columns.map(([name, about], k) =>
    h(
      "th",
      { scope: "col", title: tr(about) || null, class: typeof rows[0]?.cells[k] === "string" ? "is-text" : null },
      tr(name),
      unit(tr(about)),
    ),
  );
  const body = rows.slice(0, MOST).map((row, at) => dataRow(row, at, acts));
  return h(
    "table",
    { class: "charts-table charts-rows" },
    h(
      "caption",
      { class: rows.length > MOST ? "charts-more" : "visually-hidden" },
      rows.length > MOST
        ? t("The first {shown} of {all} rows; the CSV has all of them.", { shown: MOST, all: rows.length })
        : title,
    ),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...body),
  );
}

/** Short units are shown in the head; longer texts are its title. @param {string} about */
function unit(about) {
  const sign = about.includes("%") ? "%" : about.length <= 2 ? about : "";
  return sign ? h("span", { class: "charts-unit", text: ` ${sign}` }) : null;
}

/** @param {Row} row @param {number} at @param {Acts} acts */
function dataRow(row, at, acts) {
  const [first, ...rest] = row.cells;
  const name = typeof first === "string" ? tr(first) : cellText(first);
  const mark = row.mark ? h("span", { class: "plan-mark", text: row.mark }) : null;
  const button = row.change
    ? h(
        "button",
        {
          type: "button",
          class: "put",
          title: t("Show it on the timeline"),
          onclick: (/** @type {MouseEvent} */ event) => acts.put(at, event.shiftKey),
        },
        name,
      )
    : name;
  return h(
    "tr",
    {
      "data-at": at,
      class: row.mark ? "is-shown" : null,
      onmouseenter: () => acts.point(at),
      onmouseleave: () => acts.point(null),
    },
    h("th", { scope: "row" }, button, mark),
    ...rest.map((cell) =>
      h("td", {
        class: typeof cell === "string" ? "text" : null,
        title: typeof cell === "string" ? tr(cell) : null,
        text: typeof cell === "string" ? tr(cell) : cellText(cell),
      }),
    ),
  );
}
