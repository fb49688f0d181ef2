// Wires the page: the timeline, the panels around it and the drawer below. Each panel follows the state by itself.
import { joinClass } from "./classroom/join_class.ts";
import { exposeForTests } from "./inspection.ts";
import { createPresenting, startsPresenting } from "./present/presenting.ts";
import { galleryDeck } from "./present/gallery_deck.ts";
import { createAppearance } from "./appearance.ts";
import { createDrawer, type Tab } from "./drawer/drawer.ts";
import { createShortcuts } from "./shortcuts.ts";
import { createStory, isStory } from "./story.ts";
import { start, type Started } from "./start.ts";
import { TimelineView } from "./timeline_view.ts";
import { createToolbar } from "./toolbar.ts";
import { needsServer, onWait, type Refusal } from "../data/api.ts";
import { RUN_LANE_IDS, laneOf, type Lane } from "../data/lanes.ts";
import { inPairs } from "../data/matched_plan.ts";
import { Diagnoses } from "../data/runs/diagnosis.ts";
import { RunsOnScreen } from "../data/runs/runs_on_screen.ts";
import { Controls } from "../panels/controls/controls.ts";
import { Search } from "../panels/controls/search.ts";
import { createCosts } from "../panels/costs/costs.ts";
import { createPrint } from "../panels/export/print.ts";
import { createFigures } from "../panels/figures/figures.ts";
import { createHelp } from "../panels/help/help.ts";
import { createTour } from "../panels/help/tour.ts";
import { createImport } from "../panels/import/open_import.ts";
import { RunTab } from "../panels/runs/run_tab.ts";
import { createShare } from "../panels/share/share.ts";
import { createTable } from "../timeline/table.ts";
import { byId, h, hasServer, sentence } from "../ui/dom.ts";
import { listenKeys } from "../ui/keyboard.ts";
import { onRest } from "../ui/rest.ts";
import { t, tr } from "../core/i18n/language.ts";
import { withoutLane } from "../core/state/lane_ids.ts";
import { IDS, dropAt } from "../core/state/schedules.ts";
import type { LaterTab } from "./drawer/later_tabs.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";
import type { Plan } from "../data/plan.ts";
import type { StepUnits } from "../data/costs/step_units.ts";
import type { Timeline } from "../timeline/timeline.ts";

const LONG_NOTICE = 6000; // ms

const waitText = (refusal: Refusal) => `${sentence(tr(refusal))}${t(" ")}${t("The page tries again by itself.")}`;

/** Name the window and its bookmarks by what is on the screen. */
function nameDocument(store: Store, plans: Plans) {
  const name = () => {
    if (isStory()) return `${t("Explore")} · Bubbleline`;
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
  store: Started["store"];
  plans: Started["plans"];
  controls: Controls;
  costs: ReturnType<typeof createCosts>;
  unitsOf: (plan: Plan) => StepUnits | null;
  view: TimelineView;
  timeline: Timeline;
  playback: TimelineView["playback"];
  runs: RunsOnScreen;
  runTab: RunTab;
  diagnoses = new Diagnoses();
  openImport: ReturnType<typeof createImport>;
  toolbar: ReturnType<typeof createToolbar>;
  presenting!: ReturnType<typeof createPresenting>; // by the panels

  constructor({ store, plans, pricing }: Started) {
    this.store = store;
    this.plans = plans;
    this.controls = new Controls({ store, plans, openImport: (at) => this.openImport(at) });
    this.costs = createCosts({ store, plans, pricing });
    this.unitsOf = (plan: Plan) => pricing.unitsOf(plan);
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
    const imports = {
      ...{ store, plans, diagnoses: this.diagnoses },
      addRun: (id: string) => this.runs.withRun(id),
      announce: (text: string) => this.view.status.toast(text, LONG_NOTICE),
    };
    this.openImport = createImport(async () => new (await later()).ImportDialog(imports), imports.announce);
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
    createPrint({ store, plans, timeline });
    this.presenting = createPresenting({ deck: () => galleryDeck(view), onLeave: () => {} });
    const keys = [...view.keys(), ...runTab.toggles.keys(), this.presenting.key];
    listenKeys(keys);
    const tour = createTour({ store, plans, play: () => playback.playIntro() });
    const help = createHelp({ tour, shortcuts: createShortcuts(keys) });
    createStory({ store, plans, tour });
    createAppearance(store);
    const opened = (id: LaterTab, title: string): Tab => ({
      ...{ id, title },
      load: async () => (await later()).createTab(id, this, share.open),
    });
    createDrawer(store, [
      served(opened("compare", t("Compare"))),
      opened("charts", t("Charts")),
      served(opened("plan", t("Training plan"))),
      served(opened("block", t("Building block"))),
      served({ id: "costs", title: t("Costs"), panel: this.costs.panel, show: () => this.costs.show() }),
      served({ id: "run", title: t("Run"), panel: runTab.panel, show: () => runTab.show() }),
      served(opened("diagnosis", t("Diagnosis"))),
      opened("export", t("Export")),
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

  #begin() {
    if (matchMedia("(max-width: 899px)").matches) byId("controls").removeAttribute("open");
    this.#noticeLinkProblems();
    this.view.onceDrawn(() => document.querySelector(".first-picture")?.remove());
    this.view.begin();
    this.runs.sync();
    this.#intro();
  }

  /** The planned lane groups, each with the runs of it below. */
  #arrange(planned: Lane[]) {
    const lanes = inPairs(planned, this.runs.lanes);
    const { dataset } = byId("stage");
    if (dataset.lanes !== String(lanes.length)) dataset.lanes = String(lanes.length); // on a phone, more are taller
    return lanes;
  }

  /** Take a lane group off the screen, and what the link names of it. */
  #remove(id: string) {
    const { store } = this;
    if (laneOf(this.timeline.lanes, id)?.kind === "plan")
      return store.set(dropAt(store.get(), IDS.indexOf(id as any)), "push");
    store.setView(withoutLane(store.get().view, RUN_LANE_IDS, id), "none"); // one step of the history with the next
    this.runs.removeLane(id);
  }

  #toggleTab(id: string) {
    this.store.setView({ tab: this.store.get().view.tab === id ? null : id });
  }

  /** Where the controls are closed, a notice points to what of the link could not be read. */
  #noticeLinkProblems() {
    let noticed: object | null = null;
    onRest(() => {
      const problems = this.store.problems();
      if (!problems.length || problems === noticed || !this.timeline.lanes.length) return;
      noticed = problems;
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

/** The tabs that a reader opens later, in one script. */
const later = () => import("./drawer/later_tabs.ts");

/** A tab of what a server answers: without one, it says so in its place. */
const served = (tab: Tab): Tab =>
  hasServer
    ? tab
    : { id: tab.id, title: tab.title, panel: h("div", h("p.note", needsServer(tab.id === "run").message)) };

/** Start the page. */
export async function startExplore() {
  const isPresented = startsPresenting();
  const started = await start();
  if (!started) return;
  const page = new PageView(started);
  exposeForTests(page);
  void joinClass(async () => (await import("./classroom/places.ts")).explorePlace(page));
  if (isPresented) page.presenting.enter();
}
