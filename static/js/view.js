// Wires the page: the state changes, plans are asked for, a frame draws them, and the panels say what they are.
import { createActions } from "./actions.js";
import { createCard, say } from "./card.js";
import { createCompare } from "./compare.js";
import { createControls } from "./controls.js";
import { createDesk } from "./desk.js";
import { byId } from "./dom.js";
import { createDrawer } from "./drawer.js";
import { createFigures } from "./figures.js";
import { createFollow } from "./follow.js";
import { afterPaint, invalidate, onStage } from "./frame.js";
import { createHeads, headText } from "./heads.js";
import { keysPanel } from "./help.js";
import { bindings, listenKeys } from "./keys.js";
import { laneOf } from "./lanes.js";
import { schedulePainted } from "./latency.js";
import { showLaws } from "./law.js";
import { drawLegend } from "./legend.js";
import { readPalette } from "./palette.js";
import { createPlayback } from "./playback.js";
import { listenPointer } from "./pointer.js";
import { createRunView } from "./runview.js";
import { createSelection } from "./selection.js";
import { createStatus } from "./status.js";
import { createTable } from "./table.js";
import { createTheme } from "./theme.js";
import { createTimeline } from "./timeline.js";
import { createTransport } from "./transport.js";
import { createToolbar } from "./toolbar.js";
import { expose } from "./window.js";

/** @import {Family} from "./picker.js" */
/** @import {Store} from "./store.js" */
/** @import {Trace} from "./trace.js" */

/** @param {Store} store @param {Family[]} families */
export function createView(store, families) {
  const desk = createDesk(store, families, onAnswer);
  const controls = createControls(store, desk, families);
  const playback = createPlayback({ lanes: () => timeline.lanes(), total: () => timeline.total(), onChange: onPlayback,
    onMove: (t) => follow.playhead(t) });
  const timeline = createTimeline(store, { playhead: () => playback.at(), selected: () => selection.current(), hovered: onHover });
  const selection = createSelection(store, () => timeline.lanes(), onSelect);
  const follow = createFollow(timeline);
  const runs = createRunView(store, { query: desk.query, changed: () => follow.tail(runs.lane()), status: (word) => toolbar.run(word) });
  const heads = createHeads(timeline.plot);
  const card = createCard(timeline.plot, (id) => laneOf(timeline.lanes(), id));
  const figures = createFigures(desk);
  const table = createTable(() => timeline.lanes(), (id) => desk.family(id === "b" ? store.get().second?.family ?? "" : store.get().spec.family)?.title ?? id);
  const transport = createTransport(playback, () => timeline.total(), (t) => playback.seek(t));
  const compare = createCompare(desk, () => toolbar.toggleCompare());
  const status = createStatus(timeline.plot, () => desk.sync(true), (plan, nearest) => {
    if (plan.error) store.set({ spec: { ...store.get().spec, [plan.error.field]: nearest } }, "replace");
  });
  const acts = createActions(store, timeline, playback, selection, () => drawer.toggle("keys"));
  const keys = bindings(acts);
  const drawer = createDrawer([
    { id: "compare", title: "Compare", panel: compare.panel, opened: () => compare.show(desk.plans()) },
    { id: "run", title: "Run", panel: runs.panel },
    { id: "keys", title: "Keys", panel: keysPanel(keys) },
  ], (tab) => store.setView({ tab }));
  const theme = createTheme((next) => store.setView({ theme: next }), () => { readPalette(); drawLegend(timeline.lanes(), true); timeline.redraw(); });
  const toolbar = createToolbar(store, families, controls, runs, drawer, status);
  let lawTimer = 0;
  /** @type {Trace | null} */
  let said = null;

  function onAnswer() {
    controls.complain();
    status.update(desk.plans());
    invalidate("figures");
  }

  function onPlayback() {
    const at = playback.at();
    if (!playback.playing() && store.get().view.at !== at) store.setView({ at });
    invalidate("overlay", "minimap", "figures");
  }

  /** @param {Trace | null} trace @param {number} x @param {number} y */
  function onHover(trace, x, y) {
    hoverAt = { x, y };
    showCard(trace);
  }
  let hoverAt = { x: 0, y: 0 };

  /** The card follows what is hovered, else what is selected. @param {Trace | null} hovered */
  function showCard(hovered) {
    const trace = hovered ?? selection.current();
    if (!trace) { card.put(null, null); return; }
    const anchor = trace.op ? timeline.box(trace.lane.id, trace.rank, trace.op.i) : { x: hoverAt.x, y: hoverAt.y, w: 1, h: 12 };
    card.put(trace, anchor);
  }

  function onSelect() {
    playback.endIntro();
    showCard(timeline.hover());
    const now = selection.current();
    if (now !== said) say(now);
    said = now;
    invalidate("overlay");
  }

  onStage("plan", () => {
    const lanes = desk.lanes();
    const run = runs.lane();
    if (run) lanes.splice(1, 0, run);
    timeline.show(lanes);
    invalidate("figures");
    if (desk.plans().every((plan) => plan.shown === plan.asked)) schedulePainted();
    afterPaint(settle);
  });

  /** What may wait until the new schedule is on the screen. */
  function settle() {
    timeline.settle();
    showCard(timeline.hover());
    drawLegend(timeline.lanes());
    invalidate("minimap");
    clearTimeout(lawTimer);
    lawTimer = window.setTimeout(() => {
      showLaws(figures.law, desk.plans(), desk);
      compare.show(desk.plans());
      table.refresh();
    }, 50);
  }

  onStage("figures", () => {
    const plans = desk.plans();
    for (const plan of plans) heads.write(plan.id, headText(plan, desk, plans.length > 1));
    const run = runs.head();
    if (run) heads.write("run", run);
    heads.place(timeline.scene().layout);
    figures.show(plans);
    transport.show();
  });

  store.subscribe((state, before) => {
    if (state.spec !== before.spec || state.second !== before.second) {
      playback.endIntro();
      controls.sync();
      desk.sync();
      toolbar.sync();
      invalidate("plan");
    }
    if (state.view === before.view) return;
    if (state.view.theme !== before.view.theme) theme.set(state.view.theme);
    drawer.set(state.view.tab);
    runs.sync();
    if (!playback.playing() && state.view.at !== playback.at()) playback.seek(state.view.at);
    showCard(timeline.hover());
    invalidate("base", "overlay", "minimap", "figures");
  });

  theme.set(store.get().view.theme);
  controls.sync();
  controls.complainOfLink(store.problems);
  toolbar.sync();
  drawer.set(store.get().view.tab);
  desk.sync();
  runs.sync();
  listenPointer(timeline, { select: selection.select, scrub: (t) => playback.seek(t) });
  listenKeys(keys);
  expose({ store, desk, timeline, playback, runs });
  if (store.get().view.at !== null) playback.seek(store.get().view.at);
  else intro();

  /** The first view moves by itself, once, unless the reader prefers stillness or opened a run or a place. */
  function intro() {
    const { run, sel, t0 } = store.get().view;
    if (run || sel || t0 !== null || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const wait = () => (desk.primary.times ? playback.playIntro() : window.setTimeout(wait, 120));
    wait();
  }
  byId("plot").addEventListener("pointerdown", () => playback.endIntro());
}
