// The timeline with its playback, selection, tools and explanations, wired together: the part that the page, an embed
// and a stand-alone file have in common.
import { createActions } from "./actions.ts";
import { bindings } from "./shortcuts.ts";
import { createStatus } from "./status.ts";
import { laneOf, type Lane } from "../data/lanes.ts";
import { idleBox } from "../timeline/draw/overlay.ts";
import { createStripsButton } from "../timeline/draw/memory_strips.ts";
import { createCard, say as announceTrace } from "../timeline/explain/card.ts";
import { createExplain } from "../timeline/explain/explain_view.ts";
import { createHeads, headText } from "../timeline/explain/lane_headings.ts";
import { drawLegend } from "../timeline/explain/legend.ts";
import { createFollow } from "../timeline/interact/follow.ts";
import { Playback } from "../timeline/interact/playback.ts";
import { createTransport } from "../timeline/interact/playback_controls.ts";
import { Pointer } from "../timeline/interact/pointer.ts";
import { reveal } from "../timeline/interact/reveal.ts";
import { Selection } from "../timeline/interact/selection.ts";
import { createTools } from "../timeline/interact/tools.ts";
import { Timeline } from "../timeline/timeline.ts";
import { applyAppearance, onRecolour, sameAppearance } from "../ui/appearance.ts";
import { afterPaint, drawNow, invalidate, onStage } from "../ui/frame_loop.ts";
import { schedulePainted } from "../ui/latency.ts";
import { onRest, restSoon } from "../ui/rest.ts";
import { IDS, specAt } from "../core/state/schedules.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";
import type { Trace } from "../timeline/trace.ts";
import type { State } from "../core/state/link.ts";

type Heading = ReturnType<typeof headText>;
type Hooks = {
  showShortcuts: () => void;
  arrange?: (planned: Lane[]) => Lane[]; // all lane groups, with those of measured runs
  measured?: () => (Omit<Heading, "many"> & { id: string; many?: boolean })[]; // headings of measured lanes
  measuredTitle?: (id: string) => string;
  remove?: (id: string) => void; // takes a lane group off the screen; none: lane groups stay
};

const LEGEND_REST = 90; // ms; while a reader zooms, the legend waits

export class TimelineView {
  store: Store;
  plans: Plans;
  hooks: Hooks;
  playback: Playback;
  timeline: Timeline;
  selection: Selection;
  follow: ReturnType<typeof createFollow>;
  status: ReturnType<typeof createStatus>;
  headings: ReturnType<typeof createHeads>;
  card: ReturnType<typeof createCard>;
  transport: ReturnType<typeof createTransport>;
  strips: ReturnType<typeof createStripsButton>;
  tools: ReturnType<typeof createTools>;
  explain: ReturnType<typeof createExplain>;

  #legendTimer = 0;
  #drawn = false; // whether a schedule has been drawn
  #onceDrawn: (() => void)[] = [];
  #hoverAt = { x: 0, y: 0 };
  #announced: Trace | null = null;

  constructor(store: Store, plans: Plans, hooks: Hooks) {
    this.store = store;
    this.plans = plans;
    this.hooks = hooks;
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
    const { timeline, playback } = this;
    const lanes = () => timeline.lanes;
    this.selection = new Selection(store, lanes, () => this.#onSelect());
    this.follow = createFollow(timeline);
    this.status = createStatus(store, plans, timeline.plot);
    this.headings = createHeads(timeline.plot, (id) => hooks.remove?.(id));
    this.card = createCard(timeline.plot, lanes);
    this.transport = createTransport(
      playback,
      () => timeline.total(),
      (time, reach) => playback.seekNear(time, reach),
    );
    this.strips = createStripsButton(store, lanes);
    this.tools = createTools(store, timeline, this.selection, playback, (text) => this.status.toast(text));
    this.explain = createExplain(store, timeline, playback, this.selection, (id) => this.titleOf(id));
    plans.drawAhead = (ahead) => timeline.rehearse(ahead);
    this.#listen();
  }

  #listen() {
    const { store, timeline, playback, selection, tools } = this;
    new Pointer(timeline, {
      select: (trace) => selection.select(trace),
      selected: () => selection.current(),
      scrub: (time) => playback.seek(time),
      tools,
    });
    timeline.plot.addEventListener("pointerdown", () => playback.endIntro());
    onStage("plan", () => this.#arrange());
    onStage("figures", () => this.#write());
    onRest(() => this.#settle());
    onRecolour(() => this.#recolour());
    this.plans.onAnswer(() => invalidate("figures"));
    store.subscribe((state, before) => this.#onState(state, before));
  }

  /** Draw the view of the link. */
  begin() {
    const { view } = this.store.get();
    applyAppearance(view);
    this.plans.sync();
    if (view.at === null) invalidate("plan");
    else this.playback.seek(view.at);
  }

  /** The keys of the timeline and of what it explains. */
  keys() {
    const { store, timeline, playback, selection, tools, strips, hooks } = this;
    return [
      ...bindings(createActions(store, timeline, playback, selection, tools, hooks.showShortcuts, strips.toggle)),
      ...this.explain.keys(),
    ];
  }

  /** Call a task when the first schedule is drawn. */
  onceDrawn(task: () => void) {
    this.#onceDrawn.push(task);
  }

  /** Select an op and scroll to it. */
  goTo(lane: Lane, i: number) {
    this.selection.choose(lane, i);
    reveal(this.timeline, this.selection.current());
  }

  /** id: of a lane group. */
  titleOf(id: string) {
    if (laneOf(this.timeline.lanes, id)?.kind === "run" && this.hooks.measuredTitle)
      return this.hooks.measuredTitle(id);
    const state = this.store.get();
    const { family } = specAt(state, Math.max(0, IDS.indexOf(id as any))) ?? state.spec;
    return this.plans.family(family)?.title ?? family;
  }

  #arrange() {
    const planned = this.plans.lanes();
    this.timeline.show(this.hooks.arrange?.(planned) ?? planned);
    invalidate("figures");
    if (this.plans.onScreen().every((plan) => plan.answered === plan.asked)) schedulePainted();
    if (this.#drawn) restSoon();
    else restSoon(0); // the first schedule waits for nothing
    if (!this.plans.first.times) return;
    for (const task of this.#onceDrawn.splice(0)) task();
  }

  #write() {
    const plans = this.plans.onScreen();
    const several = plans.length > 1;
    for (const plan of plans) {
      const heading = headText(plan, this.plans, several);
      this.headings.write(plan.id, { ...heading, many: heading.many && this.hooks.remove !== undefined });
    }
    for (const heading of this.hooks.measured?.() ?? []) this.headings.write(heading.id, heading);
    this.headings.place(this.timeline.scene.layout);
    this.transport.show();
    this.explain.show();
  }

  #settle() {
    this.#drawn = this.timeline.lanes.length > 0;
    this.timeline.settle();
    this.#showCard();
    drawLegend(this.timeline.scene);
    this.strips.sync();
    invalidate("minimap");
  }

  #recolour() {
    drawLegend(this.timeline.scene, true);
    this.timeline.redraw();
    afterPaint(() => {
      this.timeline.settle();
      invalidate("minimap");
    });
  }

  #onPlayback() {
    const { at, playing } = this.playback;
    if (!playing && this.store.get().view.at !== at) this.store.setView({ at });
    invalidate("overlay", "minimap", "figures");
  }

  /** Show the card of the op under the pointer, else of the selected one; an area has a panel of its own. */
  #showCard() {
    const trace = this.timeline.hover ?? (this.tools.area.current() ? null : this.selection.current());
    const { x, y } = this.#hoverAt;
    if (trace?.op) this.card.put(trace, this.timeline.box(trace.lane.id, trace.rank, trace.op.i));
    else if (trace?.idle && trace !== this.timeline.hover) this.card.put(trace, idleBox(this.timeline.scene, trace));
    else this.card.put(trace, { x, y, w: 1, h: 12 });
  }

  #onSelect() {
    this.playback.endIntro();
    this.#showCard();
    const trace = this.selection.current();
    if (trace !== this.#announced) announceTrace(trace);
    this.#announced = trace;
    invalidate("overlay");
  }

  /** Some lines are drawn only where they have room, and the legend names only those. */
  #drawLegendSoon() {
    clearTimeout(this.#legendTimer);
    this.#legendTimer = window.setTimeout(() => drawLegend(this.timeline.scene), LEGEND_REST);
  }

  #onState(state: State, before: State) {
    if (state.spec !== before.spec || state.others !== before.others) {
      this.playback.endIntro();
      this.plans.sync();
      invalidate("plan");
      drawNow();
    }
    const { view } = state;
    if (view === before.view) return;
    this.tools.find.sync();
    if (!sameAppearance(view, before.view)) applyAppearance(view);
    if (view.mem !== before.view.mem) {
      this.strips.sync();
      restSoon();
    }
    if (view.t0 !== before.view.t0 || view.t1 !== before.view.t1) this.#drawLegendSoon();
    if (!this.playback.playing && view.at !== this.playback.at) this.playback.seek(view.at);
    this.#showCard();
    invalidate("base", "overlay", "minimap", "figures");
  }
}
