// Wires the page: the timeline, the panels around it and the drawer below. Each panel follows the state by itself.
import { createAppearance } from "./appearance.js";
import { createDrawer } from "./drawer.js";
import { createShortcuts } from "./shortcuts.js";
import { TimelineView } from "./timeline_view.js";
import { createToolbar } from "./toolbar.js";
import { createWelcome } from "./welcome.js";
import { onWait } from "../data/api.js";
import { RUN_LANE_IDS, laneOf } from "../data/lanes.js";
import { inPairs } from "../data/matched_plan.js";
import { RunsOnScreen } from "../data/runs/runs_on_screen.js";
import { createBlock } from "../panels/block/block.js";
import { createCharts } from "../panels/charts/charts.js";
import { createCompare } from "../panels/compare/compare.js";
import { Controls } from "../panels/controls/controls.js";
import { Search } from "../panels/controls/search.js";
import { createCosts } from "../panels/costs/costs.js";
import { ExportPanel } from "../panels/export/export_panel.js";
import { createPrint } from "../panels/export/print.js";
import { createFigures } from "../panels/figures/figures.js";
import { createHelp } from "../panels/help/help.js";
import { createTour } from "../panels/help/tour.js";
import { createImport } from "../panels/import/import_dialog.js";
import { RunTab } from "../panels/runs/run_tab.js";
import { createShare } from "../panels/share/share.js";
import { createTable } from "../timeline/table.js";
import { byId, h, sentence } from "../ui/dom.js";
import { listenKeys } from "../ui/keyboard.js";
import { onRest } from "../ui/rest.js";
import { t, tr } from "../core/i18n/language.js";
import { withoutLane } from "../core/state/lane_ids.js";
import { isFirstVisit } from "../core/state/first_visit.js";
import { IDS, dropAt } from "../core/state/schedules.js";

/** @import {Started} from "./start.js" */
/** @import {Plans} from "../data/plans.js" */
/** @import {Store} from "../data/store.js" */
/** @import {Lane} from "../data/lanes.js" */

const LONG_NOTICE = 6000; // ms

/** @param {import("../data/api.js").Refusal} refusal */
const waitText = (refusal) => `${sentence(tr(refusal))}${t(" ")}${t("The page tries again by itself.")}`;

/** Name the window and its bookmarks by what is on the screen. @param {Store} store @param {Plans} plans */
function nameDocument(store, plans) {
  const name = () => {
    const { spec, others } = store.get();
    const titles = [spec, ...others].map((each) => plans.family(each.family)?.title ?? each.family);
    const sizes = others.length ? [] : [`p ${spec.p}`, `m ${spec.m}`, ...(spec.v > 1 ? [`v ${spec.v}`] : [])];
    return `${[titles.join(" / "), ...sizes].join(" · ")} · Bubbleline`;
  };
  const write = () => {
    if (document.title !== name()) document.title = name();
  };
  write();
  onRest(write);
}

export class PageView {
  /** @param {Started} started */
  constructor({ store, plans, pricing }) {
    this.store = store;
    this.plans = plans;
    this.controls = new Controls({ store, plans, openImport: (at) => this.openImport(at) });
    this.costs = createCosts({ store, plans, pricing });
    this.unitsOf = (/** @type {import("../data/plan.js").Plan} */ plan) => pricing.unitsOf(plan);
    plans.deviceMemory = (plan) => pricing.unitsOf(plan)?.memory ?? null;
    this.view = new TimelineView(store, plans, {
      showShortcuts: () => this.#toggleTab("keys"),
      arrange: (planned) => this.#arrange(planned),
      measured: () => this.runs.headings(),
      measuredTitle: (id) => this.runs.titleOf(id),
      remove: (id) => this.#remove(id),
    });
    this.timeline = this.view.timeline;
    this.playback = this.view.playback;
    this.runs = new RunsOnScreen({ store, plans });
    this.runs.onChange(() => this.view.follow.tail(this.runs.lanes.find((lane) => lane.live) ?? null));
    this.runTab = new RunTab({
      store,
      plans,
      runs: this.runs,
      goTo: (lane, i) => this.view.goTo(lane, i),
      showStatus: (status) => this.toolbar.showRun(status),
      forbid: (why) => this.toolbar.forbidRun(why),
      replay: () => {
        this.playback.seek(0);
        this.playback.play();
      },
      onStart: () => this.playback.seek(null),
    });
    this.openImport = createImport({
      store,
      plans,
      addRun: (id) => this.runs.withRun(id),
      announce: (text) => this.view.status.toast(text),
    });
    this.toolbar = createToolbar({
      store,
      plans,
      controls: this.controls,
      runs: { isLive: () => this.runs.live, start: () => this.runTab.start(), look: () => this.runTab.look() },
      showShortcuts: () => this.#toggleTab("keys"),
      openImport: () => this.openImport(),
    });
    onWait((refusal) => this.view.status.toast(waitText(refusal), 1000 * (refusal.retryAfter ?? 1)));
    this.#createPanels();
    this.#begin();
  }

  #createPanels() {
    const { store, plans, timeline, playback, runs, runTab, view } = this;
    const share = createShare(store);
    const search = new Search({ store, plans });
    createFigures({ plans, search: search.node, measuredPeak: (id) => runs.peak(id), unitsOf: this.unitsOf });
    const compare = createCompare({
      store,
      plans,
      unitsOf: this.unitsOf,
      addSchedule: this.toolbar.addSchedule,
      openImport: () => this.openImport(),
      measured: () => runs.measured(),
      runAll: () => runTab.startAll(),
    });
    const charts = createCharts({ store, plans, playback });
    const block = createBlock({ store, plans });
    const exporting = new ExportPanel({ store, plans, timeline, share: share.open });
    createPrint({ store, plans, timeline });
    const keys = [...view.keys(), ...runTab.toggles.keys()];
    listenKeys(keys);
    const tour = createTour({ store, plans, play: () => playback.playIntro() });
    const help = createHelp({ tour, shortcuts: createShortcuts(keys) });
    createWelcome({ store, plans, teach: share.open });
    createAppearance(store);
    createDrawer(store, [
      { id: "compare", title: t("Compare"), panel: compare.panel, show: () => compare.show() },
      { id: "charts", title: t("Charts"), panel: charts.panel, show: () => charts.show() },
      { id: "plan", title: t("Training plan"), ...this.#planTab() },
      { id: "block", title: t("Building block"), panel: block.panel, show: () => block.show() },
      { id: "costs", title: t("Costs"), panel: this.costs.panel, show: () => this.costs.show() },
      { id: "run", title: t("Run"), panel: runTab.panel, show: () => runTab.show() },
      { id: "export", title: t("Export"), panel: exporting.panel, show: () => exporting.show() },
      { id: "keys", title: t("Help"), panel: help.panel, show: () => help.show() },
    ]);
    nameDocument(store, plans);
    const table = createTable(
      () => timeline.lanes,
      (id) => view.titleOf(id),
      () => timeline.visible(),
      () => view.tools.pins.current(),
    );
    onRest(() => table.refresh());
    store.subscribe((state, before) => {
      if (state.view !== before.view) table.refresh();
    });
  }

  /** The tab of training plans, whose script is loaded when it is opened. */
  #planTab() {
    const panel = h("div", {});
    const { store, plans, unitsOf, costs } = this;
    /** @type {Promise<{show: () => void}> | null} */
    let loading = null;
    const load = async () => {
      const { createPlan } = await import("../panels/charts/plan/plan.js");
      const plan = createPlan({ store, plans, unitsOf, reveal: costs.reveal });
      panel.append(plan.node);
      return plan;
    };
    return { panel, show: async () => (await (loading ??= load())).show() };
  }

  #begin() {
    if (matchMedia("(max-width: 899px)").matches && !isFirstVisit(location.search))
      byId("controls").removeAttribute("open"); // a first visit is asked to drag what is in there
    this.controls.showLinkProblems(this.store.problems);
    this.#noticeLinkProblems();
    this.view.begin();
    this.runs.sync();
    this.#intro();
  }

  /** The planned lane groups, each with the runs of it below. @param {Lane[]} planned */
  #arrange(planned) {
    const lanes = inPairs(planned, this.runs.lanes);
    const { dataset } = byId("stage");
    if (dataset.lanes !== String(lanes.length)) dataset.lanes = String(lanes.length); // on a phone, more are taller
    return lanes;
  }

  /** Take a lane group off the screen, and what the link names of it. @param {string} id */
  #remove(id) {
    const { store } = this;
    if (laneOf(this.timeline.lanes, id)?.kind === "plan")
      return store.set(dropAt(store.get(), IDS.indexOf(/** @type {any} */ (id))), "push");
    store.setView(withoutLane(store.get().view, RUN_LANE_IDS, id), "none"); // one step of the history with the next
    this.runs.removeLane(id);
  }

  /** @param {string} id */
  #toggleTab(id) {
    this.store.setView({ tab: this.store.get().view.tab === id ? null : id });
  }

  /** Where the controls are closed, a notice points to what of the link could not be read. */
  #noticeLinkProblems() {
    if (!this.store.problems.length) return;
    let noticed = false;
    onRest(() => {
      if (noticed || !this.timeline.lanes.length) return;
      noticed = true;
      if (!byId("controls").hasAttribute("open"))
        this.view.status.toast(
          t("Part of this link could not be read. See Schedule and costs for details."),
          LONG_NOTICE,
        );
    });
  }

  /** Play the first view once, unless the reader prefers reduced motion or the link asks for more than schedules. */
  #intro() {
    if (!this.store.plainView() || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.view.onceDrawn(() => this.playback.playIntro());
  }
}
