// The numbers of a chart as a table, a row for each of its points. Knows no figure.
import { h } from "../../ui/dom.js";
import { cellText } from "../../core/drawing/chart_points.js";
import { t, tr } from "../../core/i18n/language.js";

/** @import {Cell, Row, Rows, Text} from "../../core/drawing/chart_points.js" */
/** @typedef {{put: (at: number, under: boolean) => void, point: (at: number | null) => void}} Acts */

const MOST = 400; // rows on the page; all are in the file

/** @param {Rows} chart @param {string} title @param {Acts} acts */
export function rowTable({ columns, rows }, title, acts) {
  const head = columns.map(([name, about], k) =>
    h(
      "th",
      { scope: "col", title: tr(about) || null, class: isText(rows[0]?.cells[k]) ? "is-text" : null },
      tr(name),
      unit(about),
    ),
  );
  const body = rows.slice(0, MOST).map((row, at) => rowOf(row, at, acts));
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

/** @param {Cell | undefined} cell */
const isText = (cell) => typeof cell === "string" || (typeof cell === "object" && cell !== null);

/** A unit stands in the head where it is short; more words are told on hover. @param {Text} text */
function unit(text) {
  const about = typeof text === "string" ? text : text.message;
  const short = about.startsWith("%") ? "%" : about.length <= 2 ? about : "";
  return short ? h("span", { class: "charts-unit", text: ` ${short}` }) : null;
}

/** @param {Row} row @param {number} at @param {Acts} acts */
function rowOf(row, at, acts) {
  const [first, ...rest] = row.cells;
  const name = cellText(first);
  const mark = row.mark ? h("span", { class: "charts-mark", text: row.mark }) : null;
  const button = row.put
    ? h(
        "button",
        {
          type: "button",
          class: "put",
          title: t("Put it on the timeline"),
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
        class: isText(cell) ? "text" : null,
        title: isText(cell) ? cellText(cell) : null,
        text: cellText(cell),
      }),
    ),
  );
}
