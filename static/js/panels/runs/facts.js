// What a run showed, as a list of facts: verdict, mode, device, figures beside those predicted, where time and memory
// went.
import { h } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { formatBytes, formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { hostFacts } from "./hosts.js";

/** @import {Run} from "../../data/runs/client.js" */
/** @typedef {(name: string, value: string | number, more?: string) => void} Add */

const SHOWN_LOSSES = 4; // of a run of many steps: the first, and the last ones

/** @param {string} mode of a run */
export function modeName(mode) {
  return { paced: t("paced"), free: t("free"), imported: t("imported") }[mode] ?? mode;
}

/** @param {string} device that a run was on */
export function deviceName(device) {
  return { elsewhere: t("elsewhere"), simulated: t("simulated") }[device] ?? device;
}

/** What was chosen for a run that is not what is usual. @param {Pick<Run, "asked">} run */
export function unusual({ asked }) {
  if (!asked) return [];
  return [
    asked.dtype === "float32" ? "" : asked.dtype,
    asked.steps > 1 ? t("{n} steps", { n: asked.steps }) : "",
    asked.seed ? t("seed {n}", { n: asked.seed }) : "",
  ].filter(Boolean);
}

/** @param {Run} run @param {number | null} planned peak memory of its plan, in one micro-batch's activations */
export function facts(run, planned) {
  const list = h("dl", { class: "run-facts" });
  /** @type {Add} */
  const add = (name, value, more) =>
    list.append(
      h("div", {}, h("dt", { text: name }), h("dd", {}, value, more ? h("small", { text: ` ${more}` }) : "")),
    );
  gradients(run, add);
  if (run.mode) add(t("Mode"), modeName(run.mode), paceOf(run));
  const chosen = [
    ...unusual(run),
    run.overlapped === false ? t("not overlapped: the halves of a pair ran one after the other") : "",
  ].filter(Boolean);
  if (run.device) add(t("Device"), deviceName(run.device), chosen.join(", "));
  hostFacts(run, add);
  outcome(run, add);
  ownCosts(run, add);
  const worst = run.largest_residual;
  if (worst)
    add(
      t("Largest residual"),
      `${formatNumber(Math.round(worst.ns / 1e4) / 100)} ms`,
      t("{op} on rank {rank}", { op: worst.op, rank: worst.rank }),
    );
  if (run.idle) add(t("Idle time went to"), idleText(run.idle) || t("nothing"));
  const notes = run.instrumentation;
  if (notes)
    add(
      t("Taking notes costs"),
      t("{us} µs an op", { us: formatNumber(Math.round(notes.op_ns / 10) / 100) }),
      t("{share} of the step", { share: notes.share < 0.0005 ? t("under 0.1 %") : formatPercent(notes.share) }),
    );
  const slow = run.slowest;
  if (slow) add(t("Slowest rank"), slow.rank, slownessOf(slow, run.unit_ms));
  if (run.losses) add(t("Loss of each step"), lossText(run.losses));
  memory(run, planned, add);
  if (run.weight_versions) add(t("Weight versions held"), run.weight_versions.join(", "));
  return list;
}

/** @param {Run} run @param {Add} add */
function gradients({ mode, status, verified, max_grad_error: error, tolerance }, add) {
  if (mode === "imported" && status === "finished") add(t("Gradients"), t("not verified here"));
  else if (verified !== null && verified !== undefined) {
    const most =
      error === null
        ? ""
        : tolerance
          ? t("largest error {error}, {most} allowed", { error: small(error), most: small(tolerance) })
          : t("largest error {error}", { error: small(error) });
    add(t("Gradients"), verified ? t("verified") : t("NOT equal to the reference"), most);
  }
}

/** Bubble and makespan, measured and predicted. @param {Run} run @param {Add} add */
function outcome({ predicted, measured, mode }, add) {
  const plan = predicted?.bubble?.global?.of_total;
  const real = measured?.bubble?.global?.of_total;
  const unit = mode === "imported" ? " ms" : "";
  const told = (/** @type {string} */ value) =>
    unit ? t("{value} at the mean times of its ops", { value }) : t("predicted {value}", { value });
  if (typeof real === "number")
    add(t("Bubble, measured"), formatPercent(real), typeof plan === "number" ? told(formatPercent(plan)) : "");
  const [planSpan, realSpan] = [predicted?.bubble?.span?.of_total, measured?.bubble?.span?.of_total];
  if (typeof realSpan === "number")
    add(
      t("Bubble by span, measured"),
      formatPercent(realSpan),
      typeof planSpan === "number" ? told(formatPercent(planSpan)) : "",
    );
  if (typeof measured?.makespan !== "number") return;
  const short = (/** @type {number} */ time) => `${formatNumber(Math.round(time * 100) / 100)}${unit}`;
  add(
    t("Makespan, measured"),
    short(measured.makespan),
    told(unit ? short(predicted?.makespan ?? NaN) : formatNumber(predicted?.makespan ?? NaN)),
  );
}

/** How near the simulator comes where it is given the times that the ops had. @param {Run} run @param {Add} add */
function ownCosts({ calibrated }, add) {
  if (!calibrated) return;
  const off = t("{share} against measured", { share: signedShare(calibrated.error) });
  const each = calibrated.replayed
    ? t("{share} with each op's own time", { share: signedShare(calibrated.replayed.error) })
    : "";
  add(
    t("Predicted at the costs it had"),
    formatNumber(Math.round(calibrated.predicted.makespan * 100) / 100),
    [off, each].filter(Boolean).join(t(", ")),
  );
}

/** "+1.2 %" @param {number} share */
export const signedShare = (share) =>
  Math.abs(share) < 5e-4 ? "±0.0 %" : `${share > 0 ? "+" : "−"}${formatPercent(Math.abs(share))}`;

/** @param {Run} run @param {number | null} planned @param {Add} add */
function memory({ activations: held }, planned, add) {
  if (!held) return;
  const most = Math.max(...held.peak_bytes);
  const without = held.peak_bytes_without_offload && Math.max(...held.peak_bytes_without_offload);
  const plan = planned
    ? t("planned {n} micro-batches, so {bytes} each", { n: formatNumber(planned), bytes: formatBytes(most / planned) })
    : "";
  add(
    t("Activations, most on a rank"),
    formatBytes(most),
    [plan, without ? t("{bytes} with those in host memory", { bytes: formatBytes(without) }) : ""]
      .filter(Boolean)
      .join(t(", ")),
  );
}

/** @param {(number | null)[]} losses */
function lossText(losses) {
  const all = losses.map((loss) => (loss === null ? "?" : loss.toPrecision(4)));
  return (all.length > SHOWN_LOSSES ? [all[0], "…", ...all.slice(1 - SHOWN_LOSSES)] : all).join(" → ");
}

/**
 * What the ranks waited for, the largest part first; below half a per cent it is nothing.
 * @param {Record<string, number[]>} idle ns by rank
 */
function idleText(idle) {
  const names = {
    message: t("messages"),
    copy: t("copies"),
    late_wake_up: t("late wake-ups"),
    instrumentation: t("taking notes"),
    own: t("the rank itself"),
    over: t("nothing left to do"),
  };
  const sums = Object.entries(names).map(([key, name]) => ({
    name,
    ns: (idle[key] ?? []).reduce((sum, each) => sum + each, 0),
  }));
  const whole = sums.reduce((sum, { ns }) => sum + ns, 0);
  return sums
    .filter(({ ns }) => ns / whole >= 0.005)
    .sort((a, b) => b.ns - a.ns)
    .map(({ name, ns }) => `${name} ${formatPercent(ns / whole)}`)
    .join(" · ");
}

/**
 * How much longer its ops took than planned.
 * @param {NonNullable<Run["slowest"]>} slowest
 * @param {number | null} unit
 */
function slownessOf({ busy, planned }, unit) {
  if (!unit || !(planned > 0)) return "";
  const more = busy / (planned * unit * 1e6) - 1;
  if (Math.abs(more) < 0.0005) return t("its ops took as long as planned");
  return more >= 0
    ? t("its ops took {share} longer than planned", { share: formatPercent(more) })
    : t("its ops took {share} less than planned", { share: formatPercent(-more) });
}

/** @param {Run} run */
function paceOf({ mode, unit_ms }) {
  if (mode === "imported") return t("its times are as the trace has them");
  return mode === "paced"
    ? t("one unit is {ms} ms", { ms: formatNumber(Math.round((unit_ms ?? 1) * 100) / 100) })
    : t("as fast as it goes");
}

/** @param {number | null} x */
const small = (x) =>
  x === null || x === undefined
    ? "?"
    : x === 0
      ? "0"
      : x
          .toExponential(1)
          .replace("e-", " × 10⁻")
          .replace(/⁻(\d+)/, (_, d) => `⁻${[...d].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")}`);
