// How a class has answered: a small chart of each kind of question, readable without its colours and by screen readers.
import { answeredIn, built, histogram, percent, places, positions, type Row } from "./tally_numbers.ts";
import { filled, h, isNew, replace } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num } from "../../core/i18n/numbers.ts";
import type { Count, Question } from "../../data/classroom/classroom.ts";

type Asked = Pick<Question, "kind" | "options" | "ops" | "unit">;
/** right: null where nobody has said, or where it is not shown; total: students who could answer. */
type Shown = { right: string | null; total: number };

const MOST_ROWS = 8;
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, FOOT, HEAD] = [480, 176, 24, 20]; // of a histogram

/** Draw the tally of a question into a node; again only where something has changed. */
export function drawTally(node: HTMLElement, question: Asked, counts: Count[], { right, total }: Shown) {
  const { kind, options, ops, unit } = question;
  if (!isNew(node, [kind, options, ops, unit, counts, right, total])) return;
  const answered = answeredIn(counts);
  node.classList.add("tally");
  const head = h(
    "p.tally-answered",
    ...filled(t("{answered} of {total} have answered"), {
      answered: h("b", { text: answered }),
      total: Math.max(total, answered),
    }),
  );
  const parts = answered || kind === "choose" ? DRAW[kind](question, counts, right, answered) : [];
  replace(node, head, ...parts);
}

type Draw = (question: Asked, counts: Count[], right: string | null, answered: number) => HTMLElement[];

const DRAW: Record<Question["kind"], Draw> = {
  choose: ({ options }, counts, right, answered) => {
    const of = new Map(counts);
    const rows = options.map((text, at) => ({ text, count: of.get(String(at)) ?? 0, right: String(at) === right }));
    return [bars(rows, answered, (text, at) => [h("span.tally-letter", { text: "ABCDEFGH"[at] }), " ", text])];
  },
  predict: ({ unit }, counts, right) => numbers(counts, right === null ? null : Number(right), unit),
  order: ({ ops }, counts, right, answered) => {
    const rows = counts.map(([text, count]) => ({ text, count, right: text === right }));
    return [bars(rows, answered, (text) => [h("span.tally-ops", { text })]), matrix(counts, ops, answered)];
  },
  find: (_, counts, right, answered) => [bars(places(counts, right), answered, (text) => [placeText(text)])],
  build: (_, counts, __, answered) => boards(counts, answered),
};

/** What is right, in words. */
export function answerText({ kind, options, unit }: Asked, answer: string) {
  if (kind === "choose") return options[Number(answer)] ?? answer;
  if (kind === "predict") return withUnit(num(Number(answer)), unit);
  return kind === "find" ? placeText(answer) : answer;
}

/** An op, or a moment or a wait of a rank. */
function placeText(text: string) {
  const [rank, when] = text.split("@");
  if (when === undefined) return text;
  const [from, to] = when.split("-");
  return to === undefined
    ? t("rank {rank} at about {from}", { rank, from })
    : t("rank {rank}, {from} to {to}", { rank, from, to });
}

const withUnit = (text: string, unit: string) => (unit ? `${text} ${unit}` : text);

/** Rows with a bar, a count and a share each; the most frequent, and how many others there are. */
function bars(rows: Row[], answered: number, label: (text: string, at: number) => (string | HTMLElement)[]) {
  const shown = rows.slice(0, MOST_ROWS);
  const rest = rows.slice(MOST_ROWS);
  const most = Math.max(1, ...rows.map(({ count }) => count));
  return h(
    "ol.tally-bars",
    ...shown.map((row, at) => {
      const bar = h("span.tally-bar", { "aria-hidden": "true" }, h("span"));
      bar.style.setProperty("--share", String(row.count / most));
      return h(
        row.right ? "li.is-right" : "li",
        h("span.tally-label", ...label(row.text, at), row.right && rightMark()),
        bar,
        h("span.tally-count", h("b", { text: row.count }), ` · ${percent(row.count, answered)} %`),
      );
    }),
    rest.length > 0 &&
      h("li.tally-rest", { text: t("{n} further answers, each from fewer students", { n: rest.length }) }),
  );
}

const rightMark = () =>
  h(
    "span.tally-right",
    h("span", { "aria-hidden": "true", text: "✓" }),
    h("span.visually-hidden", { text: t("right") }),
  );

/** Numbers along an axis, the right one as a line. */
function numbers(counts: Count[], right: number | null, unit: string) {
  const { step, bins, outside, most } = histogram(counts, right);
  if (!bins.length) return [];
  const wide = WIDTH / bins.length;
  const high = HEIGHT - FOOT - HEAD;
  const every = Math.ceil((bins.length * 46) / WIDTH); // labels that do not touch
  const svg = drawn("svg", { class: "tally-plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  svg.append(drawn("line", { class: "tally-base", x1: 0, x2: WIDTH, y1: HEIGHT - FOOT, y2: HEIGHT - FOOT }));
  bins.forEach(({ at, count }, k) => {
    const tall = (high * count) / most;
    const y = HEIGHT - FOOT - tall;
    if (count) {
      svg.append(drawn("rect", { class: "tally-bin", x: k * wide + 1, y, width: Math.max(2, wide - 2), height: tall }));
      if (wide >= 14) svg.append(words((k + 0.5) * wide, y - 4, String(count), "tally-number"));
    }
    if (k % every === 0) svg.append(words((k + 0.5) * wide, HEIGHT - 7, num(at), "tally-tick"));
  });
  if (right !== null) {
    const x = Math.min(WIDTH - 1, Math.max(1, ((right - bins[0].at) / step + 0.5) * wide));
    svg.append(drawn("line", { class: "tally-here", x1: x, x2: x, y1: 0, y2: HEIGHT - FOOT }));
  }
  const said = [...counts].sort((a, b) => Number(a[0]) - Number(b[0]));
  return [
    h("div", svg),
    h(
      "p.tally-note",
      unit && h("span", { text: t("in {unit}", { unit }) }),
      right !== null && h("span.is-right", `✓ ${t("right: {answer}", { answer: withUnit(num(right), unit) })}`),
      outside.length > 0 &&
        h("span", {
          text: t("not drawn: {list}", {
            list: outside.map(([text, count]) => `${num(Number(text))} (${count})`).join(t(", ")),
          }),
        }),
    ),
    h(
      "ul.visually-hidden",
      ...said.map(([text, count]) =>
        h("li", { text: t("{answer}: {n} students", { answer: withUnit(text, unit), n: count }) }),
      ),
    ),
  ];
}

function drawn(tag: string, attributes: Record<string, string | number>) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}

function words(x: number, y: number, text: string, kind: string) {
  const node = drawn("text", { class: kind, x, y, "text-anchor": "middle" });
  node.textContent = text;
  return node;
}

/** Which op stands at which position, in percent of the answers. */
function matrix(counts: Count[], ops: string[], answered: number) {
  const { ops: rows, of } = positions(counts, ops);
  return h(
    "div.tally-matrix",
    { tabindex: 0, role: "group", "aria-label": t("Where the ops were put") },
    h("p.tally-note", { text: t("Where the ops were put, in percent of the answers") }),
    h(
      "table",
      h("thead", h("tr", h("td"), ...rows.map((_, at) => h("th", { scope: "col", text: at + 1 })))),
      h(
        "tbody",
        ...rows.map((op, row) =>
          h(
            "tr",
            h("th", { scope: "row", text: op }),
            ...of[row].map((count) => {
              const cell = h("td", { text: count ? percent(count, answered) : "" });
              cell.style.setProperty("--share", String(answered ? count / answered : 0));
              return cell;
            }),
          ),
        ),
      ),
    ),
  );
}

/** Stars of the boards, and the shortest of them. */
function boards(counts: Count[], answered: number) {
  const { stars, best } = built(counts);
  const rows = stars.map((count, n) => ({ text: String(n), count, right: false })).reverse();
  const list = bars(rows, answered, (text) => [
    h("span.tally-stars", { "aria-hidden": "true", text: "★".repeat(Number(text)) + "☆".repeat(3 - Number(text)) }),
    h("span.visually-hidden", { text: t("{n} of 3 stars", { n: text }) }),
  ]);
  if (!best.length) return [list];
  const shown = best.slice(0, 5).map(([makespan, count]) => `${num(Number(makespan))} (${count})`);
  return [list, h("p.tally-note", { text: t("Shortest: {list}", { list: shown.join(t(", ")) }) })];
}
