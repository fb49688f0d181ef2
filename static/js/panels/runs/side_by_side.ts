// Several runs on the timeline: buttons that choose the one of the panel, and a table with the predicted and measured
// figures of all, while they run one after the other and after that. A schedule that was refused has its reason there.
import { h, isNew, replace, show } from "../../ui/dom.ts";
import { fillSegments } from "../../ui/fields/choices.ts";
import { hiddenCaption, tableRow } from "../../ui/table.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { isOver, mayChange, type Run } from "../../data/runs/client.ts";
import { failureText, nameOf, outcomeOf, sizesText, titleOf, type Title } from "../../data/runs/run_titles.ts";
import { signedShare } from "./facts.ts";
import type { WatchedRun } from "../../data/runs/watched_run.ts";
import type { Refused } from "./start.ts";

/** run: null where it is not known yet; done and total: ops. */
type RunRow = { run: Run | null; done: number; total: number };
type Acts = { cancelAll: () => void };

/** Buttons that choose the run of the panel, where there are several. */
export function createSwitcher(select: (at: number) => void) {
  const node = h("div.which.runs", { role: "group", "aria-label": t("Run of the panel"), hidden: true });
  return {
    node,
    draw(all: WatchedRun[], shown: number, title: Title) {
      show(node, all.length > 1);
      const texts = all.map(({ run }, at) => (run ? `${at + 1} · ${titleOf(run, title)}` : String(at + 1)));
      fillSegments(
        node,
        texts.map((text) => ({ text })),
        shown,
        select,
      );
    },
  };
}

export function createRunTable(acts: Acts) {
  const cancel = h("button#cancel-all.button.soft", { onclick: acts.cancelAll }, t("Cancel all"));
  const body = h("tbody");
  const groups = [t("step time"), t("bubble"), t("bubble by span")];
  const [predicted, measured, error] = [t("predicted"), t("measured"), t("error")];
  const parts = [predicted, measured, error, predicted, measured, predicted, measured, predicted, error];
  const table = h(
    "table.lined.sweep",
    hiddenCaption(t("Runs on the timeline, predicted and measured")),
    h(
      "thead",
      h(
        "tr",
        h("th", { rowspan: 2, scope: "col", text: t("schedule") }),
        h("th", { rowspan: 2, scope: "col", text: t("outcome") }),
        ...groups.map((text, at) => h("th.num", { colspan: at ? 2 : 3, scope: "colgroup", text })),
        h("th.num", {
          colspan: 2,
          scope: "colgroup",
          title: t("The step time of a simulation with the measured costs of the ops"),
          text: t("re-simulated with measured costs"),
        }),
      ),
      h("tr", ...parts.map((text) => h("th.num", { scope: "col", text }))),
    ),
    body,
  );
  const node = h("div.sweep-box", { hidden: true }, table, cancel);

  return {
    node,
    draw(started: RunRow[], refused: Refused[], title: Title) {
      const rows = [
        ...started.map((row) => ({
          ...row,
          refused: "",
          title: row.run ? nameOf(row.run, title(row.run.spec)) : "…",
          about: row.run ? sizesText(row.run.spec) : "",
        })),
        ...refused.map(({ spec, why }) => ({
          run: null,
          done: 0,
          total: 0,
          refused: why,
          title: title(spec),
          about: sizesText(spec),
        })),
      ];
      show(node, rows.length > 1);
      if (rows.length < 2) return;
      show(
        cancel,
        rows.some(({ run }) => run !== null && !isOver(run) && mayChange(run)),
      );
      const cells = rows.map(cellsOf);
      if (!isNew(body, [rows.map((row) => row.title + row.about), cells])) return;
      replace(
        body,
        ...rows.map(({ title: name, about }, at) =>
          tableRow(
            h("th", { scope: "row" }, name, h("small", { text: about })),
            h("td", { class: `run-word ${cells[at].tone}`, text: cells[at].word }),
            ...cells[at].figures.map((text) => h("td.num", { text })),
          ),
        ),
      );
    },
  };
}

function cellsOf({ run, done, total, refused }: RunRow & { refused: string }) {
  const { word, tone } = wordOf(run, done, total, refused);
  const [plan, real] = [run?.predicted, run?.measured];
  const unit = run?.mode === "imported" ? " ms" : "";
  const time = (x: unknown) => (typeof x === "number" ? `${formatNumber(Math.round(x * 100) / 100)}${unit}` : "–");
  const share = (x: unknown) => (typeof x === "number" ? formatPercent(x) : "–");
  // as a share of what was measured, as calibrated.error is
  const off = plan && real ? signedShare(plan.makespan / real.makespan - 1) : "–";
  const figures = [
    time(plan?.makespan),
    time(real?.makespan),
    off,
    share(plan?.bubble?.global?.of_total),
    share(real?.bubble?.global?.of_total),
    share(plan?.bubble?.span?.of_total),
    share(real?.bubble?.span?.of_total),
    time(run?.calibrated?.predicted.makespan),
    run?.calibrated ? signedShare(run.calibrated.error) : "–",
  ];
  return { word, tone, figures };
}

/** How far a run is, in a word. */
function wordOf(run: Run | null, done: number, total: number, refused: string) {
  if (refused) return { word: `✗ ${refused}`, tone: "bad" };
  if (!run) return { word: "…", tone: "" };
  if (run.status === "failed" && run.failure) return { word: `✗ ${failureText(run)}`, tone: "bad" };
  if (run.status === "running" && total) return { word: t("{done} of {total} ops", { done, total }), tone: "" };
  return outcomeOf(run);
}
