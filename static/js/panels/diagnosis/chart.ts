// Where each rank's time goes: a bar for each rank, stacked by cause, and a grid of how slow each worker is alone.
import { h } from "../../ui/dom.ts";
import { tableHead, tableRow, hiddenCaption } from "../../ui/table.ts";
import { causeName } from "./causes.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import type { Diagnosis } from "../../data/runs/diagnosis.ts";

const LEAST = 0.005; // of the step, on some rank: a smaller part is left out
const MOST_WORKERS = 256; // drawn in the grid

export const short = (ms: number) => formatNumber(Number(ms.toPrecision(4)));

/** The parts that are large enough on some rank, in the order in which the server has them. */
export function partsOf({ idle, measured }: Diagnosis) {
  const names = Object.keys(idle[0] ?? {}).filter((name) => name !== "rank");
  return names.filter((name) => idle.some((row) => Math.abs(row[name]) >= LEAST * measured.step));
}

/** pick: is told which cause is chosen, null for none. */
export function stackedBars(found: Diagnosis, pick: (cause: string | null) => void) {
  const parts = partsOf(found);
  const whole = (row: Diagnosis["idle"][number]) => parts.reduce((sum, name) => sum + Math.max(0, row[name]), 0);
  const most = Math.max(...found.idle.map(whole), 1e-9);
  const bars = found.idle.map((row) => {
    const segments = parts
      .filter((name) => row[name] > 0)
      .map((name) => {
        const segment = h("span.diagnosis-part", {
          "data-cause": name,
          title: t("{cause}: {ms} ms", { cause: causeName(name), ms: short(row[name]) }),
        });
        segment.style.width = `${(100 * row[name]) / most}%`;
        return segment;
      });
    return h(
      "div.diagnosis-bar",
      h("span.diagnosis-rank", { text: String(row.rank) }),
      h("span.diagnosis-parts", ...segments),
    );
  });
  const key = parts.map((name) => {
    const button = h(
      "button",
      { "aria-pressed": "false", "data-cause": name, onclick: () => pick(isPressed(button) ? null : name) },
      h("i.diagnosis-part", { "data-cause": name }),
      causeName(name),
    );
    return button;
  });
  return h(
    "figure.diagnosis-chart",
    h("figcaption", { text: t("Each rank's time in a step, by cause") }),
    h("div", { "aria-hidden": "true" }, ...bars),
    h("div.diagnosis-key", { role: "group", "aria-label": t("Show a cause alone") }, ...key),
  );
}

const isPressed = (button: HTMLElement) => button.getAttribute("aria-pressed") === "true";

export function partsTable(found: Diagnosis) {
  const rows = partsOf(found).map((name) => tableRow(causeName(name), ...found.idle.map((row) => short(row[name]))));
  return h(
    "details",
    h("summary", { text: t("As a table, in ms") }),
    h(
      "div.scroll-x",
      h(
        "table.data",
        hiddenCaption(t("Each rank's time in a step, by cause")),
        tableHead(t("cause"), ...found.idle.map(({ rank }) => t("rank {rank}", { rank }))),
        h("tbody", ...rows),
      ),
    ),
  );
}

/** What ranks do beside their ops, the longest first; null where the files have nothing of it. */
export function besideTable({ measured: { beside } }: Diagnosis) {
  if (!beside.length) return null;
  const rows = beside.map(({ name, time }) => tableRow(name, short(time)));
  return h(
    "details",
    h("summary", { text: t("Beside the ops, in ms") }),
    h(
      "table.data",
      hiddenCaption(t("What a rank does in a step beside its ops, the longest first")),
      tableHead(t("name"), t("ms of a step")),
      h("tbody", ...rows),
    ),
  );
}

/**
 * Of several replicas: one hot cell is a slow worker, a hot row uneven stages, a random pattern micro-batches. choose:
 * is told the replica of the cell that is clicked.
 */
export function workerGrid({ by_worker: workers }: Diagnosis, choose: (replica: number) => void) {
  if (!workers.length || workers.length > MOST_WORKERS) return null;
  const ranks = [...new Set(workers.map(({ rank }) => rank))];
  const replicas = [...new Set(workers.map(({ replica }) => replica))];
  const most = Math.max(...workers.map(({ slowdown }) => slowdown - 1), 0.01);
  const cellOf = (rank: number, replica: number) => {
    const slow = workers.find((each) => each.rank === rank && each.replica === replica)?.slowdown ?? 1;
    const cell = h("td", {
      title: t("rank {rank} of replica {replica} alone: {slow} times", { rank, replica, slow: short(slow) }),
      onclick: () => choose(replica),
    });
    cell.style.setProperty("--heat", `${Math.round((100 * Math.max(0, slow - 1)) / most)}%`);
    return cell;
  };
  const rows = ranks.map((rank) =>
    h("tr", h("th", { scope: "row", text: String(rank) }), ...replicas.map((replica) => cellOf(rank, replica))),
  );
  return h(
    "figure.diagnosis-workers",
    h("figcaption", {
      text: t("How slow each worker alone makes the step, up to {most}: ranks down, replicas across", {
        most: formatPercent(most),
      }),
    }),
    h("div.scroll-x", h("table", h("tbody", ...rows))),
  );
}
