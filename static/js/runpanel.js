// The run tab: how far a run is, in words, and what it showed when it is over.
import { h, replace, setText } from "./dom.js";
import { t, tr } from "./pure/lang.js";
import { afterRun, calibrationText } from "./runafter.js";
import { isOver } from "./runclient.js";
import { formatNumber, formatPercent } from "./pure/scale.js";

/** @import {Run} from "./runclient.js" */
/** @import {Calibration} from "./pure/calibration.js" */
/** @typedef {{start: (beside: boolean) => void, cancel: () => void, leave: () => void, calibrate: () => void, paced: () => void, another: () => boolean}} RunActs
 *   paced: another pace was chosen; another: there is room for one more measured lane */
/** @typedef {{lost: boolean, calibration: Calibration | null}} Beside  what is known of a run besides itself */

const STEPS = /** @type {const} */ (["queued", "warming", "running", "verified", "finished"]);

const stepNames = () => ({ queued: t("queued"), warming: t("warming up"), running: t("running"), verified: t("verified"), finished: t("finished") });

/** @param {string} mode of a run */
export function modeName(mode) {
  return { paced: t("paced"), free: t("free"), imported: t("imported") }[mode] ?? mode;
}

/** @param {string} device that a run was on */
export function deviceName(device) {
  return { elsewhere: t("elsewhere"), simulated: t("simulated") }[device] ?? device;
}

/** @param {RunActs} acts */
export function createRunPanel(acts) {
  const panel = h("div", { class: "run-panel" });
  const modes = { auto: t("whatever suits the device"), paced: t("paced: each op lasts as planned"), free: t("free: as fast as it goes") };
  const where = h("p", { class: "run-where", id: "run-where" });
  const mode = h("select", { id: "run-mode", "aria-describedby": "run-where", onchange: () => acts.paced() }, ...Object.entries(modes).map(([value, text]) => h("option", { value, text })));

  const meter = createMeter();
  let shown = ""; // the run as it was last built

  function idle() {
    shown = "";
    replace(panel, h("p", {}, t("Runs the schedule on the screen with real tensors, one worker a device, and draws every op under the plan as it ends. The gradients are compared with a run of the same model without a pipeline.")),
      h("div", { class: "panel-row" }, h("label", { for: "run-mode", text: t("Pace") }), mode, where));
  }

  /** @param {string} message @param {string} [hint] */
  function problem(message, hint) {
    shown = "";
    replace(panel, h("p", { class: "note bad", role: "alert", text: message }), hint ? h("p", { text: hint }) : "",
      h("p", { class: "panel-row" }, h("button", { type: "button", class: "button soft", onclick: () => acts.start(false) }, t("Try again")),
        h("button", { type: "button", class: "button", onclick: acts.leave }, t("Back to the plan"))));
  }

  /** What does not change with every op: made anew only when the run gets on, so that a button stays under the pointer. */
  /** @param {Run} run @param {boolean} room @param {Beside} beside */
  function rebuild(run, room, { lost, calibration }) {
    const over = isOver(run);
    const moving = run.status === "running" || run.status === "warming";
    const again = run.mode === "imported" ? t("Run the schedule here") : t("Run again");
    const button = (/** @type {string} */ text, /** @type {() => void} */ act, kind = "soft", id = "") => h("button", { type: "button", class: `button ${kind}`, id: id || null, onclick: act }, text);
    const acting = over ? [button(again, () => acts.start(false)), room ? button(t("Run once more, beside it"), () => acts.start(true), "", "run-beside") : "", button(t("Close the run"), acts.leave, "")] :
      [button(t("Cancel"), acts.cancel, "soft", "cancel")];
    const pace = over ? [h("label", { for: "run-mode", class: "visually-hidden", text: t("Pace") }), mode] : [];
    replace(panel, h("div", { class: "panel-row" }, steps(run), moving ? meter.node : "", h("span", { class: "top-space" }), ...pace, ...acting),
      lost ? h("p", { class: "note", role: "status", text: t("The connection to the server is lost. What came so far stays; the page goes on by itself once the server answers.") }) : "",
      sentence(run), run.unkept ? h("p", { class: "note", role: "status", text: tr(run.unkept) }) : "", facts(run),
      run.status === "finished" ? afterRun(run, acts.calibrate) : "", calibration ? h("p", { class: "run-calibrated", role: "status", text: calibrationText(run, calibration) }) : "");
  }

  /** @param {Run} run @param {number} done @param {number} total @param {Beside} beside */
  function show(run, done, total, beside) {
    const room = acts.another();
    const key = JSON.stringify({ ...run, ops: null, seq: 0, room, ...beside });
    if (key !== shown) rebuild(run, room, beside);
    shown = key;
    meter.set(done, total);
  }

  idle();
  return { panel, idle, problem, show, mode: () => mode.value, where: (/** @type {string} */ text) => setText(where, text) };
}

/** @param {Run} run */
function steps(run) {
  if (run.mode === "imported") return h("p", { class: "run-elsewhere", text: run.device === "simulated" ? t("Times that Bubbleline worked out, read back from a trace.") : t("Measured elsewhere; read from a trace.") });
  const at = STEPS.indexOf(/** @type {"queued"} */ (run.status));
  const ended = run.status === "failed" || run.status === "cancelled";
  const names = stepNames();
  const list = STEPS.map((step, k) => h("li", { class: ended ? null : k < at || run.status === "finished" ? "done" : k === at ? "now" : null,
    text: step === "queued" && run.status === "queued" && run.position ? t("queued, number {n} in line", { n: run.position }) : names[step] }));
  if (ended) list.push(h("li", { class: run.status === "failed" ? "bad" : "now", text: run.status === "failed" ? t("failed") : t("cancelled") }));
  return h("ol", { class: "steps", "aria-label": t("Progress of the run") }, ...list);
}

/** How many ops have ended, as a bar and in numbers. */
function createMeter() {
  const bar = h("i");
  const box = h("span", { class: "meter", role: "progressbar", "aria-label": t("Ops that have ended"), "aria-valuemin": 0 }, bar);
  const words = h("span");
  return {
    node: h("span", { class: "progress" }, box, words),
    /** @param {number} done @param {number} total */
    set(done, total) {
      bar.style.transform = `scaleX(${total ? done / total : 0})`;
      box.setAttribute("aria-valuenow", String(done));
      box.setAttribute("aria-valuemax", String(total));
      setText(words, total ? t("{done} of {total} ops", { done, total }) : "");
    },
  };
}

/** @param {Run} run */
function sentence(run) {
  if (run.status === "queued") return h("p", { text: run.position === 1 ? t("Next in line.") : t("Other runs go first.") });
  if (run.status === "warming") return h("p", { text: t("The workers load the model. The first op starts when all of them are ready.") });
  if (run.status === "cancelled") return h("p", { class: "note", text: t("The run was cancelled. The ops that ended before are on the timeline.") });
  if (run.status === "failed") return h("p", { class: "note bad", role: "alert", text: reason(run) });
  const notes = run.notes ?? [];
  return notes.length ? h("ul", { class: "run-notes" }, ...notes.map((note) => h("li", { text: tr(note) }))) : "";
}

/** @param {Run} run */
function reason(run) {
  const error = run.error;
  if (!error) return t("The run failed, and the runner did not say why.");
  const text = error.message ? tr(error.message) : t("no reason given");
  return t("The run failed: {reason}", { reason: `${text}${/[.。]$/.test(text) ? "" : t(".")}` });
}

/** @param {Run} run */
function facts(run) {
  const list = h("dl", { class: "run-facts" });
  /** @param {string} name @param {string | number} value @param {string} [more] */
  const add = (name, value, more) => list.append(h("div", {}, h("dt", { text: name }), h("dd", {}, value, more ? h("small", { text: ` ${more}` }) : "")));
  if (run.mode === "imported" && run.status === "finished") add(t("Gradients"), t("not verified here"));
  else if (run.verified !== null && run.verified !== undefined) {
    add(t("Gradients"), run.verified ? t("verified") : t("NOT equal to the reference"), run.max_grad_error === null ? "" : t("largest error {error}", { error: small(run.max_grad_error) }));
  }
  if (run.mode) add(t("Mode"), modeName(run.mode), paceOf(run));
  if (run.device) add(t("Device"), deviceName(run.device), run.overlapped === false ? t("not overlapped: the halves of a pair ran one after the other") : "");
  outcome(run, add);
  const worst = run.largest_residual;
  if (worst) add(t("Largest residual"), `${formatNumber(Math.round(worst.ns / 1e4) / 100)} ms`, t("{op} on rank {rank}", { op: worst.op, rank: worst.rank }));
  if (run.idle) add(t("Idle time went to"), idleText(run.idle) || t("nothing"));
  const slow = run.slowest;
  if (slow) add(t("Slowest rank"), slow.rank, slownessOf(slow, run.unit_ms));
  const held = run.activations;
  if (held) {
    const most = Math.max(...held.peak_bytes);
    const without = held.peak_bytes_without_offload && Math.max(...held.peak_bytes_without_offload);
    add(t("Activations, most on a rank"), bytes(most), without ? t("{bytes} with those in host memory", { bytes: bytes(without) }) : "");
  }
  if (run.weight_versions) add(t("Weight versions held"), run.weight_versions.join(", "));
  return list;
}

/** Bubble and makespan, measured and predicted. @param {Run} run @param {(name: string, value: string, more?: string) => void} add */
function outcome({ predicted, measured, mode }, add) {
  const plan = predicted?.bubble?.global?.of_total;
  const real = measured?.bubble?.global?.of_total;
  const unit = mode === "imported" ? " ms" : "";
  const told = (/** @type {string} */ value) => (unit ? t("{value} at the mean times of its ops", { value }) : t("predicted {value}", { value }));
  if (typeof real === "number") add(t("Bubble, measured"), formatPercent(real), typeof plan === "number" ? told(formatPercent(plan)) : "");
  const [planSpan, realSpan] = [predicted?.bubble?.span?.of_total, measured?.bubble?.span?.of_total];
  if (typeof realSpan === "number") add(t("Bubble by span, measured"), formatPercent(realSpan), typeof planSpan === "number" ? told(formatPercent(planSpan)) : "");
  if (typeof measured?.makespan !== "number") return;
  const short = (/** @type {number} */ time) => `${formatNumber(Math.round(time * 100) / 100)}${unit}`;
  add(t("Makespan, measured"), short(measured.makespan), told(unit ? short(predicted?.makespan ?? NaN) : formatNumber(predicted?.makespan ?? NaN)));
}

/** What the ranks waited for, the largest part first; below half a per cent it is nothing. @param {Record<string, number[]>} idle ns by rank */
function idleText(idle) {
  const names = { message: t("messages"), copy: t("copies"), late_wake_up: t("late wake-ups"), instrumentation: t("taking notes"), own: t("the rank itself"), over: t("nothing left to do") };
  const sums = Object.entries(names).map(([key, name]) => ({ name, ns: (idle[key] ?? []).reduce((sum, each) => sum + each, 0) }));
  const whole = sums.reduce((sum, { ns }) => sum + ns, 0);
  return sums.filter(({ ns }) => ns / whole >= 0.005).sort((a, b) => b.ns - a.ns).map(({ name, ns }) => `${name} ${formatPercent(ns / whole)}`).join(" · ");
}

/** How much longer its ops took than planned. @param {NonNullable<Run["slowest"]>} slowest @param {number | null} unit */
function slownessOf({ busy, planned }, unit) {
  if (!unit || !(planned > 0)) return "";
  const more = busy / (planned * unit * 1e6) - 1;
  if (Math.abs(more) < 0.0005) return t("its ops took as long as planned");
  return more >= 0 ? t("its ops took {share} longer than planned", { share: formatPercent(more) }) : t("its ops took {share} less than planned", { share: formatPercent(-more) });
}

/** @param {Run} run */
function paceOf({ mode, unit_ms }) {
  if (mode === "imported") return t("its times are as the trace has them");
  return mode === "paced" ? t("one unit is {ms} ms", { ms: formatNumber(Math.round((unit_ms ?? 1) * 100) / 100) }) : t("as fast as it goes");
}

/** @param {number} x */
const bytes = (x) => (x >= 1e6 ? `${formatNumber(Number((x / 1e6).toPrecision(3)))} MB` : `${formatNumber(Number((x / 1e3).toPrecision(3)))} kB`);

/** @param {number | null} x */
const small = (x) => (x === null || x === undefined ? "?" : x === 0 ? "0" : x.toExponential(1).replace("e-", " × 10⁻").replace(/⁻(\d+)/, (_, d) => `⁻${[...d].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")}`));
