// The comparison as a table: sortable columns, one row per family, claims beside simulated figures. Sends no requests.
import { h } from "../../ui/dom.ts";
import { hiddenCaption, tableHead } from "../../ui/table.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { alike, columns, inOrder, leastOf, overLimit, withUnits } from "./comparison.ts";
import type { Claimed, Column, Comparison, Row } from "./comparison.ts";
import type { Spec } from "../../core/schedule/types.ts";

type Shown = {
  answer: Comparison;
  spec: Spec; // the setting
  marks: Map<string, string>; // families on the screen: name to their letters
  sort: string | null;
  way: 1 | -1;
};
type Acts = { sort: (id: string) => void; put: (row: Row) => void; say: (text: string | null) => void };

export function comparisonTable(shown: Shown, acts: Acts) {
  const rows = inOrder(shown.answer.rows, shown.sort, shown.way);
  const all = columns(withUnits(shown.answer));
  const best = new Map(all.map((column) => [column.id, leastOf(rows, column, shown.spec)]));
  return h(
    "table.comparison-table",
    hiddenCaption(t("Families at p {p}, m {m}", { p: shown.spec.p, m: shown.spec.m })),
    tableHead(
      heading("schedule", t("schedule"), t("name of the family"), shown, acts, false),
      ...all.flatMap((column) => [
        heading(column.id, column.name, column.hint, shown, acts, isText(column)),
        column.claim
          ? h("th", { scope: "col", class: t("claimed"), title: t("what papers claim, asymptotically") }, t("claimed"))
          : null,
      ]),
    ),
    h("tbody", ...rows.map((row) => rowOf(row, shown, acts, all, best))),
  );
}

const isOver = (row: Row, { id }: Column) =>
  (id === "memory" && overLimit(row)) ||
  (["device-memory", "fits"].includes(id) && row.units !== null && !row.units.memory.fits);

const isText = (column: Column) => ["technique", "backward", "complexity", "used", "fits"].includes(column.id);

function heading(id: string, name: string, hint: string, shown: Shown, acts: Acts, text: boolean) {
  const sorted = shown.sort === id ? (shown.way > 0 ? "ascending" : "descending") : null;
  const arrow = sorted === null ? null : h("span.arrow", { "aria-hidden": "true", text: shown.way > 0 ? "▲" : "▼" });
  return h(
    "th",
    { scope: "col", "aria-sort": sorted, class: text ? "text" : null },
    h("button", { title: hint, "data-sort": id, onclick: () => acts.sort(id) }, name, arrow),
  );
}

function rowOf(row: Row, shown: Shown, acts: Acts, all: Column[], best: Map<string, number>) {
  const mark = shown.marks.get(row.family) ?? null;
  const first = mark?.startsWith("A") ?? false;
  const put = h(
    "button.put",
    {
      "aria-pressed": String(mark !== null),
      "aria-disabled": first ? "true" : null,
      title: first
        ? t("The first schedule on the screen")
        : mark
          ? t("Take it off the screen")
          : t("Put it on the screen"),
    },
    row.title,
  );
  const sizes = row.adjusted
    ? explained(
        changed(row, shown.spec),
        t("{family}: {text}.", { family: row.title, text: tr(row.adjusted) }),
        "adjusted",
        acts,
      )
    : null;
  const chunks = row.spec.v > 1 ? h("span.size", { text: `v ${row.spec.v}` }) : null;
  const head = h("th", { scope: "row" }, put, chunks, mark ? h("span.plan-mark", { text: mark }) : null, sizes);
  return h(
    "tr",
    {
      "data-family": row.family,
      class: mark ? "is-shown" : null,
      onclick: () => {
        if (!first) acts.put(row);
      },
    },
    head,
    ...all.flatMap((column) => [cellOf(row, column, best, acts), column.claim ? claimOf(row, column, acts) : null]),
  );
}

/** The sizes that were adjusted, in short. */
function changed(row: Row, spec: Spec) {
  const keys = adjustedKeys(row.adjusted);
  const sizes = (["p", "m", "group"] as const).filter((key) => row.spec[key] !== spec[key] && keys.includes(key));
  return sizes.length ? sizes.map((key) => `${key} ${row.spec[key] ?? t("auto")}`).join(", ") : t("adjusted");
}

/** The keys of the spec that a message about an adjustment names. */
function adjustedKeys(message: any): string[] {
  if (message === null || typeof message !== "object") return [];
  if (message.code === "analysis.value_instead") return [message.params.name];
  return Object.values(message.params ?? {}).flatMap(adjustedKeys);
}

function cellOf(row: Row, column: Column, best: Map<string, number>, acts: Acts) {
  const value = column.of(row);
  const marked = typeof value === "number" && alike(value, best.get(column.id) ?? NaN);
  const why = column.why?.(row);
  const kinds = [isText(column) && "text", marked && "best", isOver(row, column) && "over"].filter(Boolean);
  return h(
    "td",
    { class: kinds.join(" ") || null, "data-column": column.id },
    why ? explained(column.show(row), why, "", acts) : column.show(row),
  );
}

function claimOf(row: Row, column: Column, acts: Acts) {
  const claim = column.claim?.(row);
  if (!claim || !column.say) return h("td.fine.claimed", { "data-claim": column.id });
  const text = spoken(claim, column.say);
  const of =
    column.id === "span" ? t("{family}, bubble", { family: row.title }) : t("{family}, memory", { family: row.title });
  return h(
    "td.fine.claimed",
    { "data-claim": column.id },
    claim.differs ? explained(text, t("{family}: {text}.", { family: of, text: tr(claim.differs) }), "", acts) : text,
  );
}

function spoken({ text, value }: Claimed, say: (x: number) => string) {
  const formula = text.replaceAll("*", "·").replaceAll(" + ", "+"); // which its column has room for
  return text === "0" || value === null ? formula : `${formula} = ${say(value)}`;
}

/** A text with an explanation, shown while it is pointed at or focused. */
function explained(text: string, why: string, kind: string, acts: Acts) {
  return h(
    "button",
    {
      class: `explained ${kind}`.trim(),
      "aria-label": `${text}. ${why}`,
      onmouseenter: () => acts.say(why),
      onmouseleave: () => acts.say(null),
      onfocus: () => acts.say(why),
      onblur: () => acts.say(null),
      onclick: (event: Event) => {
        event.stopPropagation();
        acts.say(why);
      },
    },
    text,
  );
}
