// Wires the page: the state changes, plans are asked for, a frame draws them, and the panels say what they are.
import { createActions } from "./actions.js";
import { createAppearance, sameLook } from "./appearance.js";
import { createBlock } from "../panels/block/block.js";
import { createCard, say } from "../timeline/explain/card.js";
import { createCharts } from "../panels/charts/charts.js";
import { createCompare } from "../panels/compare/compare.js";
import { Controls } from "../panels/controls/controls.js";
import { createCostsView } from "../panels/costs/costs_view.js";
import { Desk } from "../data/plans.js";
import { byId } from "../ui/dom.js";
import { createDrawer } from "./drawer.js";
import { createExplain } from "../timeline/explain/explain_view.js";
import { ExportPanel } from "../panels/export/export_panel.js";
import { createFigures } from "../panels/figures/figures.js";
import { createFollow } from "../timeline/interact/follow.js";
import { afterPaint, drawNow, invalidate, onStage } from "../ui/frame_loop.js";
import { createHeads, headText } from "../timeline/explain/lane_headings.js";
import { keysPanel } from "./shortcuts_panel.js";
import { createImport } from "../panels/import/import_dialog.js";
import { bindings, listenKeys } from "./keys.js";
import { RUN_LANE_IDS, laneOf } from "../data/lanes.js";
import { schedulePainted } from "../ui/latency.js";
import { showLaws } from "../panels/figures/law.js";
import { drawLegend } from "../timeline/explain/legend.js";
import { readPalette } from "../ui/palette.js";
import { withoutLane } from "../core/state/lane_ids.js";
import { t } from "../core/i18n/language.js";
import { IDS, dropAt, specAt } from "../core/state/schedules.js";
import { inPairs } from "../data/matched_plan.js";
import { Playback } from "../timeline/interact/playback.js";
import { Pointer } from "../timeline/interact/pointer.js";
import { createPrint } from "../panels/export/print.js";
import { reveal } from "../timeline/interact/reveal.js";
import { RunView } from "../panels/runs/run_view.js";
import { Search } from "../panels/controls/search.js";
import { Selection } from "../timeline/interact/selection.js";
import { createShare } from "../panels/share/share.js";
import { createStatus } from "./status.js";
import { createStripsButton } from "../timeline/draw/memory_strips.js";
import { createTable } from "../timeline/table.js";
import { Timeline } from "../timeline/timeline.js";
import { createTools } from "../timeline/interact/tools.js";
import { createToolbar } from "./toolbar.js";
import { createTransport } from "../timeline/interact/playback_controls.js";

/** @import {Lane} from "../data/lanes.js" */
/** @import {Family} from "../panels/controls/family_picker.js" */
/** @import {Store} from "../data/store.js" */
/** @import {Trace} from "../timeline/trace.js" */
/** @import {State} from "../core/state/link.js" */

const LONGEST_REST = 300;
const REST = 90; // ms; what is small or slow waits until a drag rests: strip, legend, formulas, tables

export class View {
  #timer = 0;
  #legendTimer = 0;
  #waitingSince = 0;
  #settled = false; // once: the first schedule waits for nothing
  #hoverAt = { x: 0, y: 0 };
  /** @type {Trace | null} */
  #said = null;

  /** @param {Store} store @param {Family[]} families */
  constructor(store, families) {
    this.store = store;
    this.desk = new Desk(store, families, () => this.#onAnswer());
    this.controls = new Controls(store, this.desk, families, (at) => this.bring(at));
    this.costs = createCostsView(
      store,
      families,
      () => this.desk.first,
      () => this.drawer.toggle("costs"),
    );
    byId("controls").append(this.costs.node);
    this.playback = new Playback({
      lanes: () => this.timeline.lanes,
      total: () => this.timeline.total(),
      onChange: () => this.#onPlayback(),
      onMove: (time) => this.follow.playhead(time),
    });
    this.timeline = new Timeline(store, {
      playhead: () => this.playback.at,
      selected: () => this.selection.current(),
      hovered: (_trace, x, y) => {
        this.#hoverAt = { x, y };
        this.#showCard();
      },
    });
    this.selection = new Selection(
      store,
      () => this.timeline.lanes,
      () => this.#onSelect(),
    );
    this.follow = createFollow(this.timeline);
    this.runs = new RunView(store, {
      query: (spec) => this.desk.query(spec),
      asynchronous: (spec) => this.desk.family(spec.family)?.asynchronous ?? false,
      title: (spec) => this.desk.family(spec.family)?.title ?? spec.family,
      changed: () => this.follow.tail(this.runs.lanes.find((lane) => lane.live) ?? null),
      status: (word) => this.toolbar.run(word),
      started: () => this.playback.seek(null),
      lanes: () => this.timeline.lanes,
      go: (lane, i) => this.#goTo(lane, i),
    });
    this.status = createStatus(
      this.timeline.plot,
      () => this.desk.sync(true),
      (field, value) => {
        store.set({ spec: { ...store.get().spec, [field]: value } }, "replace");
      },
    );
    const { desk, timeline, playback, selection } = this;
    this.heads = createHeads(timeline.plot, (id) => this.#drop(id));
    this.card = createCard(timeline.plot, () => timeline.lanes);
    this.search = new Search(store, desk);
    this.figures = createFigures(desk, this.search.node);
    this.table = createTable(
      () => timeline.lanes,
      (id) => this.#titleOf(id),
      () => timeline.visible(),
      () => this.tools.pins.current(),
    );
    this.transport = createTransport(
      playback,
      () => timeline.total(),
      (time, reach) => playback.seekNear(time, reach),
    );
    this.strips = createStripsButton(store, () => timeline.lanes);
    this.explain = createExplain(store, timeline, playback, selection, (id) => this.#titleOf(id));
    this.compare = createCompare(desk, {
      add: () => this.toolbar.addPlan(),
      bring: () => this.bring(),
      measured: () => this.runs.measured(),
      runAll: () => this.runs.startAll(),
    });
    this.block = createBlock(desk);
    this.tools = createTools(store, timeline, selection, playback, (text) => this.status.toast(text));
    this.export = new ExportPanel(desk, timeline, () => byId("share").click());
    this.charts = createCharts(desk);
    this.keys = [
      ...bindings(
        createActions(
          store,
          timeline,
          playback,
          selection,
          this.tools,
          () => this.drawer.toggle("keys"),
          this.strips.toggle,
        ),
      ),
      ...this.explain.keys(),
      ...this.runs.showing.keys(),
    ];
    this.bring = createImport({ desk, addRun: (id) => this.runs.adding(id), said: (text) => this.status.toast(text) });
    this.drawer = createDrawer(
      [
        {
          id: "compare",
          title: t("Compare"),
          panel: this.compare.panel,
          opened: () => this.compare.show(desk.plans()),
        },
        { id: "charts", title: t("Charts"), panel: this.charts.panel, opened: () => this.charts.show() },
        { id: "block", title: t("Block"), panel: this.block.panel, opened: () => this.block.show() },
        { id: "costs", title: t("Costs"), panel: this.costs.panel, opened: () => this.costs.rest() },
        { id: "run", title: t("Run"), panel: this.runs.panel, opened: () => this.runs.opened() },
        { id: "export", title: t("Export"), panel: this.export.panel, opened: () => this.export.show() },
        { id: "keys", title: t("Keys"), panel: keysPanel(this.keys) },
      ],
      (tab) => store.setView({ tab }),
    );
    this.appearance = createAppearance(store, () => this.#onColours());
    this.toolbar = createToolbar(store, families, this.controls, this.runs, this.drawer);
    createShare(store);
    createPrint(desk, timeline);
    this.#stages();
    store.subscribe((state, before) => this.#onState(state, before));
    this.#listen();
    this.#begin();
  }

  #listen() {
    const { timeline, playback, selection } = this;
    new Pointer(timeline, {
      select: (trace) => selection.select(trace),
      selected: () => selection.current(),
      scrub: (time) => playback.seek(time),
      tools: this.tools,
    });
    timeline.plot.addEventListener("pointerdown", () => playback.endIntro());
    listenKeys(this.keys);
  }

  #onColours() {
    readPalette();
    drawLegend(this.timeline.scene, true);
    this.timeline.redraw();
    this.block.redraw();
    this.charts.show();
    afterPaint(() => {
      this.timeline.settle();
      invalidate("minimap");
    });
  }

  #stages() {
    onStage("plan", () => {
      const lanes = inPairs(this.desk.lanes(), this.runs.lanes);
      const stage = byId("stage");
      // many want more height on a phone
      if (stage.dataset.lanes !== String(lanes.length)) stage.dataset.lanes = String(lanes.length);
      this.timeline.show(lanes);
      invalidate("figures");
      if (this.desk.plans().every((plan) => plan.answered === plan.asked)) schedulePainted();
      this.#rest();
    });
    onStage("figures", () => {
      const plans = this.desk.plans();
      for (const plan of plans) this.heads.write(plan.id, headText(plan, this.desk, plans.length > 1));
      for (const run of this.runs.heads()) this.heads.write(run.id, run);
      this.heads.place(this.timeline.scene.layout);
      this.figures.show(plans, (id) => this.runs.peak(id));
      this.search.show();
      this.transport.show();
      this.charts.playhead(this.playback.at);
      this.explain.show();
    });
  }

  /** Settle when the drag rests, or after a while of it never resting (a live run). */
  #rest() {
    const now = performance.now();
    if (!this.#timer) this.#waitingSince = now;
    else if (now - this.#waitingSince > LONGEST_REST) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#settle(), this.#settled ? REST : 0);
  }

  /** Some lines are drawn only where they have room, and the legend says so. */
  #legendSoon() {
    clearTimeout(this.#legendTimer);
    this.#legendTimer = window.setTimeout(() => drawLegend(this.timeline.scene), REST);
  }

  /** What may wait until the new schedule is on the screen. */
  #settle() {
    this.#timer = 0;
    const first = !this.#settled;
    this.#settled = this.timeline.lanes.length > 0;
    if (first && this.#settled && this.store.problems.length && !byId("controls").hasAttribute("open")) {
      this.status.toast(t("Part of this link could not be read; what, stands under Schedule and costs."), 6000);
    }
    this.timeline.settle();
    this.#showCard();
    drawLegend(this.timeline.scene);
    this.strips.sync();
    invalidate("minimap");
    showLaws(this.figures.law, this.desk.plans(), this.desk);
    this.compare.show(this.desk.plans());
    this.runs.settled();
    this.export.show();
    this.costs.rest();
    this.table.refresh();
  }

  /** @param {string} id of a lane group */
  #titleOf(id) {
    const state = this.store.get();
    const { family } = specAt(state, Math.max(0, IDS.indexOf(/** @type {any} */ (id)))) ?? state.spec;
    const title = this.desk.family(family)?.title ?? family;
    return laneOf(this.timeline.lanes, id)?.kind === "run" ? this.runs.titleOf(id) : title;
  }

  /** To an op from elsewhere on the page. @param {Lane} lane @param {number} i */
  #goTo(lane, i) {
    this.selection.choose(lane, i);
    reveal(this.timeline, this.selection.current());
  }

  /** Take a lane group off the screen; what the link says of lanes follows. @param {string} id */
  #drop(id) {
    const { store } = this;
    if (laneOf(this.timeline.lanes, id)?.kind === "plan")
      return store.set(dropAt(store.get(), IDS.indexOf(/** @type {any} */ (id))), "push");
    store.setView(withoutLane(store.get().view, RUN_LANE_IDS, id), "none"); // one step of the history with the next
    this.runs.drop(id);
  }

  #onAnswer() {
    this.controls.complain();
    this.status.update(this.desk.plans());
    invalidate("figures");
  }

  #onPlayback() {
    const { at, playing } = this.playback;
    if (!playing && this.store.get().view.at !== at) this.store.setView({ at });
    invalidate("overlay", "minimap", "figures");
  }

  /** The card stands by what is hovered, else by what is selected. */
  #showCard() {
    // an area has its own panel
    const trace = this.timeline.hover ?? (this.tools.area.current() ? null : this.selection.current());
    const { x, y } = this.#hoverAt;
    const anchor = trace?.op ? this.timeline.box(trace.lane.id, trace.rank, trace.op.i) : { x, y, w: 1, h: 12 };
    this.card.put(trace, anchor);
  }

  #onSelect() {
    this.playback.endIntro();
    this.#showCard();
    const now = this.selection.current();
    if (now !== this.#said) say(now);
    this.#said = now;
    invalidate("overlay");
  }

  /** @param {State} state @param {State} before */
  #onState(state, before) {
    if (state.spec !== before.spec || state.others !== before.others) {
      this.playback.endIntro();
      this.controls.sync();
      this.desk.sync();
      this.toolbar.sync();
      invalidate("plan");
      drawNow();
    }
    if (state.view === before.view) return;
    this.table.refresh();
    this.tools.find.sync();
    if (!sameLook(state.view, before.view)) this.appearance.set(state.view);
    if (state.view.mem !== before.view.mem) {
      this.strips.sync();
      this.#rest();
    }
    if (state.view.t0 !== before.view.t0 || state.view.t1 !== before.view.t1) this.#legendSoon();
    this.drawer.set(state.view.tab);
    this.runs.sync();
    if (!this.playback.playing && state.view.at !== this.playback.at) this.playback.seek(state.view.at);
    this.#showCard();
    invalidate("base", "overlay", "minimap", "figures");
  }

  #begin() {
    if (matchMedia("(max-width: 899px)").matches) byId("controls").removeAttribute("open");
    const { view } = this.store.get();
    const { at, tab } = view;
    this.appearance.set(view);
    this.controls.sync();
    this.controls.complainOfLink(this.store.problems);
    this.toolbar.sync();
    this.drawer.set(tab);
    this.desk.sync();
    this.runs.sync();
    if (at === null) this.#intro();
    else this.playback.seek(at);
  }

  /** The first view moves by itself, once, unless the reader prefers stillness or came for a place or a run. */
  #intro() {
    const { run, sel, t0 } = this.store.get().view;
    if (run || sel || t0 !== null || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const whenDrawn = () => {
      if (this.desk.first.times) this.playback.playIntro();
      else window.setTimeout(whenDrawn, 120);
    };
    whenDrawn();
  }
}
