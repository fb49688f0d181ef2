// The result of a run in one sentence: the verdict, the step time against the plan, the bubble against the prediction.

import { t } from "../i18n/language.ts";
import { formatNumber, formatPercent } from "../i18n/numbers.ts";

/** The facts of a run that has ended, as in data/runs/client.ts. */
type Result = {
  status: string;
  mode: string | null;
  verified: boolean | null;
  unit_ms: number | null;
  predicted: any;
  measured: any;
  over_plan?: number | null;
};

const NOTHING = 0.0005; // a share that is shown as 0.0 %

/** Returns "" where it has no result. */
export function resultText(run: Result): string {
  const { status, measured, predicted, unit_ms: unit } = run;
  if (status !== "finished") return "";
  const verdict = verdictText(run);
  if (typeof measured?.makespan !== "number" || !unit) return verdict;
  const time = timeText(measured.makespan * unit);
  const [real, plan] = [measured, predicted].map((figures) => figures?.bubble?.global?.of_total);
  const length = lengthText(time, overPlan(run));
  if (typeof real !== "number" || typeof plan !== "number") return t("{verdict} {length}.", { verdict, length });
  return t("{verdict} {length}; bubble {real}, predicted {plan}.", {
    verdict,
    length,
    real: formatPercent(real),
    plan: formatPercent(plan),
  });
}

function verdictText({ mode, verified }: Result) {
  if (verified) return t("Verified.");
  return mode === "imported" ? t("Imported.") : t("NOT verified.");
}

function lengthText(time: string, over: number | null) {
  if (over === null) return time;
  if (Math.abs(over) < NOTHING) return t("{time}, as planned", { time });
  const share = formatPercent(Math.abs(over));
  return over > 0 ? t("{time}, {share} over plan", { time, share }) : t("{time}, {share} under plan", { time, share });
}

/** By which share a paced run took longer than its plan; null for other runs. */
export function overPlan({ mode, predicted, measured, over_plan: over }: Result) {
  if (mode !== "paced") return null;
  if (typeof over === "number") return over;
  return predicted?.makespan > 0 && measured?.makespan ? measured.makespan / predicted.makespan - 1 : null;
}

/** A time in s, or ms where it is short. */
export const timeText = (ms: number) =>
  ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${formatNumber(Number(ms.toPrecision(3)))} ms`;
