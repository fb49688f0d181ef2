// Runs on the page, up to four: starts them, watches those that the link names, and says what they are.
import { h } from "../../ui/dom.js";
import { invalidate } from "../../ui/frame_loop.js";
import { RUN_LANE_IDS } from "../../data/lanes.js";
import { calibrated, withCosts } from "../../core/measured/calibration.js";
import { hopTime } from "../../core/measured/cluster.js";
import { t } from "../../core/i18n/language.js";
import { IDS, specAt, specsOf } from "../../core/state/schedules.js";
import { plannedPeak, planOf } from "../../data/matched_plan.js";
import { askCalibration, cancelRun, isOver } from "../../data/runs/client.js";
import { headsOf, isOf, linkTo, measuredOf, mostHeld, titleOf } from "./headings.js";
import { createRunList } from "./list.js";
import { PLACED } from "./options.js";
import { createRunPanel } from "./panel.js";
import { createShowing } from "./overlay_toggles.js";
import { createStarter } from "./start.js";
import { residualsOf } from "./residuals.js";
import { toldOf } from "./problem.js";
import { createSweep } from "./side_by_side.js";
import { createSwitcher } from "./switcher.js";
import { createWhere } from "./devices.js";
import { Watched } from "../../data/runs/watched_run.js";

/** @import {Lane} from "../../data/lanes.js" */
/** @import {Calibration} from "../../core/measured/calibration.js" */
/** @import {Store} from "../../data/store.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/**
 * @typedef {{query: (spec: Spec) => string, asynchronous: (spec: Spec) => boolean, title: (spec: Spec) => string,
 *   changed: () => void, status: (status: string | null) => void, started: () => void, lanes: () => Lane[], go: (lane:
 *   Lane, i: number) => void}} Parts lanes: all on the timeline; go: to an op of one
 */

export class RunView {
  /** @type {Watched[]} in the order of the link */
  #all = [];
  #shown = 0; // whose facts the panel has
  /** @type {Map<string, Calibration>} of runs whose costs were put into the plan */
  #calibrations = new Map();
  #status = ""; // of the run that is shown, as it last was
  #switcher = createSwitcher((at) => this.#look(at));
  #panel = createRunPanel({
    start: (beside) => this.start(beside),
    cancel: () => this.#cancel(),
    leave: () => this.#leave(),
    calibrate: () => this.#calibrate(),
    hop: () => this.#useHop(),
    chosen: () => this.#tellWhere(),
    startAll: () => this.startAll(),
    pick: (i) => this.#go(i),
    showing: () => this.showing.node,
    another: () => this.#all.length < RUN_LANE_IDS.length,
  });
  #sweep = createSweep({ cancelAll: () => this.#cancelAll() });
  /** @type {string[]} runs whose lanes stay when another begins */
  #kept = [];
  #batch = ""; // the ids of those that were started together
  #starter = createStarter({
    asked: () => this.#panel.options.chosen(),
    begun: (ids) => this.#begun(ids),
    failed: (problem) => {
      this.store.setView({ tab: "run" });
      this.#fail(problem);
    },
    busy: (starting) => this.parts.status(starting ? "starting" : this.live ? "live" : null),
  });
  #chosenFor = ""; // the run whose options are on the panel
  #list;

  /** @param {Store} store @param {Parts} parts */
  constructor(store, parts) {
    this.store = store;
    this.parts = parts;
    this.showing = createShowing(store);
    this.where = createWhere(store, () => this.#tellWhere());
    this.#list = createRunList({
      title: parts.title,
      on: () => this.ids(),
      add: (id) => this.#put(this.adding(id)),
      only: (ids) => this.#put(ids.join(",")),
      link: ({ id, spec }) => `${location.origin}/${linkTo(parts.query(spec), id)}`,
      gone: (id) => this.#forget(id),
    });
    this.panel = h(
      "div",
      { class: "run-tab" },
      this.#sweep.node,
      this.#switcher.node,
      h("div", { class: "run-and-cluster" }, this.#panel.panel, this.where.node),
      this.#list.node,
    );
    this.#panel.several(specsOf(store.get()).length);
    store.subscribe((state, before) => {
      if (state.spec !== before.spec || state.preset !== before.preset) this.#fit();
      if (state.spec === before.spec && state.others === before.others) return;
      this.#panel.several(specsOf(state).length);
      this.#settle(specsOf(state));
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
    return [
      ...this.ids()
        .filter((each) => each !== id)
        .slice(0, RUN_LANE_IDS.length - 1),
      id,
    ].join(",");
  }

  /** Run the schedule on the screen. @param {boolean} [beside] and keep the lanes of other runs */
  start(beside = false) {
    this.#kept = beside ? this.ids() : [];
    return this.#starter.start([this.store.get().spec]);
  }

  /** Run all schedules on the screen. */
  startAll() {
    this.#kept = [];
    return this.#starter.start(specsOf(this.store.get()));
  }

  /** @param {string[]} ids */
  #begun(ids) {
    this.parts.started();
    this.#shown = 0;
    this.#batch = [...ids, ...this.#kept].slice(0, RUN_LANE_IDS.length).join(",");
    this.#put(this.#batch, { at: null, t0: null, t1: null });
  }

  /** @param {string | null} run @param {{at?: null, t0?: null, t1?: null}} [more] */
  #put(run, more = {}) {
    this.store.setView({ run: run || null, tab: "run", ...more }, "push");
  }

  #cancel() {
    const run = this.#all[this.#shown]?.run;
    if (run) cancelRun(run.id).catch((problem) => this.#fail(problem));
  }

  #cancelAll() {
    for (const { run } of this.#all) if (run && !isOver(run)) cancelRun(run.id).catch((problem) => this.#fail(problem));
  }

  /** To an op of the run that the panel is about. @param {number} i */
  #go(i) {
    const lane = this.#all[this.#shown]?.lane;
    if (lane) this.parts.go(lane, i);
  }

  #leave() {
    const gone = this.#all[this.#shown]?.id;
    this.store.setView(
      {
        run:
          this.ids()
            .filter((id) => id !== gone)
            .join(",") || null,
      },
      "push",
    );
  }

  /** Take a measured lane off the screen. @param {string} lane */
  drop(lane) {
    const gone = this.#all.find((each) => each.name === lane)?.id;
    this.store.setView(
      {
        run:
          this.ids()
            .filter((id) => id !== gone)
            .join(",") || null,
      },
      "push",
    );
  }

  /** A run that was deleted leaves the screen. @param {string} id */
  #forget(id) {
    if (this.ids().includes(id))
      this.store.setView(
        {
          run:
            this.ids()
              .filter((each) => each !== id)
              .join(",") || null,
        },
        "replace",
      );
  }

  /** The tab was opened. */
  opened() {
    if (!this.ids().length) this.#list.open();
    this.#list.refresh();
    this.where.open();
  }

  #tellWhere() {
    const { spec } = this.store.get();
    this.#panel.options.tell({ devices: this.where.devices, p: spec.p, asynchronous: this.parts.asynchronous(spec) });
  }

  /** Which schedule on the screen a run is a run of; the first where it is none. @param {Lane} lane */
  #planAt(lane) {
    return Math.max(
      0,
      IDS.findIndex((each) => each === planOf(lane, this.parts.lanes())?.id),
    );
  }

  /** The plan's hop becomes as long as those that the run measured. */
  #useHop() {
    const { run = null, lane = null } = this.#all[this.#shown] ?? {};
    const comm = hopTime(run?.links, run?.unit_ms);
    const at = lane ? this.#planAt(lane) : 0;
    const spec = specAt(this.store.get(), at);
    if (comm !== null && spec)
      this.store.set(withCosts(this.store.get(), { ...spec, costs: { ...spec.costs, comm } }, at), "push");
  }

  /** The plan gets the costs that the run had. */
  async #calibrate() {
    const { id = "", lane = null } = this.#all[this.#shown] ?? {};
    if (!lane) return;
    const at = this.#planAt(lane);
    try {
      const found = await askCalibration(id);
      this.#calibrations.clear();
      this.store.set(calibrated(this.store.get(), found, at), "push");
      this.#calibrations.set(id, { ...found, spec: specAt(this.store.get(), at) ?? found.spec });
      this.#changed();
    } catch (problem) {
      this.#fail(problem);
    }
  }

  /** A plan is another: what is said of its costs holds no longer. @param {Spec[]} specs */
  #settle(specs) {
    this.#tellWhere();
    for (const [id, { spec }] of this.#calibrations)
      if (!specs.some((each) => isOf(spec, each) && JSON.stringify(each.costs) === JSON.stringify(spec.costs)))
        this.#calibrations.delete(id);
    this.settled();
  }

  /** The plans have come to rest: what is said of the run beside them may be another thing now. */
  settled() {
    const watched = this.#all[this.#shown];
    if (watched?.run && !watched.problem) this.#showRun(watched);
  }

  /** @param {Watched} watched */
  #showRun({ id, run, lane, progress, lost }) {
    if (!run) return;
    if (id !== this.#chosenFor) this.#panel.options.choose(run.asked && { ...PLACED, ...run.asked });
    if (id !== this.#chosenFor) this.#tellWhere();
    this.#chosenFor = id;
    const whole = run.status === "finished" && lane !== null && progress.done === progress.total;
    this.#panel.show(run, progress.done, progress.total, {
      lost,
      calibration: this.#calibrations.get(id) ?? null,
      planned: run.activations && lane ? plannedPeak(lane) : null,
      residuals: whole ? residualsOf(lane, this.parts.lanes()) : null,
    });
  }

  /** @param {unknown} problem */
  #fail(problem) {
    const { options } = this.#panel;
    const { message, hint, instead } = toldOf(problem, options.chosen());
    this.#panel.problem(
      message,
      hint,
      instead && {
        text: t("Use {value}", { value: Object.entries(instead).flat().join(" ") }),
        act: () => {
          options.choose(instead);
          this.start();
        },
      },
    );
    this.parts.status(null);
  }

  #fit() {
    for (const each of this.#all) each.fit();
  }

  #changed() {
    const watched = this.#all[this.#shown];
    this.#switcher.draw(this.#all, this.#shown, this.parts.title);
    this.#sweep.draw(
      this.#all.map(({ run, progress }) => ({ run, ...progress })),
      this.ids().join() === this.#batch ? this.#starter.refused() : [],
      this.parts.title,
    );
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

  /** @param {number} at */
  #look(at) {
    this.#shown = at;
    this.#changed();
  }

  /** Watch the runs that the state names. */
  sync() {
    const ids = [...new Set(this.ids())].slice(0, RUN_LANE_IDS.length);
    if (ids.join() === this.#all.map(({ id }) => id).join()) return;
    const before = this.#all;
    for (const each of before) if (!ids.includes(each.id)) each.end();
    const plan = () => ({ spec: this.store.get().spec, ms: this.store.get().preset !== null });
    this.#all = ids.map((id, at) => {
      const here =
        before.find((each) => each.id === id) ??
        new Watched(id, RUN_LANE_IDS[at], {
          query: this.parts.query,
          asynchronous: this.parts.asynchronous,
          plan,
          changed: () => this.#changed(),
        });
      here.rename(RUN_LANE_IDS[at]);
      return here;
    });
    this.#shown = Math.min(this.#shown, Math.max(0, ids.length - 1));
    if (!this.#all[this.#shown]?.run) this.#panel.idle();
    this.#list.refresh();
    for (const each of this.#all) if (!before.includes(each)) each.begin();
    this.#changed();
  }

  /** The headings over the measured lanes. */
  heads() {
    return headsOf(this.#all, specsOf(this.store.get()), this.parts.title);
  }

  /** The measured lanes that are whole, for the comparison. */
  measured() {
    return measuredOf(this.#all, this.parts.title);
  }

  /**
   * The most bytes of activations that a rank held in a run of this plan; null where none was measured.
   * @param {string} plan
   */
  peak(plan) {
    const lanes = this.parts.lanes();
    const found = this.#all.find(({ run, lane }) => run?.activations && lane && planOf(lane, lanes)?.id === plan);
    return found?.run ? mostHeld(found.run) : null;
  }

  /** @param {string} lane */
  titleOf(lane) {
    const run = this.#all.find((each) => each.name === lane)?.run;
    return run ? titleOf(run, this.parts.title) : t("Measured");
  }
}
