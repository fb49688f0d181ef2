// The timeline and its playback alone: what an embed and a stand-alone page show. No panels; nothing goes to the
// address.
import { sameLook, wear } from "./appearance.js";
import { createActions } from "./actions.js";
import { createCard, say } from "../timeline/explain/card.js";
import { byId, h } from "../ui/dom.js";
import { createExplain } from "../timeline/explain/explain_view.js";
import { createFollow } from "../timeline/interact/follow.js";
import { afterPaint, drawNow, invalidate, onStage } from "../ui/frame_loop.js";
import { createHeads, headText } from "../timeline/explain/lane_headings.js";
import { keysPanel } from "./shortcuts_panel.js";
import { bindings, listenKeys } from "./keys.js";
import { schedulePainted } from "../ui/latency.js";
import { drawLegend } from "../timeline/explain/legend.js";
import { readPalette } from "../ui/palette.js";
import { Playback } from "../timeline/interact/playback.js";
import { Pointer } from "../timeline/interact/pointer.js";
import { t } from "../core/i18n/language.js";
import { Selection } from "../timeline/interact/selection.js";
import { createStatus } from "./status.js";
import { createStripsButton } from "../timeline/draw/memory_strips.js";
import { Timeline } from "../timeline/timeline.js";
import { createTools } from "../timeline/interact/tools.js";
import { createTransport } from "../timeline/interact/playback_controls.js";

/** @import {Desk} from "../data/plans.js" */
/** @import {Store} from "../data/store.js" */
/** @import {Trace} from "../timeline/trace.js" */
/** @import {State} from "../core/state/link.js" */

const REST = 90; // ms; legend and minimap wait until a drag rests

export class EmbedView {
  #timer = 0;
  #settled = false;
  #hoverAt = { x: 0, y: 0 };
  /** @type {Trace | null} */
  #said = null;
  runs = { run: null }; // measured runs are for the whole page

  /** @param {Store} store @param {(changed: () => void) => Desk} makeDesk */
  constructor(store, makeDesk) {
    this.store = store;
    this.desk = makeDesk(() => this.#onAnswer());
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
    const { desk, timeline, playback } = this;
    this.selection = new Selection(
      store,
      () => timeline.lanes,
      () => this.#onSelect(),
    );
    this.follow = createFollow(timeline);
    this.status = createStatus(
      timeline.plot,
      () => desk.sync(true),
      (field, value) => store.set({ spec: { ...store.get().spec, [field]: value } }),
    );
    this.heads = createHeads(timeline.plot, () => {});
    this.card = createCard(timeline.plot, () => timeline.lanes);
    this.transport = createTransport(
      playback,
      () => timeline.total(),
      (time, reach) => playback.seekNear(time, reach),
    );
    this.strips = createStripsButton(store, () => timeline.lanes);
    this.tools = createTools(store, timeline, this.selection, playback, (text) => this.status.toast(text));
    this.explain = createExplain(store, timeline, playback, this.selection, (id) => this.#titleOf(id));
    this.#listen();
    this.#stages();
    store.subscribe((state, before) => this.#onState(state, before));
  }

  /** Draw the first view. */
  begin() {
    const { view } = this.store.get();
    const { at } = view;
    wear(view);
    readPalette();
    this.desk.sync();
    if (at !== null) this.playback.seek(at);
    else invalidate("plan");
  }

  /** @param {string} id of a lane group */
  #titleOf(id) {
    const { family } = (this.timeline.lanes.find((lane) => lane.id === id) ?? this.timeline.lanes[0]).spec;
    return this.desk.family(family)?.title ?? family;
  }

  #listen() {
    const { store, timeline, playback, selection, tools } = this;
    new Pointer(timeline, {
      select: (trace) => selection.select(trace),
      selected: () => selection.current(),
      scrub: (time) => playback.seek(time),
      tools,
    });
    const keys = [
      ...bindings(createActions(store, timeline, playback, selection, tools, () => help(keys), this.strips.toggle)),
      ...this.explain.keys(),
    ];
    listenKeys(keys);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#repaint());
  }

  #stages() {
    onStage("plan", () => {
      this.timeline.show(this.desk.lanes());
      invalidate("figures");
      if (this.desk.plans().every((plan) => plan.answered === plan.asked)) schedulePainted();
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#settle(), this.#settled ? REST : 0);
    });
    onStage("figures", () => {
      const plans = this.desk.plans();
      for (const plan of plans)
        this.heads.write(plan.id, { ...headText(plan, this.desk, plans.length > 1), many: false });
      this.heads.place(this.timeline.scene.layout);
      this.transport.show();
      this.explain.show();
    });
  }

  /** What may wait until the schedule is on the screen. */
  #settle() {
    this.#settled = this.timeline.lanes.length > 0;
    this.timeline.settle();
    this.#showCard();
    drawLegend(this.timeline.scene);
    this.strips.sync();
    invalidate("minimap");
  }

  #onAnswer() {
    this.status.update(this.desk.plans());
    invalidate("figures");
  }

  #onPlayback() {
    const { at, playing } = this.playback;
    if (!playing && this.store.get().view.at !== at) this.store.setView({ at });
    invalidate("overlay", "minimap", "figures");
  }

  #showCard() {
    const trace = this.timeline.hover ?? (this.tools.area.current() ? null : this.selection.current());
    const { x, y } = this.#hoverAt;
    this.card.put(trace, trace?.op ? this.timeline.box(trace.lane.id, trace.rank, trace.op.i) : { x, y, w: 1, h: 12 });
  }

  #onSelect() {
    this.#showCard();
    const now = this.selection.current();
    if (now !== this.#said) say(now);
    this.#said = now;
    invalidate("overlay");
  }

  #repaint() {
    readPalette();
    drawLegend(this.timeline.scene, true);
    this.timeline.redraw();
    afterPaint(() => {
      this.timeline.settle();
      invalidate("minimap");
    });
  }

  /** @param {State} state @param {State} before */
  #onState(state, before) {
    if (state.spec !== before.spec || state.others !== before.others) {
      this.desk.sync();
      invalidate("plan");
      drawNow();
    }
    if (state.view === before.view) return;
    if (!sameLook(state.view, before.view)) {
      wear(state.view);
      this.#repaint();
    }
    if (state.view.mem !== before.view.mem) this.strips.sync();
    if (!this.playback.playing && state.view.at !== this.playback.at) this.playback.seek(state.view.at);
    this.#showCard();
    invalidate("base", "overlay", "minimap", "figures");
  }
}

/** All keys, over the timeline. @param {import("./keys.js").Binding[]} keys */
function help(keys) {
  const dialog = h("dialog", { class: "embed-keys", "aria-label": t("All keys"), onclose: () => dialog.remove() });
  dialog.append(
    h("button", { type: "button", class: "button soft", onclick: () => dialog.close() }, t("Close")),
    keysPanel(keys),
  );
  byId("stage").append(dialog);
  dialog.showModal();
}
