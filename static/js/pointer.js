// Mouse, pen and touch on the timeline: hover, click selects, drag pans, pinch and Ctrl+wheel zoom, drag on the axis scrubs.
import { timeAt } from "./axis.js";

/** @import {Timeline} from "./timeline.js" */
/** @import {Trace} from "./trace.js" */
/** @typedef {{select: (trace: Trace | null) => void, scrub: (t: number) => void}} Acts */
/** @typedef {{x: number, y: number}} Point */

const CLICK = 4; // px a press may wander and still be a click
const NEAREST = 20; // px between two fingers that still count as apart

export class Pointer {
  /** @type {Map<number, Point>} */
  #down = new Map();
  /** @type {(Point & {t0: number, t1: number, axis: boolean, far: boolean}) | null} */
  #press = null;
  /** @type {{gap: number, t: number, span: number} | null} */
  #pinch = null;

  /** @param {Timeline} timeline @param {Acts} acts */
  constructor(timeline, acts) {
    this.timeline = timeline;
    this.acts = acts;
    const { plot } = timeline;
    plot.addEventListener("pointerdown", (event) => this.#start(event));
    plot.addEventListener("pointermove", (event) => this.#move(event));
    plot.addEventListener("pointerup", (event) => this.#end(event));
    plot.addEventListener("pointercancel", (event) => this.#end(event));
    plot.addEventListener("pointerleave", () => { if (!this.#down.size) timeline.point(null); });
    plot.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  /** @param {MouseEvent} event @returns {Point} */
  #place(event) {
    const box = this.timeline.plot.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** A window of this span that begins near t0. @param {number} t0 @param {number} span */
  #look(t0, span) {
    const from = Math.max(0, Math.min(t0, this.timeline.total() - span));
    this.timeline.look({ t0: from, t1: from + span });
  }

  /** @param {PointerEvent} event */
  #start(event) {
    if (event.button !== 0) return;
    const { timeline } = this;
    const at = this.#place(event);
    this.#down.set(event.pointerId, at);
    timeline.plot.setPointerCapture(event.pointerId);
    if (this.#down.size === 2) {
      const [a, b] = [...this.#down.values()];
      const { t0, t1 } = timeline.visible();
      this.#pinch = { gap: Math.max(NEAREST, Math.abs(a.x - b.x)), t: timeAt(timeline.scene, (a.x + b.x) / 2), span: t1 - t0 };
      this.#press = null;
      return;
    }
    const { layout } = timeline.scene;
    const axis = at.y < layout.axisHeight && at.x >= layout.plotLeft;
    this.#press = { ...at, ...timeline.visible(), axis, far: false };
    if (axis) this.acts.scrub(timeAt(timeline.scene, at.x));
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const at = this.#place(event);
    if (!this.#down.has(event.pointerId)) {
      this.timeline.point(at);
      return;
    }
    this.#down.set(event.pointerId, at);
    if (this.#pinch && this.#down.size === 2) this.#movePinch(this.#pinch);
    else if (this.#press) this.#movePress(this.#press, at);
  }

  /** @param {{gap: number, t: number, span: number}} pinch */
  #movePinch(pinch) {
    const [a, b] = [...this.#down.values()];
    const { layout } = this.timeline.scene;
    const span = Math.min(this.timeline.total(), (pinch.span * pinch.gap) / Math.max(NEAREST, Math.abs(a.x - b.x)));
    this.#look(pinch.t - (((a.x + b.x) / 2 - layout.plotLeft) / layout.plotWidth) * span, span);
  }

  /** @param {Point & {t0: number, t1: number, axis: boolean, far: boolean}} press @param {Point} at */
  #movePress(press, at) {
    if (press.axis) {
      this.acts.scrub(timeAt(this.timeline.scene, at.x));
      return;
    }
    if (!press.far && Math.hypot(at.x - press.x, at.y - press.y) < CLICK) return;
    press.far = true;
    this.timeline.plot.classList.add("panning");
    const span = press.t1 - press.t0;
    this.#look(press.t0 + ((press.x - at.x) / this.timeline.scene.layout.plotWidth) * span, span);
  }

  /** @param {PointerEvent} event */
  #end(event) {
    if (!this.#down.delete(event.pointerId)) return;
    this.timeline.plot.classList.remove("panning");
    if (this.#press && !this.#press.far && !this.#press.axis && event.type === "pointerup") {
      const at = this.#place(event);
      this.timeline.point(at);
      this.acts.select(this.timeline.probe(at.x, at.y));
    }
    this.#press = null;
    if (this.#down.size < 2) this.#pinch = null;
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const { timeline } = this;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      timeline.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.06 : 0.0022)), timeAt(timeline.scene, this.#place(event).x));
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
