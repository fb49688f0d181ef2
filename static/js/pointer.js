// Mouse, pen and touch on the timeline: hover, click selects, drag pans, pinch and Ctrl+wheel zoom, drag on the axis scrubs.

/** @import {Timeline} from "./timeline.js" */
/** @typedef {{select: (trace: ReturnType<Timeline["probe"]>) => void, scrub: (t: number) => void}} Acts */

const CLICK = 4; // px a press may wander and still be a click

/** @param {Timeline} timeline @param {Acts} acts */
export function listenPointer(timeline, { select, scrub }) {
  const { plot } = timeline;
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  /** @type {{x: number, y: number, t0: number, t1: number, axis: boolean, far: boolean} | null} */
  let press = null;
  /** @type {{gap: number, t: number, span: number} | null} */
  let pinch = null;

  /** @param {MouseEvent} event */
  function place(event) {
    const box = plot.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {number} x */
  function timeOf(x) {
    const { layout, t0, t1 } = timeline.scene();
    return t0 + ((x - layout.plotLeft) / layout.plotWidth) * (t1 - t0);
  }

  function startPinch() {
    const [a, b] = [...down.values()];
    const { t0, t1 } = timeline.visible();
    pinch = { gap: Math.max(20, Math.abs(a.x - b.x)), t: timeOf((a.x + b.x) / 2), span: t1 - t0 };
    press = null;
  }

  function movePinch() {
    if (!pinch) return;
    const [a, b] = [...down.values()];
    const { layout } = timeline.scene();
    const span = Math.min(timeline.total(), (pinch.span * pinch.gap) / Math.max(20, Math.abs(a.x - b.x)));
    const part = ((a.x + b.x) / 2 - layout.plotLeft) / layout.plotWidth;
    const t0 = Math.max(0, Math.min(pinch.t - part * span, timeline.total() - span));
    timeline.look({ t0, t1: t0 + span });
  }

  /** @param {{x: number, y: number}} at */
  function movePress(at) {
    if (!press) return;
    if (press.axis) { scrub(timeOf(at.x)); return; }
    if (!press.far && Math.hypot(at.x - press.x, at.y - press.y) < CLICK) return;
    press.far = true;
    plot.classList.add("panning");
    const { layout } = timeline.scene();
    const span = press.t1 - press.t0;
    const dt = ((press.x - at.x) / layout.plotWidth) * span;
    const t0 = Math.max(0, Math.min(press.t0 + dt, timeline.total() - span));
    timeline.look({ t0, t1: t0 + span });
  }

  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    down.set(event.pointerId, at);
    plot.setPointerCapture(event.pointerId);
    if (down.size === 2) { startPinch(); return; }
    const { t0, t1 } = timeline.visible();
    const { layout } = timeline.scene();
    press = { ...at, t0, t1, axis: at.y < layout.axisHeight && at.x >= layout.plotLeft, far: false };
    if (press.axis) scrub(timeOf(at.x));
  });

  plot.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!down.has(event.pointerId)) { timeline.point(at); return; }
    down.set(event.pointerId, at);
    if (pinch && down.size === 2) movePinch();
    else movePress(at);
  });

  /** @param {PointerEvent} event */
  function up(event) {
    if (!down.delete(event.pointerId)) return;
    plot.classList.remove("panning");
    if (press && !press.far && !press.axis && event.type === "pointerup") {
      const at = place(event);
      timeline.point(at);
      select(timeline.probe(at.x, at.y));
    }
    press = null;
    if (down.size < 2) pinch = null;
  }
  plot.addEventListener("pointerup", up);
  plot.addEventListener("pointercancel", up);
  plot.addEventListener("pointerleave", () => { if (!down.size) timeline.point(null); });

  plot.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      timeline.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.06 : 0.0022)), timeOf(place(event).x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const { t0, t1 } = timeline.visible();
      const dt = ((event.deltaX || event.deltaY) / timeline.scene().layout.plotWidth) * (t1 - t0);
      const from = Math.max(0, Math.min(t0 + dt, timeline.total() - (t1 - t0)));
      timeline.look({ t0: from, t1: from + (t1 - t0) });
    } else if (timeline.scrolls()) {
      event.preventDefault();
      timeline.scrollBy(event.deltaY);
    }
  }, { passive: false });
}
