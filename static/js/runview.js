// A run on the page: starts it, watches it, and turns what arrives into the measured lane and the run panel.
import { Offline, Refusal } from "./api.js";
import { invalidate } from "./frame.js";
import { opsPainted } from "./latency.js";
import { figures } from "./pure/metrics.js";
import { order } from "./orders.js";
import { cancelRun, isOver, startRun, watchRun } from "./runclient.js";
import { addOps, countOps, createRunLane, unitOf } from "./runlane.js";
import { createRunPanel } from "./runpanel.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Run, OpRow} from "./runclient.js" */
/** @import {Store} from "./store.js" */
/** @import {Spec} from "./pure/types.js" */

/**
 * @param {Store} store
 * @param {{query: (spec: Spec) => string, changed: () => void, status: (status: string | null) => void}} parts
 */
export function createRunView(store, parts) {
  /** @type {Run | null} */
  let run = null;
  /** @type {Lane | null} */
  let lane = null;
  /** @type {OpRow[]} rows that came before their order did */
  let early = [];
  let watched = "";
  let starting = false;
  let stop = () => {};
  const panel = createRunPanel({ start, cancel, leave });

  async function start() {
    if (starting) return;
    starting = true;
    parts.status("starting");
    try {
      const { id } = await startRun(store.get().spec);
      store.set({ view: { ...store.get().view, run: id, tab: "run", t0: null, t1: null } }, "push");
    } catch (problem) {
      store.setView({ tab: "run" });
      fail(problem instanceof Error ? problem : new Error(String(problem)));
    } finally {
      starting = false;
      parts.status(run && !isOver(run) ? run.status : null);
    }
  }

  function cancel() {
    if (run) cancelRun(run.id).catch(fail);
  }

  function leave() {
    store.set({ view: { ...store.get().view, run: null } }, "push");
  }

  /** @param {Error} problem */
  function fail(problem) {
    if (problem instanceof Offline) panel.problem("The server does not answer, so the run cannot be shown.", "The plan above needs no server; try again in a moment.");
    else if (problem instanceof Refusal && problem.status === 404) panel.problem("There is no run of that name here.", "Runs are kept for a while; an old link may outlive its run.");
    else panel.problem(problem.message);
    parts.status(null);
  }

  /** @param {Run} next @param {OpRow[]} rows */
  function take(next, rows) {
    const first = run === null;
    run = next;
    if (first) loadOrder(next);
    if (lane) put(rows);
    else early.push(...rows);
    if (lane) lane.live = !isOver(next);
    draw();
    parts.status(isOver(next) ? null : next.status);
    parts.changed();
    invalidate("plan");
  }

  /** @param {OpRow[]} rows */
  function put(rows) {
    if (!lane || !run || !rows.length) return;
    addOps(lane, rows, unitOf(run));
    const t0 = run.t0_unix_ns;
    if (t0 && lane.live) opsPainted(rows.map((row) => (t0 + row[4]) / 1e6));
  }

  /** @param {Run} of */
  function loadOrder(of) {
    order(parts.query(of.spec), new AbortController().signal).then(({ schedule }) => {
      if (run?.id !== of.id || !schedule) return;
      lane = createRunLane(schedule, run);
      lane.live = !isOver(run);
      put(early);
      early = [];
      draw();
      parts.changed();
      invalidate("plan");
    }, fail);
  }

  function draw() {
    if (run) panel.show(run, lane ? countOps(lane) : 0, lane?.schedule.count ?? 0);
  }

  /** Watch the run that the state names. */
  function sync() {
    const id = store.get().view.run ?? "";
    if (id === watched) return;
    watched = id;
    stop();
    stop = () => {};
    run = null;
    lane = null;
    early = [];
    panel.idle();
    parts.status(null);
    if (id) stop = watchRun(id, take, fail);
    invalidate("plan");
  }

  return {
    panel: panel.panel,
    sync,
    start,
    run: () => run,
    lane: () => (lane && lane.end > 0 ? lane : null),
    /** The heading over the measured lane. */
    head() {
      if (!run || !lane) return null;
      const over = isOver(run);
      const seen = figures(lane.schedule, lane.times);
      const device = [run.mode, run.device, run.overlapped === false ? "not overlapped" : ""].filter(Boolean).join(", ");
      const badge = over ? (run.status === "finished" ? (run.verified ? "verified" : "not verified") : run.status) : "live";
      return { title: "Measured", sizes: device, bubble: seen.bubble.global.ofTotal, makespan: seen.makespan, badge,
        tone: !over ? "live" : run.verified ? "good" : "bad" };
    },
    live: () => run !== null && !isOver(run),
  };
}

/** @typedef {ReturnType<typeof createRunView>} RunView */
