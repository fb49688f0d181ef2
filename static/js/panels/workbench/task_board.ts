// A task's leaderboard: how many entries have which figure, the Pareto front of time and memory with the named
// schedules, and the best entries, each to be put on the board and played.
import { t, tr } from "../../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../../core/i18n/numbers.ts";
import { h, hasServer, replace, setText, show } from "../../ui/dom.ts";
import { tableHead, tableRow } from "../../ui/table.ts";
import type { BoardEntry, Task, TaskBoard } from "../../data/workbench/tasks.ts";
import type { Score } from "../../core/workbench/score.ts";

/** replay: puts the rows of an entry on the board and plays them. */
type Parts = { load: (slug: string) => Promise<TaskBoard>; replay: (rows: string[]) => void };

const WIDE = { width: 240, height: 44 }; // of a histogram
const PLOT = { width: 240, height: 150, left: 26, foot: 22, air: 10 };
const WIDEST = 24; // of a bar
const LISTED = 8; // of the best entries

export const metricTexts = (): Record<keyof Score, string> => ({
  makespan: t("Step time"),
  bubble: t("Bubble"),
  peak: t("Peak memory"),
  messages: t("Messages"),
  simplicity: t("Symbols of the rule"),
});

const valueText = (metric: keyof Score, value: number) => (metric === "bubble" ? formatPercent(value) : num(value));

export function createTaskBoard({ load, replay }: Parts) {
  const count = h("p#board-count", { role: "status" });
  const body = h("div.task-board-body");
  const node = h("details#task-board.task-board", h("summary", { text: t("Leaderboard") }), count, body);
  let task: Task | null = null;
  node.addEventListener("toggle", () => void refresh());

  async function refresh() {
    const wanted = task;
    if (!wanted || !node.open) return;
    try {
      const board = await load(wanted.slug);
      if (task !== wanted) return;
      setText(
        count,
        board.entries
          ? t("Different orders: {entries}. Entries: {submissions}.", {
              entries: board.entries,
              submissions: board.submissions,
            })
          : t("No order has been entered yet."),
      );
      replace(
        body,
        paretoNode(board, wanted),
        board.entries ? bestTable(board.best.slice(0, LISTED), replay) : "",
        board.entries > 1 ? histograms(board) : "", // one order alone is one bar of each
      );
    } catch {
      setText(count, t("The leaderboard cannot be read now."));
      replace(body);
    }
  }

  return {
    node,
    refresh,
    put(next: Task | null) {
      task = next;
      show(node, hasServer && next !== null);
      node.open = false;
      replace(body);
      setText(count, "");
    },
  };
}

const histograms = ({ histograms: all }: TaskBoard) =>
  h(
    "div.board-histograms",
    ...Object.entries(metricTexts()).map(([name, title]) => {
      const metric = name as keyof Score;
      const { width, counts } = all[metric];
      const first = counts.findIndex((n) => n > 0);
      const shown = counts.slice(Math.max(0, first));
      const from = valueText(metric, Math.max(0, first) * width);
      const to = valueText(metric, counts.length * width);
      const text = t("{title}: {n} bins from {from} to {to}, the fullest has {most} orders.", {
        title,
        n: shown.length,
        from,
        to,
        most: Math.max(0, ...shown),
      });
      return h(
        "figure",
        { "data-metric": metric },
        h("figcaption", { text: title }),
        bars(shown, text),
        h("div.board-ends", { "aria-hidden": "true" }, h("span", { text: from }), h("span", { text: to })),
      );
    }),
  );

function svg(name: string, attributes: Record<string, string | number>, ...children: Element[]) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

function bars(counts: number[], text: string) {
  const most = Math.max(1, ...counts);
  const each = Math.min(WIDEST, WIDE.width / Math.max(1, counts.length));
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDE.width} ${WIDE.height}`, role: "img", "aria-label": text, class: "board-bars" },
    ...counts.map((n, k) => {
      const tall = (n / most) * WIDE.height;
      return svg("rect", { x: k * each, y: WIDE.height - tall, width: Math.max(1, each - 1), height: tall });
    }),
  );
}

/** Step time to the right, peak memory upward: named schedules as diamonds, entries as dots, the front filled. */
function paretoNode({ front, best }: TaskBoard, task: Task) {
  const named = task.named.filter(({ within }) => within);
  const entries = [...best.filter((each) => !front.some(({ id }) => id === each.id)), ...front];
  const scores = [...named, ...entries].map(({ score }) => score);
  if (!scores.length) return h("p.note", { text: t("No named schedule is within the limit here.") });
  const [times, peaks] = [scores.map(({ makespan }) => makespan), scores.map(({ peak }) => peak)];
  const place = ({ makespan, peak }: Score) => ({
    x: PLOT.left + PLOT.air + part(makespan, times) * (PLOT.width - PLOT.left - 2 * PLOT.air),
    y: PLOT.height - PLOT.foot - PLOT.air - part(peak, peaks) * (PLOT.height - PLOT.foot - 2 * PLOT.air),
  });
  const marks = [
    ...named.map(({ title, score }) => {
      const { x, y } = place(score);
      return titled(svg("path", { d: `M${x} ${y - 6}l6 6-6 6-6-6z`, class: "board-named" }), tr(title), score);
    }),
    ...entries.map((entry) => {
      const { x, y } = place(entry.score);
      const kind = front.includes(entry) ? "board-front" : "board-entry";
      return titled(svg("circle", { cx: x, cy: y, r: 4, class: kind }), entry.name ?? t("an entry"), entry.score);
    }),
  ];
  const text = t("Step time against peak memory: {named} named schedules, {n} entries, {front} of them on the front.", {
    named: named.length,
    n: entries.length,
    front: front.length,
  });
  const [right, foot] = [PLOT.width - PLOT.air, PLOT.height - PLOT.foot];
  return h(
    "figure",
    h("figcaption", { text: t("Step time against peak memory") }),
    svg(
      "svg",
      { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img", "aria-label": text, class: "board-pareto" },
      svg("path", { d: `M${PLOT.left} 4V${foot}H${right}`, class: "board-axis" }),
      ...ends(times).map((time, k) => words(num(time), [PLOT.left + PLOT.air, right][k], PLOT.height - 8, ENDS[k])),
      ...ends(peaks).map((peak, k) => words(num(peak), PLOT.left - 4, [foot - PLOT.air, PLOT.air][k] + 4, "end")),
      ...marks,
    ),
    h("p.note", { text: t("Diamonds are named schedules; filled dots are on the front.") }),
  );
}

const ENDS = ["start", "end"]; // how the words at the ends of an axis are anchored

/** The least and the greatest; one where they are equal. */
const ends = (all: number[]) => [...new Set([Math.min(...all), Math.max(...all)])];

/** Where a value is between the least and the greatest. */
function part(value: number, all: number[]) {
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return most > least ? (value - least) / (most - least) : 0.5;
}

function words(text: string, x: number, y: number, anchor: string) {
  const node = svg("text", { x, y, "text-anchor": anchor });
  node.textContent = text;
  return node;
}

function titled(mark: Element, name: string, { makespan, peak }: Score) {
  const node = svg("title", {});
  node.textContent = t("{name}: step time {time}, peak memory {peak}", { name, time: num(makespan), peak: num(peak) });
  mark.append(node);
  return mark;
}

function bestTable(best: BoardEntry[], replay: (rows: string[]) => void) {
  const button = (rows: string[], at: number) =>
    h(
      "button.button.soft",
      { "data-replay": at, "aria-label": t("Replay entry {n}", { n: at + 1 }), onclick: () => replay(rows) },
      "▶",
    );
  const play = h("th", { scope: "col" }, h("span.visually-hidden", { text: t("Replay") }));
  const rows = best.map(({ name, score, rows: order }, at) =>
    tableRow(
      name ?? t("no name"),
      num(score.makespan),
      num(score.peak),
      num(score.simplicity),
      h("td", button(order, at)),
    ),
  );
  return h(
    "table.bench-score.board-best",
    h("caption", { text: t("Best entries") }),
    tableHead(t("Name"), t("time"), t("mem."), t("rule"), play),
    h("tbody", ...rows),
  );
}
