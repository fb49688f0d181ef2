// The run tab: starts runs and cancels them, shows one of those on the screen, compares several, lists the stored ones.
import { h } from "../../ui/dom.ts";
import { onRest } from "../../ui/rest.ts";
import { calibrated, withCosts, type Calibration } from "../../core/measured/calibration.ts";
import { hopTime } from "../../core/measured/cluster.ts";
import { fewerRanks, lacking } from "../../core/measured/devices.ts";
import { meanOp, mostBlocks } from "../../core/measured/pace.ts";
import { runLayers } from "../../core/schedule/effective_costs.ts";
import { t } from "../../core/i18n/language.ts";
import { specQuery } from "../../core/state/link.ts";
import { specAt, specsOf } from "../../core/state/schedules.ts";
import { plannedPeak } from "../../data/matched_plan.ts";
import { withField } from "../../data/spec_fields.ts";
import { cancelRun, getCalibration, isOver, mayChange } from "../../data/runs/client.ts";
import { isOf, linkTo } from "../../data/runs/run_titles.ts";
import { MOST_RUNS, type RunsOnScreen } from "../../data/runs/runs_on_screen.ts";
import { createDevices } from "./devices.ts";
import { RunList } from "./list.ts";
import { CLUSTER_DEFAULTS, tooManyText } from "./options.ts";
import { createOverlayToggles } from "./overlay_toggles.ts";
import { createRunPanel } from "./panel.ts";
import { residualsOf } from "./residuals.ts";
import { createRunTable, createSwitcher } from "./side_by_side.ts";
import { createStarter, problemText } from "./start.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";
import type { WatchedRun } from "../../data/runs/watched_run.ts";
import type { Spec, Times } from "../../core/schedule/types.ts";

type Parts = {
  store: Store;
  plans: Plans;
  runs: RunsOnScreen;
  goTo: (lane: Lane, i: number) => void; // an op on the timeline
  showStatus: (status: "starting" | "live" | null) => void; // of the runs
  forbid: (why: string) => void; // a run cannot be started, "" if it can
  replay: () => void; // plays the timeline from its start
  onStart: () => void; // called when runs have been started
};

export class RunTab {
  parts: Parts;
  store: Store;
  runs: RunsOnScreen;
  plans: Plans;
  toggles: ReturnType<typeof createOverlayToggles>;
  devices: ReturnType<typeof createDevices>;
  panel: HTMLDivElement;

  #shownAt = 0; // which of the runs the panel is about
  /** Of runs whose costs were put into the plan. */
  #calibrations = new Map<string, Calibration>();
  #status = ""; // of the run that is shown, as it last was
  #ids = ""; // of the runs on the screen, as they last were
  /** Runs whose lanes stay when another begins. */
  #kept: string[] = [];
  #batch = ""; // the ids of those that were started together
  /** The mean op of the plan. */
  #work: { times: Times; mean: number } | null = null;
  #chosenFor = ""; // the run whose options are on the panel
  #refused = false; // the last start was, and the panel still says why
  #switcher = createSwitcher((at) => this.#select(at));
  #table = createRunTable({ cancelAll: () => this.#cancelAll() });
  #panel = createRunPanel({
    start: (beside) => this.start(beside),
    cancel: () => this.#cancel(),
    leave: () => this.runs.remove(this.#shown?.id),
    calibrate: () => this.#calibrate(),
    replay: () => this.parts.replay(),
    useHop: () => this.#useHop(),
    chosen: () => this.#showDevices(),
    takeRanks: (p) => this.#take({ p }),
    startAll: () => this.startAll(),
    pick: (i) => this.#goTo(i),
    toggles: () => this.toggles.node,
    hasRoom: () => this.runs.all.length < MOST_RUNS,
  });
  #starter = createStarter({
    options: () => this.#panel.options.chosen(),
    started: (ids) => this.#onStarted(ids),
    failed: (problem) => {
      this.store.setView({ tab: "run" });
      this.#showProblem(problem);
      this.#refused = true;
    },
    busy: (starting) => {
      if (starting) this.#refused = false;
      this.parts.showStatus(starting ? "starting" : this.runs.live ? "live" : null);
    },
  });
  #list;

  constructor(parts: Parts) {
    const { store, plans, runs } = parts;
    this.parts = parts;
    this.store = store;
    this.runs = runs;
    this.plans = plans;
    this.toggles = createOverlayToggles(store);
    this.devices = createDevices(store, () => this.#showDevices());
    this.#list = new RunList({
      title: runs.title,
      onScreen: () => runs.ids(),
      add: (id) => runs.show(runs.withRun(id)),
      only: (ids) => runs.show(ids.join(",")),
      link: ({ id, spec }) => `${location.origin}/${linkTo(specQuery(spec, store.defaults), id)}`,
      deleted: (id) => runs.remove(id, "replace"),
    });
    this.panel = h(
      "div.run-tab",
      this.#table.node,
      this.#switcher.node,
      h("div.run-and-cluster", this.#panel.panel, this.devices.node),
      this.#list.node,
    );
    this.#panel.setPlans(specsOf(store.get()).length);
    onRest(() => this.#showDevices()); // what a run of the new schedule needs may wait until a drag rests
    store.subscribe((state, before) => {
      if (state.spec === before.spec && state.others === before.others) return;
      this.#panel.setPlans(specsOf(state).length);
      this.#onSpecs(specsOf(state));
    });
    runs.onChange(() => this.#onChange());
    onRest(() => {
      this.#refresh();
      if (store.get().view.tab === "run") this.#showDevices();
    });
  }

  /** Run the schedule on the screen. beside: and keep the lanes of other runs. */
  start(beside = false) {
    if (this.refusal()) {
      this.store.setView({ tab: "run" });
      return undefined;
    }
    this.#kept = beside ? this.runs.ids() : [];
    return this.#starter.start([this.store.get().spec]);
  }

  /** Run all schedules on the screen. */
  startAll() {
    this.#kept = [];
    return this.#starter.start(specsOf(this.store.get()));
  }

  /** Why the schedule on the screen cannot run, as far as it is known; "" where it can. */
  refusal() {
    const { p } = this.store.get().spec;
    const most = fewerRanks(this.devices.known, p);
    return lacking(this.devices.known) || (most === null ? "" : tooManyText(p, most));
  }

  /** Learn, ahead of a click, whether a run can be. */
  look() {
    this.devices.ask().catch(() => {});
  }

  /** The tab was opened. */
  show() {
    if (!this.runs.ids().length) this.#list.open();
    this.#list.refresh();
    this.devices.open();
  }

  get #shown() {
    return this.runs.all[this.#shownAt];
  }

  #onStarted(ids: string[]) {
    this.parts.onStart();
    this.#shownAt = 0;
    this.#batch = [...ids, ...this.#kept].slice(0, MOST_RUNS).join(",");
    this.runs.show(this.#batch, { at: null, t0: null, t1: null });
  }

  #cancel() {
    const run = this.#shown?.run;
    if (run) cancelRun(run.id).catch((problem) => this.#showProblem(problem));
  }

  #cancelAll() {
    for (const { id, run } of this.runs.all) {
      if (!run)
        cancelRun(id).catch(() => {}); // just started, or gone: its state has not arrived yet
      else if (!isOver(run) && mayChange(run)) cancelRun(id).catch((problem) => this.#showProblem(problem));
    }
  }

  /** Go to an op of the run that the panel is about. */
  #goTo(i: number) {
    const lane = this.#shown?.lane;
    if (lane) this.parts.goTo(lane, i);
  }

  #showDevices() {
    const { spec } = this.store.get();
    const asynchronous = this.plans.family(spec.family)?.asynchronous ?? false;
    this.#panel.options.showDevices({
      devices: this.devices.known,
      p: spec.p,
      asynchronous,
      forwardOnly: spec.forward_only,
      plan: this.#planWork(),
    });
    this.parts.forbid(this.refusal());
  }

  /** What the run's length follows from; null until there is a plan of the schedule on the screen. */
  #planWork() {
    const { spec } = this.store.get();
    const lane = this.plans.first.shown === spec ? this.plans.lanes()[0] : null;
    if (!lane) return null;
    const { times, schedule } = lane;
    if (this.#work?.times !== times) this.#work = { times, mean: meanOp(times, schedule.count) };
    return { makespan: times.makespan, meanOp: this.#work.mean, blocks: mostBlocks(runLayers(spec)) };
  }

  /** Change the schedule on the screen. */
  #take(fields: { [field: string]: unknown }) {
    const { spec } = this.store.get();
    const changed = Object.entries(fields).reduce((now, [name, value]) => withField(now, name, value), spec);
    this.store.set({ spec: changed }, "push");
  }

  /** Give the plan the longest hop that the run measured. */
  #useHop() {
    const { run = null, lane = null } = this.#shown ?? {};
    const comm = hopTime(run?.links, run?.unit_ms);
    const at = lane ? this.runs.planIndex(lane) : 0;
    const spec = specAt(this.store.get(), at);
    if (comm !== null && spec)
      this.store.set(withCosts(this.store.get(), { ...spec, costs: { ...spec.costs, comm } }, at), "push");
  }

  /** Give the plan the measured costs of the run. */
  async #calibrate() {
    const { id = "", lane = null } = this.#shown ?? {};
    if (!lane) return;
    const at = this.runs.planIndex(lane);
    try {
      const calibration = await getCalibration(id);
      this.#calibrations.clear();
      this.store.set(calibrated(this.store.get(), calibration, at), "push");
      this.#calibrations.set(id, { ...calibration, spec: specAt(this.store.get(), at) ?? calibration.spec });
      this.#onChange();
    } catch (problem) {
      this.#showProblem(problem);
    }
  }

  /** Drop calibrations that no plan has any more. */
  #onSpecs(specs: Spec[]) {
    for (const [id, { spec }] of this.#calibrations)
      if (!specs.some((each) => isOf(spec, each) && JSON.stringify(each.costs) === JSON.stringify(spec.costs)))
        this.#calibrations.delete(id);
    this.#refused = false;
    this.#refresh();
  }

  /** Show the run again, since the plans that it is compared with may have changed. */
  #refresh() {
    const watched = this.#shown;
    if (watched?.run && !watched.problem && !this.#refused) this.#showRun(watched);
  }

  #showRun({ id, run, lane, progress, lost }: WatchedRun) {
    if (!run) return;
    if (id !== this.#chosenFor) {
      this.#panel.options.choose(run.asked && { ...CLUSTER_DEFAULTS, ...run.asked });
      this.#showDevices();
    }
    this.#chosenFor = id;
    const complete = run.status === "finished" && lane !== null && progress.done === progress.total;
    this.#panel.show(run, progress.done, progress.total, {
      lost,
      calibration: this.#calibrations.get(id) ?? null,
      planned: run.activations && lane ? plannedPeak(lane) : null,
      residuals: complete ? residualsOf(lane, this.plans.lanes()) : null,
    });
  }

  #showProblem(problem: unknown) {
    const { options } = this.#panel;
    const { text, hint, instead } = problemText(problem, options.chosen(), this.store.get().spec);
    this.#panel.showProblem(
      text,
      hint,
      instead && {
        text: t("Use {value}", { value: Object.entries(instead).flat().join(" ") }),
        act: () => {
          if (Object.keys(instead).every((name) => name in options.chosen())) options.choose(instead);
          else this.#take(instead);
          this.start();
        },
      },
    );
    this.parts.showStatus(null);
  }

  #onChange() {
    const { all } = this.runs;
    const ids = all.map(({ id }) => id).join();
    const others = ids !== this.#ids;
    this.#ids = ids;
    if (others) {
      this.#shownAt = Math.min(this.#shownAt, Math.max(0, all.length - 1));
      this.#refused = false;
    }
    const watched = this.#shown;
    if (others && !watched?.run) this.#panel.idle();
    this.#switcher.draw(all, this.#shownAt, this.runs.title);
    this.#table.draw(
      all.map(({ run, progress }) => ({ run, ...progress })),
      this.runs.ids().join() === this.#batch ? this.#starter.refused() : [],
      this.runs.title,
    );
    if (watched?.problem) this.#showProblem(watched.problem);
    else if (watched?.run && !this.#refused) this.#showRun(watched);
    if (this.#statusChanged(watched) || others) this.#list.refresh();
    this.parts.showStatus(this.runs.live ? "live" : null);
  }

  /** Whether the status of the shown run has changed. */
  #statusChanged(watched: WatchedRun | undefined) {
    const status = watched?.run?.status ?? "";
    const before = this.#status;
    this.#status = status;
    return before !== status;
  }

  #select(at: number) {
    this.#shownAt = at;
    this.#refused = false;
    this.#onChange();
  }
}
