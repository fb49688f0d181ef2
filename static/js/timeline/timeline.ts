// The timeline: which window of time is in sight, what is under the pointer; and it draws all that.
import { boxOf, drawAxis, drawGrid, drawRanks, timeAt } from "./draw/axis.ts";
import { begin, resize, surface, zoomOf, type Surface } from "../ui/canvas.ts";
import { byId, h } from "../ui/dom.ts";
import { invalidate, onStage } from "../ui/frame_loop.ts";
import { restSoon } from "../ui/rest.ts";
import { arrange, laneOf, totalTime, type Lane, type Scene } from "../data/lanes.ts";
import { flagged } from "./interact/marks.ts";
import { createMinimap } from "./interact/minimap.ts";
import { drawPlayhead, drawTrace } from "./draw/overlay.ts";
import { messageAt, drawMessages } from "./draw/messages.ts";
import * as measuredOps from "./draw/measured_ops.ts";
import { paintLabelsAhead, paintOps } from "./draw/ops.ts";
import { residualScale } from "../data/matched_plan.ts";
import { preparePyramids } from "../data/orders/binned_orders.ts";
import { colour } from "../ui/palette.ts";
import { fullHeight, paintStrips, stripsShown, writeHeld } from "./draw/memory_strips.ts";
import { hit, scrolled, type Layout } from "../core/timeline/layout.ts";
import { readPins } from "../core/state/marks.ts";
import { clamp, fit, zoomAt, type View } from "../core/timeline/viewport.ts";
import { sameTrace, traceAt, type Trace } from "./trace.ts";
import type { Store } from "../data/store.ts";
import type { Highlights } from "./explain/highlights.ts";

/** Another layer over the ops; busy: there is something to draw. */
type Layer = { busy: () => boolean; draw: (scene: Scene, ctx: CanvasRenderingContext2D, height: number) => void };
type Parts = {
  playhead: () => number | null;
  selected: () => Trace | null;
  hovered: (trace: Trace | null, x: number, y: number) => void;
};

const AROUND = 30; // px that stay between a row brought into sight and the edge
const DEEPEST = 20_000; // the smallest window is this part of the whole

export class Timeline {
  store: Store;
  parts: Parts;
  scene: Scene;
  minimap: ReturnType<typeof createMinimap>;

  plot = byId("plot");
  lanes: Lane[] = [];
  hover: Trace | null = null;
  /** Did the reader move the window? Then nothing else may. */
  moved = false;
  /** From the lowest to the uppermost. */
  layers: Layer[] = [];
  /** What dims the ops on demand, under everything else. */
  highlights: Highlights | null = null;
  #base = surface(h("canvas"), { alpha: false });
  #over = surface(h("canvas", { class: "overlay" }));
  #unseen: Surface | null = null;
  #scroll = 0;
  #pointer: { x: number; y: number } | null = null;
  #stripOld = true;
  #overEmpty = false;
  #size = { width: 0, height: 0, zoom: 1 }; // of the plot

  constructor(store: Store, parts: Parts) {
    this.store = store;
    this.parts = parts;
    this.scene = { layout: arrange([], 1, 1, false), lanes: [], t0: 0, t1: 1, full: 0 };
    this.plot.append(this.#base.node, this.#over.node);
    this.#measure();
    this.minimap = createMinimap(byId("minimap") as HTMLCanvasElement, {
      total: () => this.total(),
      least: () => this.total() / DEEPEST,
      window: () => this.visible(),
      look: (view) => this.look(view),
      centre: (t) => this.centre(t),
    });
    onStage("base", () => this.drawBase());
    onStage("overlay", () => this.drawOver());
    onStage("minimap", () => this.minimap.draw(parts.playhead()));
    new ResizeObserver(() => {
      this.#measure();
      this.redraw();
      this.drawBase(); // at once: a resized canvas is empty until it is drawn
      this.drawOver();
      invalidate("figures");
      restSoon();
    }).observe(this.plot);
  }

  /** Take down the plot's size: reading it while a frame is made would make the browser lay out the page twice. */
  #measure() {
    const { clientWidth: width, clientHeight: height } = this.plot;
    this.#size = { width, height, zoom: zoomOf(this.plot) };
  }

  total() {
    return totalTime(this.lanes);
  }

  /** The window of time in sight. */
  visible(): View {
    const { t0, t1 } = this.store.get().view;
    const total = this.total();
    return t0 === null && t1 === null ? fit(total) : clamp({ t0: t0 ?? 0, t1: t1 ?? total }, total);
  }

  /** Set the window that the reader chose. */
  look(view: View) {
    const all = view.t1 - view.t0 >= this.total() * 0.9999;
    this.moved = true;
    this.store.setView({ t0: all ? null : view.t0, t1: all ? null : view.t1 });
  }

  /** Set a window that the reader did not choose (playback, a live run); the URL stays. */
  follow(view: View) {
    this.store.setView({ t0: view.t0, t1: view.t1 }, "none");
  }

  centre(t: number) {
    const { t0, t1 } = this.visible();
    const half = (t1 - t0) / 2;
    this.look(clamp({ t0: t - half, t1: t + half }, this.total()));
  }

  /** t: where; under the pointer if it is there, else in the middle. */
  zoom(factor: number, t?: number) {
    const view = this.visible();
    const under =
      this.#pointer && this.#pointer.x >= this.scene.layout.plotLeft ? timeAt(this.scene, this.#pointer.x) : null;
    this.look(zoomAt(view, t ?? under ?? (view.t0 + view.t1) / 2, factor, this.total(), this.total() / DEEPEST));
  }

  /** What is at a place of the plot? */
  probe(x: number, y: number): Trace | null {
    const found = hit(this.scene.layout, x, y);
    if (!found || !found.inPlot || y < this.scene.layout.axisHeight) return null;
    const lane = laneOf(this.lanes, found.group);
    if (lane && found.part === "comm") return messageAt(this.scene, lane, found.rank, x, y);
    return lane && traceAt(lane, found.rank, timeAt(this.scene, x), found.part);
  }

  /** The pointer is here now. */
  point(at: { x: number; y: number } | null) {
    this.#pointer = at;
    const next = at && this.probe(at.x, at.y);
    if (sameTrace(next, this.hover)) return;
    this.hover = next;
    this.parts.hovered(next, at?.x ?? 0, at?.y ?? 0);
    invalidate("overlay");
  }

  /** The keyboard took over: the reader does not look at what is under a resting pointer. */
  unhover() {
    if (!this.hover) return;
    this.hover = null;
    this.parts.hovered(null, 0, 0);
    invalidate("overlay");
  }

  /** Everything, because ops, costs, sizes or colours changed. */
  redraw() {
    this.#stripOld = true;
    invalidate("base", "overlay"); // the minimap follows at rest
  }

  show(lanes: Lane[]) {
    this.lanes = lanes;
    this.redraw();
  }

  /** What may wait until the ops are on the screen: the strip below, and what is under the pointer now. */
  settle() {
    if (this.#stripOld && this.lanes.length) this.minimap.drawOps(this.scene);
    preparePyramids(this.lanes);
    this.#stripOld = false;
    if (this.#pointer) this.point(this.#pointer);
  }

  scrollBy(dy: number) {
    this.#scroll += dy;
    invalidate("base", "overlay", "figures");
  }

  /** Scroll so that a rank is in sight, if it is not. */
  showRank(lane: string, rank: number) {
    if (!this.scrolls()) return;
    const layout = this.#arrange();
    const group = layout.groups.find((each) => each.id === lane);
    const at = group ? group.rows.findIndex((each) => each.rank === rank) : -1;
    if (!group || at < group.pinned) return; // a pinned rank stays in sight with its group
    const row = group.rows[at];
    const head = layout.axisHeight + group.rows[Math.min(group.pinned, group.rows.length - 1)].stripY - group.top;
    const least = row.commY + row.commH - this.#size.height + AROUND;
    this.scrollBy(Math.max(least, Math.min(this.#scroll, row.stripY - head - AROUND)) - this.#scroll);
  }

  /** Rows as they stand before any scrolling. */
  #arrange(lanes: Lane[] = this.lanes) {
    const { mem, pin, lane, planned } = this.store.get().view;
    return arrange(
      lanes,
      this.#size.width,
      this.#size.height,
      stripsShown(mem, lanes, this.#size.height),
      lane === "comm",
      readPins(pin) ?? {},
      planned !== null,
    );
  }

  /** Are there more rows than fit? */
  scrolls() {
    return this.scene.layout.contentHeight > this.#size.height;
  }

  box(lane: string, rank: number, i: number) {
    return boxOf(this.scene, lane, rank, i);
  }

  drawBase() {
    const { height } = this.#size;
    const layout = this.#arrange();
    this.plot.classList.toggle("scrolls", layout.contentHeight > height);
    this.#scroll = Math.max(0, Math.min(this.#scroll, layout.contentHeight - height));
    this.scene = this.#sceneOf(this.lanes, scrolled(layout, this.#scroll), this.visible());
    this.#paint(this.#base, this.scene);
  }

  /** Draw lanes off the screen, whole and as they would be in the plot: what has been drawn once is drawn sooner. */
  rehearse(lanes: Lane[]) {
    const unseen = (this.#unseen ??= surface(h("canvas"), { alpha: false }));
    this.#paint(unseen, this.#sceneOf(lanes, this.#arrange(lanes), fit(totalTime(lanes))));
  }

  /** window: of time. */
  #sceneOf(lanes: Lane[], layout: Layout, { t0, t1 }: View): Scene {
    const { mem, late } = this.store.get().view;
    return {
      layout,
      lanes,
      t0,
      t1,
      full: stripsShown(mem, lanes, this.#size.height) ? fullHeight(lanes) : 0,
      late: late ? residualScale(lanes) : 0,
    };
  }

  #paint(on: Surface, scene: Scene) {
    const { width, height, zoom } = this.#size;
    resize(on, width, height, zoom);
    const ctx = begin(on, colour("surface"));
    drawGrid(scene, ctx, height);
    paintStrips(scene, ctx, on.dpr, height);
    paintOps(scene, ctx, on.dpr, measuredOps);
    drawMessages(scene, ctx, height);
    drawRanks(scene, ctx);
    drawAxis(scene, ctx, width, flagged(scene, ctx, this.store.get().view.marks));
  }

  drawOver() {
    const over = this.#over;
    const head = this.parts.playhead();
    const selected = this.parts.selected();
    const empty =
      head === null &&
      !selected &&
      !this.hover &&
      !this.highlights?.active() &&
      !this.layers.some((layer) => layer.busy());
    // a canvas not touched is not sent again
    if (!resize(over, this.#base.width, this.#base.height, this.#size.zoom) && empty && this.#overEmpty) return;
    this.#overEmpty = empty;
    const ctx = begin(over);
    this.highlights?.draw(this.scene, ctx, over.width, over.height);
    drawPlayhead(this.scene, ctx, head, over.height);
    if (head !== null && head < this.scene.t1) paintLabelsAhead(this.scene, ctx, this.#base.dpr, head);
    writeHeld(this.scene, ctx, head);
    if (selected) drawTrace(this.scene, ctx, selected, true);
    if (this.hover && !sameTrace(this.hover, selected)) drawTrace(this.scene, ctx, this.hover, false);
    for (const layer of this.layers) if (layer.busy()) layer.draw(this.scene, ctx, over.height);
  }
}
