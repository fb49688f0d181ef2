// Mouse, pen and touch on the timeline: hover, click selects, drag pans, shift-drag or a long press selects an area,
// drag on an area's edge resizes it, drag on the axis scrubs, pinch and Ctrl+wheel zoom, a click on a rank's number
// pins it.
import { timeAt } from "../draw/axis.ts";
import { laneOf } from "../../data/lanes.ts";
import { hit } from "../../core/timeline/layout.ts";
import { placeIn } from "../../ui/canvas.ts";
import { t } from "../../core/i18n/language.ts";
import type { Edge } from "./area.ts";
import type { Timeline } from "../timeline.ts";
import type { Tools } from "./tools.ts";
import type { Trace } from "../trace.ts";

type Acts = {
  select: (trace: Trace | null) => void;
  selected: () => Trace | null;
  scrub: (t: number) => void;
  tools: Tools;
};
type Point = { x: number; y: number };
/** What a press is for. */
type Use = "axis" | "gutter" | "pan" | "area" | "resize";
type Press = Point & {
  use: Use;
  edge: Edge | null;
  t0: number;
  t1: number;
  scrolled: number;
  far: boolean;
  before: string | null;
};

const CLICK = 4; // px a press may wander and still be a click
const WOBBLE = 9; // the same for a finger
const NEAREST = 20; // px between two fingers that still count as apart
const EDGE = 5; // px beside an edge that still take hold of it
const EDGE_TOUCH = 16;
const LONG = 450; // ms that a finger rests for a long press

export class Pointer {
  timeline: Timeline;
  acts: Acts;

  #down = new Map<number, Point>();
  #press: Press | null = null;
  #pinch: { gap: number; t: number; span: number } | null = null;
  #timer = 0;

  constructor(timeline: Timeline, acts: Acts) {
    this.timeline = timeline;
    this.acts = acts;
    const { plot } = timeline;
    plot.addEventListener("pointerdown", (event) => this.#start(event));
    plot.addEventListener("pointermove", (event) => this.#move(event));
    plot.addEventListener("pointerup", (event) => this.#end(event));
    plot.addEventListener("pointercancel", (event) => this.#end(event));
    plot.addEventListener("pointerleave", () => {
      if (!this.#down.size) timeline.point(null);
    });
    plot.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    // A finger that drags an area, or an edge, must not scroll the page as well; the browser asks at each of its moves.
    plot.addEventListener(
      "touchmove",
      (event) => {
        if (this.#press && this.#press.use !== "pan") event.preventDefault();
      },
      { passive: false },
    );
    plot.addEventListener("contextmenu", (event) => {
      if (this.#press) event.preventDefault();
    });
    document.addEventListener(
      "keydown",
      (event) => {
        if (event.key === "Escape" && this.cancel()) event.stopImmediatePropagation();
      },
      { capture: true },
    );
    for (const type of ["keydown", "keyup"] as const) {
      document.addEventListener(type, (event) => {
        if (event.key === "Shift") plot.classList.toggle("aim", type === "keydown");
      });
    }
  }

  /** Give up what is being dragged; true where something was. */
  cancel() {
    const press = this.#press;
    if (!press || (press.use !== "area" && press.use !== "resize")) return false;
    this.timeline.store.setView({ area: press.before });
    this.acts.tools.area.end();
    this.#press = null;
    return true;
  }

  #place(event: MouseEvent): Point {
    return placeIn(this.timeline.plot, event);
  }

  /** A window of this span that begins near t0. */
  #look(t0: number, span: number) {
    const from = Math.max(0, Math.min(t0, this.timeline.total() - span));
    this.timeline.look({ t0: from, t1: from + span });
  }

  #start(event: PointerEvent) {
    if (event.button !== 0 || isTool(event.target)) return;
    const { timeline } = this;
    const at = this.#place(event);
    this.#down.set(event.pointerId, at);
    timeline.plot.setPointerCapture(event.pointerId);
    clearTimeout(this.#timer);
    if (this.#down.size === 2) {
      if (this.cancel()) this.#press = null;
      const [a, b] = [...this.#down.values()];
      const { t0, t1 } = timeline.visible();
      this.#pinch = {
        gap: Math.max(NEAREST, Math.abs(a.x - b.x)),
        t: timeAt(timeline.scene, (a.x + b.x) / 2),
        span: t1 - t0,
      };
      this.#press = null;
      return;
    }
    const press = this.#pressAt(event, at);
    this.#press = press;
    if (press.use === "axis") this.#scrub(event, at);
    if (press.use !== "pan") timeline.unhover();
    if (press.use === "area") this.acts.tools.area.begin(at, event);
    if (event.pointerType === "touch" && press.use === "pan")
      this.#timer = window.setTimeout(() => this.#long(event, at), LONG);
  }

  /** What a press here is for. */
  #pressAt(event: PointerEvent, at: Point): Press {
    const { timeline } = this;
    const { layout } = timeline.scene;
    const edge = this.acts.tools.area.edgeAt(at, event.pointerType === "touch" ? EDGE_TOUCH : EDGE);
    let use: Use = "pan";
    if (at.y < layout.axisHeight && at.x >= layout.plotLeft) use = "axis";
    else if (edge) use = "resize";
    else if (at.x < layout.plotLeft) use = "gutter";
    else if (event.shiftKey) use = "area";
    return { ...at, use, edge, ...timeline.visible(), scrolled: 0, far: false, before: timeline.store.get().view.area };
  }

  #long(event: PointerEvent, at: Point) {
    const press = this.#press;
    if (!press || press.far || this.#down.size !== 1) return;
    press.use = "area";
    press.far = true;
    this.acts.tools.area.beginWith(this.timeline.probe(at.x, at.y), at, event);
  }

  #scrub(event: PointerEvent, at: Point) {
    this.acts.scrub(this.acts.tools.snap.at(timeAt(this.timeline.scene, at.x), event));
  }

  #move(event: PointerEvent) {
    const at = this.#place(event);
    if (!this.#down.has(event.pointerId)) {
      if (isTool(event.target)) this.timeline.point(null);
      else this.#hover(event, at);
      return;
    }
    this.#down.set(event.pointerId, at);
    if (this.#pinch && this.#down.size === 2) this.#movePinch(this.#pinch);
    else if (this.#press) this.#movePress(this.#press, event, at);
  }

  /** Set the cursor to what a press would do. */
  #hover(event: PointerEvent, at: Point) {
    const { plot, scene } = this.timeline;
    const edge = this.acts.tools.area.edgeAt(at, EDGE);
    const row = at.x < scene.layout.plotLeft ? hit(scene.layout, at.x, at.y) : null;
    plot.classList.toggle("aim", event.shiftKey);
    plot.classList.toggle("edge-x", edge === "t0" || edge === "t1");
    plot.classList.toggle("edge-y", edge === "top" || edge === "foot");
    plot.classList.toggle("over-rank", row !== null);
    const pin = !row
      ? ""
      : this.acts.tools.pins.has(row.group, row.rank)
        ? t("Unpin rank {rank}", { rank: row.rank })
        : t("Pin rank {rank} on top", { rank: row.rank });
    const host = row ? laneOf(this.timeline.lanes, row.group)?.hosts?.[row.rank] : "";
    const title = host && row ? `${t("Rank {rank} on {host}", { rank: row.rank, host })} · ${pin}` : pin;
    if (plot.title !== title) plot.title = title;
    this.timeline.point(at);
  }

  #movePinch(pinch: { gap: number; t: number; span: number }) {
    const [a, b] = [...this.#down.values()];
    const { layout } = this.timeline.scene;
    const span = Math.min(this.timeline.total(), (pinch.span * pinch.gap) / Math.max(NEAREST, Math.abs(a.x - b.x)));
    this.#look(pinch.t - (((a.x + b.x) / 2 - layout.plotLeft) / layout.plotWidth) * span, span);
  }

  #movePress(press: Press, event: PointerEvent, at: Point) {
    if (press.use === "axis") {
      this.#scrub(event, at);
      return;
    }
    const { area } = this.acts.tools;
    if (!press.far && Math.hypot(at.x - press.x, at.y - press.y) < (event.pointerType === "touch" ? WOBBLE : CLICK))
      return;
    press.far = true;
    clearTimeout(this.#timer);
    if (press.use === "area") area.drag(at, event);
    else if (press.use === "resize" && press.edge) press.edge = area.pull(press.edge, at, event);
    else this.#pan(press, at);
  }

  /** Time moves with the pointer, and so do the ranks where there are more than fit. */
  #pan(press: Press, at: Point) {
    const { timeline } = this;
    timeline.plot.classList.add("panning");
    const span = press.t1 - press.t0;
    this.#look(press.t0 + ((press.x - at.x) / timeline.scene.layout.plotWidth) * span, span);
    if (!timeline.scrolls()) return;
    timeline.scrollBy(press.y - at.y - press.scrolled);
    press.scrolled = press.y - at.y;
  }

  #end(event: PointerEvent) {
    if (!this.#down.delete(event.pointerId)) return;
    clearTimeout(this.#timer);
    this.timeline.plot.classList.remove("panning");
    const press = this.#press;
    if (press && (press.use === "area" || press.use === "resize") && press.far) this.acts.tools.area.end();
    this.acts.tools.snap.end();
    if (press && !press.far && event.type === "pointerup") this.#click(press, event);
    this.#press = null;
    if (this.#down.size < 2) this.#pinch = null;
  }

  #click(press: Press, event: PointerEvent) {
    const { timeline, acts } = this;
    const at = this.#place(event);
    if (press.use === "axis") return;
    if (press.use === "gutter") {
      const row = hit(timeline.scene.layout, at.x, at.y);
      if (row) acts.tools.pins.toggle(row.group, row.rank);
      return;
    }
    timeline.point(at);
    const trace = timeline.probe(at.x, at.y);
    if (press.use === "area") {
      acts.tools.area.end();
      acts.tools.area.between(acts.selected(), trace);
      return;
    }
    if (press.use !== "resize") acts.tools.area.set(null);
    acts.select(trace);
  }

  #wheel(event: WheelEvent) {
    const { timeline } = this;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      timeline.zoom(
        Math.exp(-event.deltaY * (event.deltaMode ? 0.06 : 0.0022)),
        timeAt(timeline.scene, this.#place(event).x),
      );
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const { t0, t1 } = timeline.visible();
      this.#look(t0 + ((event.deltaX || event.deltaY) / timeline.scene.layout.plotWidth) * (t1 - t0), t1 - t0);
    } else if (timeline.scrolls()) {
      event.preventDefault();
      timeline.scrollBy(event.deltaY);
    }
  }
}

/** Whether a press is on a button or a panel over the plot. */
const isTool = (target: EventTarget | null) =>
  target instanceof Element && target.closest("button, a, input, .area-panel") !== null;
