// Runs on the page, up to three: starts them, watches those that the link names, and says what they are.
import { Offline, Refusal } from "./api.js";
import { h, replace, show } from "./dom.js";
import { invalidate } from "./frame.js";
import { MEASURED_IDS } from "./lanes.js";
import { calibrated } from "./pure/calibration.js";
import { whereRuns } from "./pure/devices.js";
import { t, tr } from "./pure/lang.js";
import { figures } from "./pure/metrics.js";
import { IMPORTED } from "./pure/url_fields.js";
import { askCalibration, askDevices, cancelRun, startRun } from "./runclient.js";
import { aboutOf, headOf, linkTo } from "./runheads.js";
import { createRunList } from "./runlist.js";
import { createRunPanel } from "./runpanel.js";
import { Watched } from "./watched.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Calibration} from "./pure/calibration.js" */
/** @import {Devices} from "./pure/devices.js" */
/** @import {Figures} from "./pure/metrics.js" */
/** @import {Run} from "./runclient.js" */
/** @import {Store} from "./store.js" */
/** @import {Spec} from "./pure/types.js" */
/** @typedef {{query: (spec: Spec) => string, asynchronous: (spec: Spec) => boolean, title: (spec: Spec) => string, changed: () => void,
 *   status: (status: string | null) => void, started: () => void}} Parts */
/** @typedef {{id: string, title: string, about: string, figures: Figures}} Measurement  a measured lane in the plan's unit */

const AGAIN_MS = 2000; // until the runner is asked for again that was not there

export class RunView {
  /** @type {Watched[]} in the order of the link */
  #all = [];
  #shown = 0; // whose facts the panel has
  #starting = false;
  /** @type {Map<string, Calibration>} of runs whose costs were put into the plan */
  #calibrations = new Map();
  /** @type {Devices | null} */
  #devices = null;
  #asking = 0;
  #status = ""; // of the run that is shown, as it last was
  #switcher = h("div", { class: "which runs", role: "group", "aria-label": t("Which run the panel is about"), hidden: true });
  #panel = createRunPanel({ start: (beside) => this.start(beside), cancel: () => this.#cancel(), leave: () => this.#leave(),
    calibrate: () => this.#calibrate(), paced: () => this.#tellWhere(), another: () => this.#all.length < MEASURED_IDS.length });
  #list;

  /** @param {Store} store @param {Parts} parts */
  constructor(store, parts) {
    this.store = store;
    this.parts = parts;
    this.#list = createRunList({ title: parts.title, on: () => this.ids(), add: (id) => this.#put(this.adding(id)), only: (ids) => this.#put(ids.join(",")),
      link: ({ id, spec }) => `${location.origin}/${linkTo(parts.query(spec), id)}`, gone: (id) => this.#forget(id) });
    this.panel = h("div", { class: "run-tab" }, this.#switcher, this.#panel.panel, this.#list.node);
    store.subscribe((state, before) => {
      if (state.spec !== before.spec || state.preset !== before.preset) this.#fit();
      if (state.spec !== before.spec) this.#settle(state.spec);
    });
  }

  /** The first run of the link. */
  get run() {
    return this.#all[0]?.run ?? null;
  }

  /** The measured lanes that have something to draw. @returns {Lane[]} */
  get lanes() {
    return this.#all.map((each) => each.lane).filter((lane) => lane !== null);
  }

  get live() {
    return this.#all.some((each) => each.live);
  }

  /** The runs that the link names. */
  ids() {
    return (this.store.get().view.run ?? "").split(",").filter(Boolean);
  }

  /** The runs of the link with one more, which the last one makes room for. @param {string} id */
  adding(id) {
    return [...this.ids().filter((each) => each !== id).slice(0, MEASURED_IDS.length - 1), id].join(",");
  }

  /** Run the schedule on the screen. @param {boolean} [beside] and keep the lanes of other runs */
  async start(beside = false) {
    if (this.#starting) return;
    this.#starting = true;
    this.parts.status("starting");
    try {
      const { id } = await startRun(this.store.get().spec, this.#panel.mode());
      this.parts.started();
      this.#shown = 0;
      this.#put([id, ...(beside ? this.ids() : [])].slice(0, MEASURED_IDS.length).join(","), { at: null, t0: null, t1: null });
    } catch (problem) {
      this.store.setView({ tab: "run" });
      this.#fail(problem);
    } finally {
      this.#starting = false;
      this.parts.status(this.live ? "live" : null);
    }
  }

  /** @param {string | null} run @param {{at?: null, t0?: null, t1?: null}} [more] */
  #put(run, more = {}) {
    this.store.setView({ run: run || null, tab: "run", ...more }, "push");
  }

  #cancel() {
    const run = this.#all[this.#shown]?.run;
    if (run) cancelRun(run.id).catch((problem) => this.#fail(problem));
  }

  #leave() {
    const gone = this.#all[this.#shown]?.id;
    this.store.setView({ run: this.ids().filter((id) => id !== gone).join(",") || null }, "push");
  }

  /** Take a measured lane off the screen. @param {string} lane */
  drop(lane) {
    const gone = this.#all.find((each) => each.name === lane)?.id;
    this.store.setView({ run: this.ids().filter((id) => id !== gone).join(",") || null }, "push");
  }

  /** A run that was deleted leaves the screen. @param {string} id */
  #forget(id) {
    if (this.ids().includes(id)) this.store.setView({ run: this.ids().filter((each) => each !== id).join(",") || null }, "replace");
  }

  /** The tab was opened. */
  opened() {
    if (!this.ids().length) this.#list.open();
    this.#list.refresh();
    this.#askDevices();
  }

  /** What there is to run on, until the runner has said it. */
  async #askDevices() {
    clearTimeout(this.#asking);
    if (this.#devices?.state === "ready" || this.store.get().view.tab !== "run") return;
    this.#devices = await askDevices().catch(() => null);
    this.#tellWhere();
    this.#asking = window.setTimeout(() => this.#askDevices(), AGAIN_MS);
  }

  #tellWhere() {
    this.#panel.where(this.#devices ? whereRuns(this.#devices, this.store.get().spec.p, this.#panel.mode()) : "");
  }

  /** The plan gets the costs that the run had. */
  async #calibrate() {
    const run = this.#all[this.#shown]?.run;
    if (!run) return;
    try {
      const found = await askCalibration(run.id);
      this.#calibrations.clear();
      this.store.set(calibrated(this.store.get(), found), "push");
      this.#calibrations.set(run.id, { ...found, spec: this.store.get().spec });
      this.#changed();
    } catch (problem) {
      this.#fail(problem);
    }
  }

  /** The plan is another: what is said of its costs holds no longer. @param {Spec} spec */
  #settle(spec) {
    this.#tellWhere();
    for (const [id, { spec: given }] of this.#calibrations) {
      if (JSON.stringify(given.costs) !== JSON.stringify(spec.costs) || given.family !== spec.family) this.#calibrations.delete(id);
    }
    const watched = this.#all[this.#shown];
    if (watched?.run && !watched.problem) this.#showRun(watched);
  }

  /** @param {Watched} watched */
  #showRun({ id, run, progress, lost }) {
    if (run) this.#panel.show(run, progress.done, progress.total, { lost, calibration: this.#calibrations.get(id) ?? null });
  }

  /** @param {unknown} problem */
  #fail(problem) {
    if (problem instanceof Offline) {
      this.#panel.problem(t("The server does not answer, so the run cannot be shown."), t("The plan above needs no server; try again in a moment."));
    } else if (problem instanceof Refusal && problem.status === 404) {
      this.#panel.problem(t("There is no run of that name here."), t("Runs are kept for a while; an old link may outlive its run."));
    } else {
      this.#panel.problem(problem instanceof Error ? tr(problem.message) : String(problem));
    }
    this.parts.status(null);
  }

  #fit() {
    for (const each of this.#all) each.fit();
  }

  #changed() {
    const watched = this.#all[this.#shown];
    this.#drawSwitcher();
    if (watched?.problem) this.#fail(watched.problem);
    else if (watched?.run) this.#showRun(watched);
    if (this.#over(watched)) this.#list.refresh();
    this.parts.status(this.live ? "live" : null);
    this.parts.changed();
    invalidate("plan");
  }

  /** Whether it has just ended. @param {Watched | undefined} watched */
  #over(watched) {
    const status = watched?.run?.status ?? "";
    const was = this.#status;
    this.#status = status;
    return was !== status;
  }

  #drawSwitcher() {
    show(this.#switcher, this.#all.length > 1);
    const buttons = this.#all.map((each, at) => h("button", { type: "button", "aria-pressed": String(at === this.#shown), onclick: () => this.#look(at),
      text: each.run ? `${at + 1} · ${this.#named(each.run)}` : String(at + 1) }));
    const texts = buttons.map((button) => `${button.textContent}${button.getAttribute("aria-pressed")}`).join();
    if (this.#switcher.dataset.texts === texts) return; // a button stays under the pointer
    this.#switcher.dataset.texts = texts;
    replace(this.#switcher, ...buttons);
  }

  /** @param {number} at */
  #look(at) {
    this.#shown = at;
    this.#changed();
  }

  /** Watch the runs that the state names. */
  sync() {
    const ids = [...new Set(this.ids())].slice(0, MEASURED_IDS.length);
    if (ids.join() === this.#all.map(({ id }) => id).join()) return;
    const before = this.#all;
    for (const each of before) if (!ids.includes(each.id)) each.end();
    const plan = () => ({ spec: this.store.get().spec, ms: this.store.get().preset !== null });
    this.#all = ids.map((id, at) => {
      const here = before.find((each) => each.id === id) ?? new Watched(id, MEASURED_IDS[at], { query: this.parts.query, asynchronous: this.parts.asynchronous, plan, changed: () => this.#changed() });
      here.rename(MEASURED_IDS[at]);
      return here;
    });
    this.#shown = Math.min(this.#shown, Math.max(0, ids.length - 1));
    if (!this.#all[this.#shown]?.run) this.#panel.idle();
    this.#list.refresh();
    for (const each of this.#all) if (!before.includes(each)) each.begin();
    this.#changed();
  }

  /** Which schedule was run, where it is not the one on the screen. @param {Run} run */
  #ofAnother({ spec }) {
    const now = this.store.get().spec;
    if (spec.family === now.family && spec.p === now.p && spec.m === now.m && spec.v === now.v && spec.order === now.order) return "";
    const sizes = `p ${spec.p} m ${spec.m}`;
    if (spec.family !== IMPORTED) return `${this.parts.title(spec)} ${sizes}`;
    return spec.p === now.p && spec.m === now.m ? t("its own order") : `${t("its own order")}, ${sizes}`;
  }

  /** The headings over the measured lanes. */
  heads() {
    return this.#all.flatMap((each) => {
      const { run, lane } = each;
      if (!run || !lane) return [];
      const seen = figures(lane.schedule, lane.times);
      return [{ id: each.name, ...headOf(run), sizes: [this.#ofAnother(run), ...aboutOf(run)].filter(Boolean).join(" · "), bubble: seen.bubble.global.ofTotal,
        makespan: Math.round(seen.makespan * 100) / 100, many: true }];
    });
  }

  /** The measured lanes that are whole, for the comparison. @returns {Measurement[]} */
  measured() {
    return this.#all.flatMap(({ run, lane, name }) => (run && lane && !lane.live && run.status === "finished" ?
      [{ id: name, title: this.#named(run), about: aboutOf(run).join(" · "), figures: figures(lane.schedule, lane.times) }] : []));
  }

  /** @param {string} lane */
  titleOf(lane) {
    const run = this.#all.find((each) => each.name === lane)?.run;
    return run ? this.#named(run) : t("Measured");
  }

  /** @param {Run} run */
  #named(run) {
    return run.mode === "imported" ? t("Imported trace") : t("{title}, measured", { title: this.parts.title(run.spec) });
  }
}
