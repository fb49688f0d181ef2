// The actions of a finished run: calibrate the plan with its costs, export it as a file.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { verdict, type Calibration } from "../../core/measured/calibration.ts";
import { hopTime } from "../../core/measured/cluster.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { fileOf, type Run } from "../../data/runs/client.ts";

export function afterRun(
  run: Run,
  { replay, calibrate, useHop }: { replay: () => void; calibrate: () => void; useHop: () => void },
  toggles: HTMLElement, // of its lane's overlays
) {
  const button = (id: string, text: string, title: string, onclick: () => void) =>
    h("button.button.soft", { id, title, onclick }, text);
  const time = hopTime(run.links, run.unit_ms);
  const n = time === null ? "" : formatNumber(time);
  return h(
    "div.row.run-after",
    button("run-replay", t("Replay"), t("Plays the run from its start"), replay),
    button(
      "calibrate",
      t("Calibrate the plan"),
      t("Sets the plan's costs to the measured ones, so that plan and run can be compared op by op"),
      calibrate,
    ),
    n &&
      button(
        "use-hops",
        t("Use measured hop time"),
        t("Sets the plan's hop to the longest one measured between neighbours: {n}", { n }),
        useHop,
      ),
    toggles,
    h(
      "span.row.run-files",
      t("Export the run"),
      file(run, "chrome-trace", t("Chrome trace")),
      file(run, "json", "JSON"),
    ),
  );
}

const file = (run: Run, format: "chrome-trace" | "json", text: string) =>
  h("a.link", { href: fileOf(run.id, format), download: "", id: `run-${format}` }, text);

/** The step time and bubble of the schedule at the run's measured costs, in sentences. */
export function calibrationText({ mode }: Run, { predicted, measured, error }: Calibration) {
  const unit = mode === "imported" ? " ms" : "";
  const short = (x: number) => `${formatNumber(Number(x.toPrecision(4)))}${unit}`;
  const values = {
    predicted: short(predicted.makespan),
    measured: short(measured.makespan),
    share: `${formatNumber(Math.round(Math.abs(measured.makespan / predicted.makespan - 1) * 1000) / 10)} %`,
  };
  const gap = {
    equal: t(
      "With the measured costs the simulation takes {predicted} and the run {measured}, a difference of {share}: " +
        "the schedule explains the run.",
      values,
    ),
    longer: t("With the measured costs the simulation takes {predicted} and the run {measured}, {share} less.", values),
    shorter: t(
      "With the measured costs the simulation takes {predicted} and the run {measured}, {share} more.",
      values,
    ),
  }[verdict(error)];
  const [plan, real] = [predicted.bubble, measured.bubble];
  const bubbles =
    plan && real
      ? t("Bubble in the global window: {a} predicted, {b} measured; by the span: {c} and {d}.", {
          a: formatPercent(plan.global.of_total),
          b: formatPercent(real.global.of_total),
          c: formatPercent(plan.span.of_total),
          d: formatPercent(real.span.of_total),
        })
      : "";
  return [gap, bubbles, t("The plan has these costs now; the browser's Back undoes it.")].filter(Boolean).join(t(" "));
}
