// A run on the page: starts it, watches it, and turns what arrives into the measured lane and the run panel.
import { Offline, Refusal } from "./api.js";
import { invalidate } from "./frame.js";
import { opsPainted } from "./latency.js";
import { order } from "./orders.js";
import { figures } from "./pure/metrics.js";
import { cancelRun, isOver, startRun, watchRun } from "./runclient.js";
import { RunLane } from "./runlane.js";
import { createRunPanel } from "./runpanel.js";

/** @import {Run, OpRow} from "./runclient.js" */
/** @import {Store} from "./store.js" */
/** @import {Spec} from "./pure/types.js" */
/** @typedef {{query: (spec: Spec) => string, asynchronous: (spec: Spec) => boolean, changed: () => void, status: (status: string | null) => void, started: () => void}} Parts */

export class RunView {
  /** @type {Run | null} */
  run = null;
  /** @type {RunLane | null} */
  #measured = null;
  /** @type {OpRow[]} ops that came before their order did */
  #early = [];
  #watched = "";
  #starting = false;
  #stop = () => {};
  #panel = createRunPanel({ start: () => this.start(), cancel: () => this.#cancel(), leave: () => this.#leave() });

  /** @param {Store} store @param {Parts} parts */
  constructor(store, parts) {
    this.store = store;
    this.parts = parts;
  }

  get panel() {
    return this.#panel.panel;
  }

  /** The measured lane, once there is something to draw. */
  get lane() {
    const lane = this.#measured?.lane;
    return lane && lane.end > 0 ? lane : null;
  }

  get live() {
    return this.run !== null && !isOver(this.run);
  }

  /** Run the schedule on the screen. */
  async start() {
    if (this.#starting) return;
    this.#starting = true;
    this.parts.status("starting");
    try {
      const { id } = await startRun(this.store.get().spec, this.#panel.mode());
      this.parts.started();
      this.store.set({ view: { ...this.store.get().view, run: id, tab: "run", at: null, t0: null, t1: null } }, "push");
    } catch (problem) {
      this.store.setView({ tab: "run" });
      this.#fail(problem);
    } finally {
      this.#starting = false;
      this.parts.status(this.live ? "live" : null);
    }
  }

  #cancel() {
    if (this.run) cancelRun(this.run.id).catch((problem) => this.#fail(problem));
  }

  #leave() {
    this.store.set({ view: { ...this.store.get().view, run: null } }, "push");
  }

  /** @param {unknown} problem */
  #fail(problem) {
    if (problem instanceof Offline) {
      this.#panel.problem("The server does not answer, so the run cannot be shown.", "The plan above needs no server; try again in a moment.");
    } else if (problem instanceof Refusal && problem.status === 404) {
      this.#panel.problem("There is no run of that name here.", "Runs are kept for a while; an old link may outlive its run.");
    } else {
      this.#panel.problem(problem instanceof Error ? problem.message : String(problem));
    }
    this.parts.status(null);
  }

  /** @param {Run} run the run so far @param {OpRow[]} rows the ops that are new */
  #take(run, rows) {
    const first = this.run === null;
    this.run = run;
    if (first) this.#loadOrder(run);
    if (this.#measured) this.#put(this.#measured, run, rows);
    else this.#early.push(...rows);
    this.#changed();
    this.parts.status(isOver(run) ? null : "live");
  }

  /** @param {RunLane} measured @param {Run} run @param {OpRow[]} rows */
  #put(measured, run, rows) {
    measured.lane.live = !isOver(run);
    measured.add(rows, run);
    const t0 = run.t0_unix_ns;
    if (t0 && !isOver(run) && rows.length) opsPainted(rows.map((row) => (t0 + row[4]) / 1e6));
  }

  /** @param {Run} run */
  #loadOrder(run) {
    order(this.parts.query(run.spec), new AbortController().signal).then(({ schedule }) => {
      if (this.run?.id !== run.id || !schedule) return;
      this.#measured = new RunLane(schedule, run, this.parts.asynchronous(run.spec));
      this.#put(this.#measured, this.run, this.#early.splice(0));
      this.#changed();
    }, (problem) => this.#fail(problem));
  }

  #changed() {
    if (this.run) this.#panel.show(this.run, this.#measured?.done ?? 0, this.#measured?.lane.schedule.count ?? 0);
    this.parts.changed();
    invalidate("plan");
  }

  /** Watch the run that the state names. */
  sync() {
    const id = this.store.get().view.run ?? "";
    if (id === this.#watched) return;
    this.#watched = id;
    this.#stop();
    this.run = null;
    this.#measured = null;
    this.#early = [];
    this.#panel.idle();
    this.parts.status(null);
    this.#stop = id ? watchRun(id, (run, rows) => this.#take(run, rows), (problem) => this.#fail(problem)) : () => {};
    invalidate("plan");
  }

  /** Which schedule was run, where it is not the one on the screen. @param {Run} run */
  #ofAnother({ spec }) {
    const now = this.store.get().spec;
    if (spec.family === now.family && spec.p === now.p && spec.m === now.m && spec.v === now.v) return "";
    return `${spec.family} p ${spec.p} m ${spec.m}`;
  }

  /** The heading over the measured lane. */
  head() {
    const { run } = this;
    const { lane } = this;
    if (!run || !lane) return null;
    const seen = figures(lane.schedule, lane.times);
    const sizes = [this.#ofAnother(run), run.mode, run.device, run.overlapped === false ? "not overlapped" : ""].filter(Boolean).join(" · ");
    const verdict = run.verified ? "verified" : "not verified";
    const badge = !isOver(run) ? "live" : run.status === "finished" ? verdict : run.status;
    const tone = !isOver(run) ? "live" : run.verified ? "good" : "bad";
    return { title: "Measured", sizes, bubble: seen.bubble.global.ofTotal, makespan: Math.round(seen.makespan * 100) / 100, badge, tone };
  }
}
