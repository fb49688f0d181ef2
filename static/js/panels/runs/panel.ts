// The panel of one run: its progress, its problem, and its facts once it is over; and the options of the next run.
import { h, keepFocus, replace, sentence as asSentence, setText, show as showNode } from "../../ui/dom.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { afterRun, calibrationText } from "./after.ts";
import { isOver, mayChange, type Run } from "../../data/runs/client.ts";
import { facts } from "./facts.ts";
import { formatCount } from "../../core/i18n/numbers.ts";
import { createRunOptions } from "./options.ts";
import { residualLists, type Residuals } from "./residuals.ts";
import { resultText } from "../../core/measured/result.ts";
import { failureText } from "../../data/runs/run_titles.ts";
import type { Calibration } from "../../core/measured/calibration.ts";

type RunActs = {
  start: (beside: boolean) => void;
  startAll: () => void;
  cancel: () => void;
  leave: () => void;
  calibrate: () => void;
  replay: () => void;
  useHop: () => void; // gives the plan the run's hop time
  chosen: () => void; // called when an option has been changed
  takeRanks: (p: number) => void; // gives the schedule that many devices
  pick: (i: number) => void; // goes to an op of the lists
  hasRoom: () => boolean; // for one more measured lane
  toggles: () => HTMLElement; // of the lane's overlays
};
/** Of a run: whether the connection is lost, its calibration, the peak memory of its plan, its residuals. */
type Context = { lost: boolean; calibration: Calibration | null; planned: number | null; residuals: Residuals | null };

const LONG_S = 90; // from which on a run's expected length is shown
const STEPS = ["queued", "warming", "running", "verified", "finished"] as const;

let latestDetails: HTMLDetailsElement | null = null; // of a result: the next ones are open if these were left open

const stepNames = () => ({
  queued: t("queued"),
  warming: t("warming up"),
  running: t("running"),
  verified: t("verified"),
  finished: t("finished"),
});

export function createRunPanel(acts: RunActs) {
  const panel = h("div.run-panel");
  const options = createRunOptions(acts.chosen, acts.takeRanks);
  const all = h("button#run-all.button.soft", {
    hidden: true,
    onclick: acts.startAll,
    title: t("One after the other on the same workers, each drawn under its plan"),
  });
  const meter = createMeter();
  let shown = ""; // the run as it was last built

  const put = (...parts: (Node | string)[]) => keepFocus(panel, () => replace(panel, ...parts));

  function idle() {
    shown = "";
    put(
      h(
        "p",
        t(
          "Runs the schedule on the screen with real tensors, one worker per device, and draws every op under the " +
            "plan when it ends. The gradients are compared with those of the same model without a pipeline.",
        ),
      ),
      mayRun()
        ? ""
        : h("p#run-access.note", {
            text: t("This page may only look: starting runs and searches needs the link that the server printed."),
          }),
      options.node,
      all,
    );
  }

  /** Several schedules can run one after the other. count: on the screen. */
  function setPlans(count: number) {
    showNode(all, count > 1);
    setText(all, count === 2 ? t("Run both schedules") : t("Run all {n} schedules", { n: count }));
  }

  function showProblem(message: string, hint?: string, remedy?: { text: string; act: () => void } | null) {
    shown = "";
    const better = remedy ? h("button#run-nearest.button.soft", { onclick: remedy.act }, remedy.text) : "";
    put(
      h("p.note.bad", { role: "alert", text: message }),
      hint ? h("p", { text: hint }) : "",
      h(
        "p.row",
        better,
        h("button.button.soft", { onclick: () => acts.start(false) }, t("Try again")),
        h("button.button", { onclick: acts.leave }, t("Back to the plan")),
      ),
      options.node,
    );
  }

  /** Build what does not change with every op; only when the run gets on, so that a button stays under the pointer. */
  function rebuild(run: Run, room: boolean, { lost, calibration, planned, residuals }: Context) {
    const over = isOver(run);
    const moving = run.status === "running" || run.status === "warming";
    const again = run.mode === "imported" ? t("Run the schedule here") : t("Run again");
    const button = (text: string, act: () => void, kind = "soft", id = "") =>
      h("button", { class: `button ${kind}`, id: id || null, onclick: act }, text);
    const acting = over
      ? [
          button(again, () => acts.start(false), "soft", "run-again"),
          room ? button(t("Run again and compare"), () => acts.start(true), "", "run-beside") : "",
          button(t("Close the run"), acts.leave, "", "run-close"),
        ]
      : mayChange(run)
        ? [button(t("Cancel"), acts.cancel, "soft", "cancel")]
        : [];
    replace(
      panel,
      h("div.row", steps(run), moving ? meter.node : "", h("span.top-space"), ...acting),
      lost
        ? h("p.note", {
            role: "status",
            text: t(
              "The connection to the server is lost. The ops so far stay here; the page continues once the server " +
                "answers.",
            ),
          })
        : "",
      result(run),
      sentence(run),
      run.unkept ? h("p.note", { role: "status", text: tr(run.unkept) }) : "",
      run.status === "finished" ? afterRun(run, acts, acts.toggles()) : "",
      calibration ? h("p.muted.run-text", { role: "status", text: calibrationText(run, calibration) }) : "",
      details(run, planned, residuals, acts.pick),
      over ? options.node : "",
      over ? all : "",
    );
  }

  function show(run: Run, done: number, total: number, context: Context) {
    const room = acts.hasRoom();
    const key = JSON.stringify({ ...run, ops: null, seq: 0, progress: null, room, ...context });
    if (key !== shown) keepFocus(panel, () => rebuild(run, room, context));
    shown = key;
    meter.set(done, total, run.progress);
  }

  idle();
  return { panel, idle, showProblem, show, setPlans, options };
}

/** Whether the server lets this reader start runs; it says so when it writes the page. */
const mayRun = () => !["nobody", "view"].includes(document.documentElement.dataset.role ?? "");

/** Why the run has its mode. */
const whyMode = (why: NonNullable<Run["why"]>) => asSentence(tr(why));

function steps(run: Run) {
  if (run.mode === "imported")
    return h("p.muted", {
      text:
        run.device === "simulated"
          ? t("Simulated by Bubbleline, read from a trace.")
          : t("Measured elsewhere; read from a trace."),
    });
  const at = STEPS.indexOf(run.status as "queued");
  const ended = run.status === "failed" || run.status === "cancelled";
  const names = stepNames();
  const list = STEPS.map((step, k) =>
    h("li", {
      class: ended ? null : k < at || run.status === "finished" ? "done" : k === at ? "now" : null,
      text:
        step === "queued" && run.status === "queued" && run.position
          ? t("queued, number {n} in line", { n: run.position })
          : names[step],
    }),
  );
  if (ended)
    list.push(
      h("li", {
        class: run.status === "failed" ? "bad" : "now",
        text: run.status === "failed" ? t("failed") : t("cancelled"),
      }),
    );
  return h("ol.steps", { "aria-label": t("Progress of the run") }, ...list);
}

/** How many ops have ended, as a bar and in numbers. */
function createMeter() {
  const bar = h("i");
  const box = h("span.meter", { role: "progressbar", "aria-label": t("Ops that have ended"), "aria-valuemin": 0 }, bar);
  const words = h("span");
  return {
    node: h("span.progress", box, words),
    set(done: number, total: number, progress: Run["progress"]) {
      bar.style.transform = `scaleX(${total ? done / total : 0})`;
      box.setAttribute("aria-valuenow", String(done));
      box.setAttribute("aria-valuemax", String(total));
      setText(words, stepText(done, progress) || (total ? t("{done} of {total} ops", { done, total }) : ""));
    },
  };
}

/**
 * The training step of a run of several, until the ops of the last one arrive, and of the reference that it is compared
 * with. done: ops.
 */
function stepText(done: number, progress: Run["progress"]) {
  if (progress?.phase === "verifying") return t("Reference: step {step} of {steps}", progress);
  return progress?.phase === "running" && progress.steps > 1 && done === 0 ? t("Step {step} of {steps}", progress) : "";
}

function expected(run: Run) {
  const seconds = run.estimate_s ?? 0;
  if (seconds < LONG_S) return "";
  return " " + t("It is expected to take {minutes} min.", { minutes: formatCount(Math.round(seconds / 60)) });
}

function sentence(run: Run) {
  if (run.notice && !isOver(run)) return h("p.note", { role: "alert", text: tr(run.notice) });
  if (run.status === "queued")
    return h("p", { text: (run.position === 1 ? t("Next in line.") : t("Other runs are before it.")) + expected(run) });
  if (run.status === "warming" && run.waiting)
    return h("p", { title: tr(run.waiting), text: t("The run waits for a place on the cluster.") });
  if (run.status === "warming")
    return h("p", {
      text: t("The workers load the model. The first op starts when all of them are ready.") + expected(run),
    });
  if (run.status === "cancelled")
    return h("p.note", { text: t("The run was cancelled. The ops that ended before are on the timeline.") });
  if (run.status === "failed") return h("p.note.bad", { role: "alert", text: reason(run) });
  const notes = run.notes ?? [];
  const items = notes.map((note) => h("li", { text: tr(note) }));
  const list = h("ul.run-notes", ...items);
  list.classList.toggle("note", run.verified === false || Boolean(run.too_busy));
  list.classList.toggle("bad", run.verified === false);
  return notes.length ? list : "";
}

/** The details behind the result, in sight while there is none. Unfolded once, it stays so. */
function details(run: Run, planned: number | null, residuals: Residuals | null, pick: RunActs["pick"]) {
  const parts = [
    run.why ? h("p.muted.run-text", { text: whyMode(run.why) }) : "",
    facts(run, planned),
    residuals ? residualLists(residuals, pick) : "",
  ];
  if (run.status !== "finished") return h("div", ...parts);
  const open = latestDetails?.open ?? false;
  latestDetails = h("details.run-details", { open }, h("summary", { text: t("Details") }), ...parts);
  return latestDetails;
}

/** The sentence that leads the result. */
function result(run: Run) {
  const text = resultText(run);
  const tone = run.verified ? "good" : run.mode === "imported" ? "" : "bad";
  return text ? h("p#run-result", { class: `run-result ${tone}`, role: "status", text }) : "";
}

function reason(run: Run) {
  const { failure } = run;
  if (!failure) return t("The run failed, and the runner gave no reason.");
  const text = failureText(run);
  return t("The run failed: {reason}", { reason: `${text}${/[.。]$/.test(text) ? "" : t(".")}` });
}
