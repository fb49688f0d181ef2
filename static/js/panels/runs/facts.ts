// The facts of a run as a list: verdict, mode, device, hosts, measured figures beside the predicted ones, idle time,
// memory.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { formatBytes, formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { hopTime, latencyRange, micros, ranksByHost, ranksText } from "../../core/measured/cluster.ts";
import { deviceName, modeName, peakBytes, unusual } from "../../data/runs/run_titles.ts";
import type { Run } from "../../data/runs/client.ts";

type Add = (name: string, value: string | number, more?: string) => void;

const SHOWN_LOSSES = 4; // of a run of many steps: the first, and the last ones

/** planned: peak memory of its plan, in one micro-batch's activations. */
export function facts(run: Run, planned: number | null) {
  const list = h("dl.row.run-facts");
  const add: Add = (name, value, more) =>
    list.append(h("div", h("dt", { text: name }), h("dd", value, more ? h("small", { text: ` ${more}` }) : "")));
  verdicts(run, add);
  if (run.mode) add(t("Mode"), modeName(run.mode), paceOf(run));
  const chosen = [
    ...unusual(run),
    run.overlapped === false ? t("not overlapped: the two ops of a pair ran one after the other") : "",
  ].filter(Boolean);
  if (run.device) add(t("Device"), deviceName(run.device), chosen.join(", "));
  hostFacts(run, add);
  outcome(run, add);
  calibratedFigures(run, add);
  const { failure } = run;
  if (failure && failure.rank !== null) add(t("Failed in"), t("Rank {rank}", { rank: failure.rank }), failure.op ?? "");
  const worst = run.largest_residual;
  if (worst)
    add(
      t("Largest deviation from the plan"),
      `${formatNumber(Math.round(worst.ns / 1e4) / 100)} ms`,
      t("{op} on rank {rank}", { op: worst.op, rank: worst.rank }),
    );
  if (run.idle) add(t("Idle time"), idleText(run.idle) || t("none"));
  const tracing = run.instrumentation;
  if (tracing)
    add(
      t("Tracing overhead"),
      t("{us} µs per op", { us: formatNumber(Math.round(tracing.op_ns / 100) / 10) }),
      t("{share} of the step", { share: tracing.share < 0.0005 ? t("under 0.1 %") : formatPercent(tracing.share) }),
    );
  const slow = run.slowest;
  if (slow) add(t("Slowest rank"), t("Rank {rank}", { rank: slow.rank }), slownessOf(slow, run.unit_ms));
  if (run.losses) add(t("Loss of each step"), lossText(run.losses));
  memory(run, planned, add);
  if (run.weight_versions) add(t("Weight versions by rank"), run.weight_versions.join(", "));
  return list;
}

/**
 * Gradients, or outputs where nothing is trained, and loss, each verified by itself, so that it is clear which of them
 * is wrong.
 */
function verdicts(run: Run, add: Add) {
  const { mode, status, verified, max_grad_error: error, tolerance, loss, reference_loss: reference } = run;
  const compared = run.spec.forward_only ? t("Outputs") : t("Gradients");
  if (mode === "imported" && status === "finished") add(compared, t("not verified here"));
  else if (verified !== null && verified !== undefined) {
    const most =
      error === null
        ? ""
        : tolerance
          ? t("largest error {error}, {most} allowed", { error: small(error), most: small(tolerance) })
          : t("largest error {error}", { error: small(error) });
    const right = verified || (error !== null && tolerance && error <= tolerance);
    const wrong = error === null && !verified ? t("missing or not a number") : t("NOT equal to the reference");
    add(compared, verified ? t("verified") : right ? t("equal to the reference") : wrong, most);
    if (typeof reference !== "number" || loss === undefined) return;
    const shown = loss === null ? t("not a number") : loss.toPrecision(6);
    add(t("Loss"), shown, t("{loss} in a single process", { loss: reference.toPrecision(6) }));
  }
}

function hostFacts({ hosts, clocks, links, asked, unit_ms: unit }: Run, add: Add) {
  const byHost = hosts?.length ? ranksByHost(hosts) : [];
  if (byHost.length)
    add(t("Ranks on hosts"), byHost.map(({ host, ranks }) => `${host}: ${ranksText(ranks)}`).join(" · "));
  if (links?.length) {
    const hop = asked?.hops === "measured" ? hopTime(links, unit) : null;
    add(
      t("Hops between neighbours"),
      latencyRange(links),
      hop === null ? "" : t("the plan's hop is the longest, {n}", { n: formatNumber(hop) }),
    );
  }
  if (clocks?.length && byHost.length > 1)
    add(
      t("Clocks agree within"),
      `±${micros(Math.max(...clocks.map(({ uncertainty_ns: off }) => off)))} µs`,
      t("{n} hosts", { n: byHost.length }),
    );
}

/** Bubble and step time, measured and predicted. */
function outcome({ predicted, measured, mode }: Run, add: Add) {
  const plan = predicted?.bubble?.global?.of_total;
  const real = measured?.bubble?.global?.of_total;
  const unit = mode === "imported" ? " ms" : "";
  const predictedText = (value: string) =>
    unit ? t("{value} at the mean times of its ops", { value }) : t("predicted {value}", { value });
  if (typeof real === "number")
    add(t("Bubble, measured"), formatPercent(real), typeof plan === "number" ? predictedText(formatPercent(plan)) : "");
  const [planSpan, realSpan] = [predicted?.bubble?.span?.of_total, measured?.bubble?.span?.of_total];
  if (typeof realSpan === "number")
    add(
      t("Bubble by span, measured"),
      formatPercent(realSpan),
      typeof planSpan === "number" ? predictedText(formatPercent(planSpan)) : "",
    );
  if (typeof measured?.makespan !== "number") return;
  const short = (time: number) => `${formatNumber(Math.round(time * 100) / 100)}${unit}`;
  add(
    t("Step time, measured"),
    short(measured.makespan),
    predictedText(unit ? short(predicted?.makespan ?? NaN) : formatNumber(predicted?.makespan ?? NaN)),
  );
}

/** The simulation at the measured costs, and how far it is from the measured step. */
function calibratedFigures({ calibrated }: Run, add: Add) {
  if (!calibrated) return;
  const step = (time: number, error: number) => `${formatNumber(Math.round(time * 100) / 100)} (${signedShare(error)})`;
  add(t("Re-simulated with measured costs"), step(calibrated.predicted.makespan, calibrated.error));
  const { replayed } = calibrated;
  if (replayed) add(t("Re-simulated with measured op times"), step(replayed.makespan, replayed.error));
}

/** "+1.2 %". */
export const signedShare = (share: number) =>
  Math.abs(share) < 5e-4 ? "±0.0 %" : `${share > 0 ? "+" : "−"}${formatPercent(Math.abs(share))}`;

function memory({ activations: held }: Run, planned: number | null, add: Add) {
  if (!held) return;
  const most = peakBytes({ activations: held }) ?? 0;
  const without = held.peak_bytes_without_offload && Math.max(...held.peak_bytes_without_offload);
  const plan = planned
    ? t("planned {n} micro-batches, so {bytes} each", { n: formatNumber(planned), bytes: formatBytes(most / planned) })
    : "";
  add(
    t("Peak activations of a rank"),
    formatBytes(most),
    [plan, without ? t("{bytes} including host memory", { bytes: formatBytes(without) }) : ""]
      .filter(Boolean)
      .join(t(", ")),
  );
}

function lossText(losses: (number | null)[]) {
  const all = losses.map((loss) => (loss === null ? "?" : loss.toPrecision(4)));
  return (all.length > SHOWN_LOSSES ? [all[0], "…", ...all.slice(1 - SHOWN_LOSSES)] : all).join(" → ");
}

/** The causes of idle time, the largest first; those below half a per cent are left out. idle: ns by rank. */
function idleText(idle: Record<string, number[]>) {
  const names = {
    input: t("predecessors"),
    message: t("messages"),
    copy: t("copies"),
    late_start: t("late starts"),
    instrumentation: t("tracing"),
    own: t("the rank itself"),
    over: t("no ops left"),
  };
  const sums = Object.entries(names).map(([key, name]) => ({
    name,
    ns: (idle[key] ?? (key === "late_start" ? idle.late_wake_up : null) ?? []).reduce((sum, each) => sum + each, 0),
  }));
  const whole = sums.reduce((sum, { ns }) => sum + ns, 0);
  return sums
    .filter(({ ns }) => ns / whole >= 0.005)
    .sort((a, b) => b.ns - a.ns)
    .map(({ name, ns }) => `${name} ${formatPercent(ns / whole)}`)
    .join(" · ");
}

/** How much longer its ops were than planned. */
function slownessOf({ busy, planned }: NonNullable<Run["slowest"]>, unit: number | null) {
  if (!unit || !(planned > 0)) return "";
  const more = busy / (planned * unit * 1e6) - 1;
  if (Math.abs(more) < 0.0005) return t("ops as long as planned");
  return more >= 0
    ? t("ops {share} longer than planned", { share: formatPercent(more) })
    : t("ops {share} shorter than planned", { share: formatPercent(-more) });
}

function paceOf({ mode, unit_ms }: Run) {
  if (mode === "imported") return t("times as in the trace");
  return mode === "paced"
    ? t("one unit is {ms} ms", { ms: formatNumber(Math.round((unit_ms ?? 1) * 100) / 100) })
    : t("as fast as possible");
}

const small = (x: number | null) =>
  x === null || x === undefined
    ? "?"
    : x === 0
      ? "0"
      : x
          .toExponential(1)
          .replace("e-", " × 10⁻")
          .replace(/⁻(\d+)/, (_, d) => `⁻${[...d].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")}`);
