// The numbers of a chart as a table: a row for each of its points, with a way to put it on the timeline.
import { bytesText, fitText, rateText } from "../../data/costs/quantities.ts";
import { h } from "../../ui/dom.ts";
import { hiddenCaption, tableHead } from "../../ui/table.ts";
import { byMemory, cellText, rank, short, type Point, type Row, type Rows } from "../../core/drawing/chart_points.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";

type Put = (at: number, under: boolean) => void;
/** The letter of the schedule that a point is, "" for none. */
type Mark = (at: number) => string;
type Acts = { put: Put; point: (at: number | null) => void };

const MOST = 400; // rows on the page; all are in the file

const pointColumns = (withUnits: boolean): [string, string][] => [
  [t("memory"), t("on the device with the most, in one micro-batch's activations")],
  ...(withUnits ? unitColumns() : []),
  [t("throughput"), t("share of what a pipeline without bubbles reaches")],
  [t("bubble"), t("idle share of the busiest device's window, from its own first start to its last end")],
  [t("dominated by"), t("a schedule that needs no more memory and is faster, or less memory and is as fast")],
];

/** What a model and a machine add. */
const unitColumns = (): [string, string][] => [
  [t("in bytes"), t("weights, gradients, optimizer and activations on the device with the most")],
  [t("MFU"), t("model FLOP ÷ peak")],
  [t("tokens / s"), t("tokens of all replicas in a second")],
];

/** next: the letter of the schedule that would be added. */
export function pointTable(points: Point[], mark: Mark, next: string, put: Put, point: (at: number | null) => void) {
  const rows = byMemory(points).map((at) => pointRow(points, at, mark(at), next, put, point));
  return h(
    "table.charts-table",
    hiddenCaption(t("The points of the chart, from the least memory to the most")),
    tableHead(
      t("schedule"),
      ...pointColumns(points.some(({ units }) => units)).map(([text, title]) => h("th", { scope: "col", title, text })),
    ),
    h("tbody", ...rows),
  );
}

function pointRow(
  points: Point[],
  at: number,
  mark: string,
  next: string,
  put: Put,
  point: (at: number | null) => void,
) {
  const each = points[at];
  const { units } = each;
  const letter = mark || next;
  const under = mark !== "" && mark !== "A";
  const first = h(
    "button.put",
    {
      "aria-pressed": String(mark === "A"),
      title: t("Show it on the timeline"),
      onclick: (event: MouseEvent) => put(at, event.shiftKey),
    },
    tr(each.label),
  );
  const second = h(
    "button.under",
    {
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
    ...(units
      ? [
          h("td", {
            class: units.memory.fits ? null : "over",
            title: fitText(units.memory),
            text: bytesText(units.memory.most),
          }),
          h("td", { text: formatPercent(units.mfu) }),
          h("td", { text: rateText(units.tokens_per_second) }),
        ]
      : []),
    h("td", { text: formatPercent(each.throughput) }),
    h("td", { text: formatPercent(each.bubble.global.of_total) }),
    h("td.text", { title: each.adjusted && tr(each.adjusted), text: rank(points, each) }),
  );
}

export function rowTable({ columns, rows }: Rows, title: string, acts: Acts) {
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
    "table.charts-table.charts-rows",
    h(
      "caption",
      { class: rows.length > MOST ? "charts-more" : "visually-hidden" },
      rows.length > MOST
        ? t("The first {shown} of {all} rows; the CSV has all of them.", { shown: MOST, all: rows.length })
        : title,
    ),
    tableHead(...head),
    h("tbody", ...body),
  );
}

/** Short units are shown in the head; longer texts are its title. */
function unit(about: string) {
  const sign = about.includes("%") ? "%" : about.length <= 2 ? about : "";
  return sign ? h("span.charts-unit", { text: ` ${sign}` }) : null;
}

function dataRow(row: Row, at: number, acts: Acts) {
  const [first, ...rest] = row.cells;
  const name = typeof first === "string" ? tr(first) : cellText(first);
  const mark = row.mark ? h("span.plan-mark", { text: row.mark }) : null;
  const button = row.change
    ? h(
        "button.put",
        { title: t("Show it on the timeline"), onclick: (event: MouseEvent) => acts.put(at, event.shiftKey) },
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
