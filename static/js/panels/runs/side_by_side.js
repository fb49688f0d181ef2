// The runs on the timeline side by side: what was predicted and what was measured of each, in both windows, while they
// run
// one after the other and after that. A row that was refused says why.
import { h, replace, show } from "../../ui/dom.js";
import { t, tr } from "../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { isOver } from "../../data/runs/client.js";
import { signedShare } from "./facts.js";

/** @import {Run} from "../../data/runs/client.js" */
/** @import {Refused} from "./start.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/**
 * @typedef {{run: Run | null, done: number, total: number}} Swept run: null where it is not known yet; done and total:
 *   ops
 */
/** @typedef {{cancelAll: () => void}} Acts */

/** @param {Spec} spec */
const sizes = (spec) => `p ${spec.p} · m ${spec.m}${spec.v > 1 ? ` · v ${spec.v}` : ""}`;

/** @param {Run} run @param {(spec: Spec) => string} title */
const titleOf = (run, title) => run.name || (run.mode === "imported" ? t("Imported trace") : title(run.spec));

/** @param {Acts} acts */
export function createSweep(acts) {
  const cancel = h(
    "button",
    { type: "button", class: "button soft", id: "cancel-all", onclick: acts.cancelAll },
    t("Cancel all"),
  );
  const body = h("tbody");
  const groups = [t("makespan"), t("bubble"), t("bubble by span")];
  const parts = [
    t("predicted"),
    t("measured"),
    t("off by"),
    t("predicted"),
    t("measured"),
    t("predicted"),
    t("measured"),
    t("predicted"),
    t("off by"),
  ];
  const table = h(
    "table",
    { class: "sweep" },
    h("caption", { class: "visually-hidden", text: t("Runs on the timeline, predicted against measured") }),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { rowspan: 2, scope: "col", text: t("schedule") }),
        h("th", { rowspan: 2, scope: "col", text: t("outcome") }),
        ...groups.map((text, at) => h("th", { colspan: at ? 2 : 3, scope: "colgroup", class: "num", text })),
        h("th", {
          colspan: 2,
          scope: "colgroup",
          class: "num",
          title: t("What the simulator makes of the times that the ops had"),
          text: t("makespan at the costs it had"),
        }),
      ),
      h("tr", {}, ...parts.map((text) => h("th", { scope: "col", class: "num", text }))),
    ),
    body,
  );
  const node = h("div", { class: "sweep-box", hidden: true }, table, cancel);
  let drawn = "";

  return {
    node,
    /**
     * @param {Swept[]} taken
     * @param {Refused[]} refused
     * @param {(spec: Spec) => string} named how a schedule is called
     */
    draw(taken, refused, named) {
      const rows = [
        ...taken.map((row) => ({
          ...row,
          refused: "",
          title: row.run ? titleOf(row.run, named) : "…",
          about: row.run ? sizes(row.run.spec) : "",
        })),
        ...refused.map(({ spec, why }) => ({
          run: null,
          done: 0,
          total: 0,
          refused: why,
          title: named(spec),
          about: sizes(spec),
        })),
      ];
      show(node, rows.length > 1);
      if (rows.length < 2) return;
      show(
        cancel,
        rows.some(({ run }) => run !== null && !isOver(run)),
      );
      const cells = rows.map(cellsOf);
      const key = JSON.stringify([rows.map(({ title, about }) => title + about), cells]);
      if (key === drawn) return;
      drawn = key;
      replace(
        body,
        ...rows.map(({ title, about }, at) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, title, h("small", { text: about })),
            h("td", { class: `run-word ${cells[at].tone}`, text: cells[at].word }),
            ...cells[at].figures.map((text) => h("td", { class: "num", text })),
          ),
        ),
      );
    },
  };
}

/** @param {Swept & {refused: string}} row */
function cellsOf({ run, done, total, refused }) {
  const { word, tone } = wordOf(run, done, total, refused);
  const [plan, real] = [run?.predicted, run?.measured];
  const unit = run?.mode === "imported" ? " ms" : "";
  const time = (/** @type {unknown} */ x) =>
    typeof x === "number" ? `${formatNumber(Math.round(x * 100) / 100)}${unit}` : "–";
  const share = (/** @type {unknown} */ x) => (typeof x === "number" ? formatPercent(x) : "–");
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

/**
 * How far a run is, in a word.
 * @param {Run | null} run
 * @param {number} done
 * @param {number} total
 * @param {string} refused
 */
function wordOf(run, done, total, refused) {
  if (refused) return { word: `✗ ${refused}`, tone: "bad" };
  if (!run) return { word: "…", tone: "" };
  if (run.status === "finished" && run.mode === "imported") return { word: t("not verified here"), tone: "" };
  if (run.status === "finished")
    return run.verified
      ? { word: `✓ ${t("verified")}`, tone: "good" }
      : { word: `✗ ${t("NOT equal to the reference")}`, tone: "bad" };
  if (run.status === "failed")
    return { word: `✗ ${run.error?.message ? tr(run.error.message) : t("failed")}`, tone: "bad" };
  if (run.status === "queued" && run.position)
    return { word: t("queued, number {n} in line", { n: run.position }), tone: "" };
  if (run.status === "running" && total) return { word: t("{done} of {total} ops", { done, total }), tone: "" };
  return { word: tr(run.status), tone: "" };
}
