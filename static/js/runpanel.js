// The run tab: how far a run is, in words, and what it showed when it is over.
import { h, replace, setText } from "./dom.js";
import { isOver } from "./runclient.js";
import { formatNumber, formatPercent } from "./pure/scale.js";

/** @import {Run} from "./runclient.js" */
/** @typedef {{start: () => void, cancel: () => void, leave: () => void}} RunActs */

const MODES = { auto: "whatever suits the device", paced: "paced: each op lasts as planned", free: "free: as fast as it goes" };
const STEPS = ["queued", "warming", "running", "verified", "finished"];
const WORDS = { queued: "queued", warming: "warming up", running: "running", verified: "verified", finished: "finished" };

/** @param {RunActs} acts */
export function createRunPanel(acts) {
  const panel = h("div", { class: "run-panel" });
  const mode = h("select", { id: "run-mode" }, ...Object.entries(MODES).map(([value, text]) => h("option", { value, text })));

  const meter = createMeter();
  let shown = ""; // the run as it was last built

  function idle() {
    shown = "";
    replace(panel, h("p", {}, "Runs the schedule on the screen with real tensors, one worker a device, and draws every op under the plan as it ends. " +
      "The gradients are compared with a run of the same model without a pipeline."),
    h("p", { class: "panel-row" }, h("label", { for: "run-mode", text: "Pace" }), mode));
  }

  /** @param {string} message @param {string} [hint] */
  function problem(message, hint) {
    shown = "";
    replace(panel, h("p", { class: "note bad", role: "alert", text: message }), hint ? h("p", { text: hint }) : "",
      h("p", { class: "panel-row" }, h("button", { type: "button", class: "button soft", onclick: acts.start }, "Try again"),
        h("button", { type: "button", class: "button", onclick: acts.leave }, "Back to the plan")));
  }

  /** What does not change with every op: made anew only when the run gets on, so that a button stays under the pointer. */
  /** @param {Run} run */
  function rebuild(run) {
    const over = isOver(run);
    const moving = run.status === "running" || run.status === "warming";
    replace(panel, h("div", { class: "panel-row" }, steps(run), moving ? meter.node : "", h("span", { class: "top-space" }),
      over ? h("button", { type: "button", class: "button soft", onclick: acts.start }, "Run again") :
        h("button", { type: "button", class: "button soft", id: "cancel", onclick: acts.cancel }, "Cancel"),
      over ? h("button", { type: "button", class: "button", onclick: acts.leave }, "Close the run") : ""),
    sentence(run), facts(run));
  }

  /** @param {Run} run @param {number} done @param {number} total */
  function show(run, done, total) {
    const key = JSON.stringify({ ...run, ops: null, seq: 0 });
    if (key !== shown) rebuild(run);
    shown = key;
    meter.set(done, total);
  }

  idle();
  return { panel, idle, problem, show, mode: () => mode.value };
}

/** @param {Run} run */
function steps(run) {
  const at = STEPS.indexOf(run.status);
  const ended = run.status === "failed" || run.status === "cancelled";
  const list = STEPS.map((step, k) => h("li", { class: ended ? null : k < at || run.status === "finished" ? "done" : k === at ? "now" : null,
    text: step === "queued" && run.status === "queued" && run.position ? `queued, number ${run.position} in line` : WORDS[/** @type {"queued"} */ (step)] }));
  if (ended) list.push(h("li", { class: run.status === "failed" ? "bad" : "now", text: run.status }));
  return h("ol", { class: "steps", "aria-label": "Progress of the run" }, ...list);
}

/** How many ops have ended, as a bar and in numbers. */
function createMeter() {
  const bar = h("i");
  const box = h("span", { class: "meter", role: "progressbar", "aria-label": "Ops that have ended", "aria-valuemin": 0 }, bar);
  const words = h("span");
  return {
    node: h("span", { class: "progress" }, box, words),
    /** @param {number} done @param {number} total */
    set(done, total) {
      bar.style.transform = `scaleX(${total ? done / total : 0})`;
      box.setAttribute("aria-valuenow", String(done));
      box.setAttribute("aria-valuemax", String(total));
      setText(words, total ? `${done} of ${total} ops` : "");
    },
  };
}

/** @param {Run} run */
function sentence(run) {
  if (run.status === "queued") return h("p", { text: run.position === 1 ? "Next in line." : "Other runs go first." });
  if (run.status === "warming") return h("p", { text: "The workers load the model. The first op starts when all of them are ready." });
  if (run.status === "cancelled") return h("p", { class: "note", text: "The run was cancelled. The ops that ended before are on the timeline." });
  if (run.status === "failed") return h("p", { class: "note bad", role: "alert", text: reason(run) });
  return "";
}

/** @param {Run} run */
function reason(run) {
  const error = run.error;
  if (!error) return "The run failed, and the runner did not say why.";
  const text = error.message || "no reason given";
  return `The run failed: ${text}${text.endsWith(".") ? "" : "."}`;
}

/** @param {Run} run */
function facts(run) {
  const list = h("dl", { class: "run-facts" });
  /** @param {string} name @param {string | number} value @param {string} [more] */
  const add = (name, value, more) => list.append(h("div", {}, h("dt", { text: name }), h("dd", {}, value, more ? h("small", { text: ` ${more}` }) : "")));
  if (run.verified !== null && run.verified !== undefined) {
    add("Gradients", run.verified ? "verified" : "NOT equal to the reference", run.max_grad_error === null ? "" : `largest error ${small(run.max_grad_error)}`);
  }
  if (run.mode) add("Mode", run.mode, run.mode === "paced" ? `one unit is ${formatNumber(Math.round((run.unit_ms ?? 1) * 100) / 100)} ms` : "as fast as it goes");
  if (run.device) add("Device", run.device, run.overlapped === false ? "not overlapped: the halves of a pair ran one after the other" : "");
  const plan = run.predicted?.bubble?.global?.of_total;
  const real = run.measured?.bubble?.global?.of_total;
  if (typeof real === "number") add("Bubble, measured", formatPercent(real), typeof plan === "number" ? `predicted ${formatPercent(plan)}` : "");
  if (typeof run.measured?.makespan === "number") add("Makespan, measured", formatNumber(Math.round(run.measured.makespan * 100) / 100), `predicted ${formatNumber(run.predicted?.makespan ?? NaN)}`);
  const worst = run.largest_residual;
  if (worst) add("Largest residual", `${formatNumber(Math.round(worst.ns / 1e4) / 100)} ms`, `${worst.op} on rank ${worst.rank}`);
  const held = run.activations;
  if (held) {
    const most = Math.max(...held.peak_bytes);
    const without = held.peak_bytes_without_offload && Math.max(...held.peak_bytes_without_offload);
    add("Activations, most on a rank", bytes(most), without ? `${bytes(without)} with those in host memory` : "");
  }
  if (run.weight_versions) add("Weight versions held", run.weight_versions.join(", "));
  return list;
}

/** @param {number} x */
const bytes = (x) => (x >= 1e6 ? `${formatNumber(Number((x / 1e6).toPrecision(3)))} MB` : `${formatNumber(Number((x / 1e3).toPrecision(3)))} kB`);

/** @param {number | null} x */
const small = (x) => (x === null || x === undefined ? "?" : x === 0 ? "0" : x.toExponential(1).replace("e-", " × 10⁻").replace(/⁻(\d+)/, (_, d) => `⁻${[...d].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")}`));
