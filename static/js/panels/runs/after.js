// What a finished run is good for beyond looking at it: its costs in the plan, its file for other programs.
import { h } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { verdict } from "../../core/measured/calibration.js";
import { hopTime } from "../../core/measured/cluster.js";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { fileOf } from "../../data/runs/client.js";

/** @import {Calibration} from "../../core/measured/calibration.js" */
/** @import {Run} from "../../data/runs/client.js" */

/**
 * @param {Run} run
 * @param {() => void} calibrate
 * @param {() => void} hop
 * @param {HTMLElement} showing the switches of its lane
 */
export function afterRun(run, calibrate, hop, showing) {
  const button = h(
    "button",
    {
      type: "button",
      class: "button soft",
      id: "calibrate",
      onclick: calibrate,
      title: t("Puts the times that the ops had into the plan, so that plan and run can be compared op by op"),
    },
    t("Calibrate the plan"),
  );
  const time = hopTime(run.links, run.unit_ms);
  const hops =
    time === null
      ? ""
      : h(
          "button",
          {
            type: "button",
            class: "button soft",
            id: "use-hops",
            onclick: hop,
            title: t("Makes the plan's hop as long as the longest one measured between neighbours: {n}", {
              n: formatNumber(time),
            }),
          },
          t("Use measured hop time"),
        );
  return h(
    "div",
    { class: "panel-row run-after" },
    button,
    hops,
    showing,
    h(
      "span",
      { class: "run-files" },
      t("Export the run"),
      file(run, "chrome-trace", t("Chrome trace")),
      file(run, "json", "JSON"),
    ),
  );
}

/** @param {Run} run @param {"chrome-trace" | "json"} format @param {string} text */
const file = (run, format, text) =>
  h("a", { class: "link", href: fileOf(run.id, format), download: "", id: `run-${format}` }, text);

/**
 * How near the plan is to the run at the run's own costs, in sentences with the numbers of both windows.
 * @param {Run} run
 * @param {Calibration} calibration
 */
export function calibrationText({ mode }, { predicted, measured, error }) {
  const unit = mode === "imported" ? " ms" : "";
  const short = (/** @type {number} */ x) => `${formatNumber(Number(x.toPrecision(4)))}${unit}`;
  const values = {
    predicted: short(predicted.makespan),
    measured: short(measured.makespan),
    share: `${formatNumber(Math.round(Math.abs(measured.makespan / predicted.makespan - 1) * 1000) / 10)} %`,
  };
  const gap = {
    equal: t(
      "At the times its ops had, the schedule is predicted to take {predicted}; it took {measured}, {share} apart: the schedule explains the run.",
      values,
    ),
    longer: t(
      "At the times its ops had, the schedule is predicted to take {predicted}; it took {measured}, {share} less.",
      values,
    ),
    shorter: t(
      "At the times its ops had, the schedule is predicted to take {predicted}; it took {measured}, {share} more.",
      values,
    ),
  }[verdict(error)];
  const [plan, real] = [predicted.bubble, measured.bubble];
  const bubbles =
    plan && real
      ? t("Bubble by the global window {a} predicted and {b} measured, by the span {c} and {d}.", {
          a: formatPercent(plan.global.of_total),
          b: formatPercent(real.global.of_total),
          c: formatPercent(plan.span.of_total),
          d: formatPercent(real.span.of_total),
        })
      : "";
  return [gap, bubbles, t("The plan has these costs now; the browser's Back takes them away.")]
    .filter(Boolean)
    .join(t(" "));
}
