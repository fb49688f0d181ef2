// The timeline: which window of time is in sight, what is under the pointer, what is selected; and it draws all that.
import { drawAxis, drawRanks, boxOf, timeAt } from "./axis.js";
import { begin, resize, surface } from "./canvas.js";
import { byId, h } from "./dom.js";
import { invalidate, onStage } from "./frame.js";
import { arrange, laneOf, shift, totalTime } from "./lanes.js";
import { createMinimap } from "./minimap.js";
import { colour } from "./palette.js";
import { drawPlayhead, drawTrace } from "./overlay.js";
import { paintOps } from "./paint.js";
import { hit } from "./pure/layout.js";
import { clamp, fit, zoomAt } from "./pure/viewport.js";
import { sameTrace, traceAt } from "./trace.js";

/** @import {Lane, Scene} from "./lanes.js" */
/** @import {Store} from "./store.js" */
/** @import {Trace} from "./trace.js" */
/** @import {View} from "./pure/viewport.js" */

/**
 * @param {Store} store
 * @param {{playhead: () => number | null, selected: () => Trace | null, hovered: (trace: Trace | null, x: number, y: number) => void}} parts
 */
export function createTimeline(store, parts) {
  const plot = byId("plot");
  const base = surface(h("canvas"), { alpha: false });
  const over = surface(h("canvas", { class: "overlay" }));
  plot.append(base.node, over.node);
  /** @type {Lane[]} */
  let lanes = [];
  /** @type {Scene} */
  let scene = { layout: arrange([], 1, 1), lanes, t0: 0, t1: 1 };
  let scroll = 0;
  /** @type {Trace | null} */
  let hover = null;
  /** @type {{x: number, y: number} | null} */
  let pointer = null;
  let userMoved = false;

  const total = () => totalTime(lanes);
  /** @returns {View} */
  function visible() {
    const { t0, t1 } = store.get().view;
    return t0 === null && t1 === null ? fit(total()) : clamp({ t0: t0 ?? 0, t1: t1 ?? total() }, total());
  }
  const minimap = createMinimap(/** @type {HTMLCanvasElement} */ (byId("minimap")), { total, window: visible,
    moveTo: (t) => { const { t0, t1 } = visible(); look(clamp({ t0: t - (t1 - t0) / 2, t1: t + (t1 - t0) / 2 }, total())); } });

  /** Show this window. @param {View} view */
  function look(view) {
    const all = view.t1 - view.t0 >= total() * 0.9999;
    userMoved = true;
    store.setView({ t0: all ? null : view.t0, t1: all ? null : view.t1 });
    invalidate("base", "overlay", "minimap");
  }

  /** The window nobody asked for: following playback or a live run leaves no mark in the URL. @param {View} view */
  function follow(view) {
    store.setView({ t0: view.t0, t1: view.t1 }, "none");
    invalidate("base", "overlay", "minimap");
  }

  /** @param {number} factor @param {number} [t] */
  function zoom(factor, t) {
    const view = visible();
    const at = t ?? pointerTime() ?? (view.t0 + view.t1) / 2;
    look(zoomAt(view, at, factor, total(), total() / 20_000));
  }

  function pointerTime() {
    if (!pointer || pointer.x < scene.layout.plotLeft) return null;
    return timeAt(scene, pointer.x);
  }

  /** @param {number} x @param {number} y @returns {Trace | null} */
  function probe(x, y) {
    const found = hit(scene.layout, x, y);
    if (!found || !found.inPlot || y < scene.layout.axisHeight) return null;
    const lane = laneOf(lanes, found.group);
    return lane && traceAt(lane, found.rank, timeAt(scene, x));
  }

  /** @param {{x: number, y: number} | null} at */
  function point(at) {
    pointer = at;
    const next = at && probe(at.x, at.y);
    if (sameTrace(next, hover)) return;
    hover = next;
    parts.hovered(hover, at?.x ?? 0, at?.y ?? 0);
    invalidate("overlay");
  }

  function drawBase() {
    const width = plot.clientWidth;
    const height = plot.clientHeight;
    resize(base, width, height);
    const layout = arrange(lanes, width, height);
    scroll = Math.max(0, Math.min(scroll, layout.contentHeight - height));
    const { t0, t1 } = visible();
    scene = { layout: shift(layout, scroll), lanes, t0, t1 };
    const ctx = begin(base);
    ctx.fillStyle = colour("surface");
    ctx.fillRect(0, 0, width, height);
    paintOps(scene, ctx, base.dpr);
    drawRanks(scene, ctx);
    drawAxis(scene, ctx, height);
  }

  function drawOver() {
    resize(over, base.width, base.height);
    const ctx = begin(over);
    const head = parts.playhead();
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, over.width, over.height);
    ctx.clip();
    drawPlayhead(scene, ctx, head, over.height);
    const selected = parts.selected();
    if (selected) drawTrace(scene, ctx, selected, true);
    if (hover && !sameTrace(hover, selected)) drawTrace(scene, ctx, hover, false);
    ctx.restore();
  }

  onStage("base", drawBase);
  onStage("overlay", drawOver);
  onStage("minimap", () => minimap.draw(parts.playhead()));
  new ResizeObserver(() => { redraw(); drawBase(); drawOver(); }).observe(plot);

  /** Everything, because ops, costs, sizes or colours changed. */
  function redraw() {
    invalidate("base", "overlay", "minimap");
    minimapDirty = true;
  }
  let minimapDirty = true;

  return {
    plot,
    total,
    visible,
    look,
    follow,
    zoom,
    point,
    probe,
    redraw,
    pointerTime,
    scene: () => scene,
    lanes: () => lanes,
    hover: () => hover,
    /** Did the reader move the window since the last `release`? */
    moved: () => userMoved,
    release: () => { userMoved = false; },
    /** @param {Lane[]} next */
    show(next) {
      lanes = next;
      redraw();
    },
    /** The ops themselves changed: draw the strip below, once the frame has its scene. */
    settle() {
      if (minimapDirty && lanes.length) minimap.drawOps(scene);
      minimapDirty = false;
      if (pointer) point(pointer);
    },
    /** @param {number} dy */
    scrollBy(dy) {
      scroll += dy;
      invalidate("base", "overlay");
    },
    scrolls: () => scene.layout.contentHeight > plot.clientHeight,
    /** @param {string} lane @param {number} rank @param {number} i */
    box: (lane, rank, i) => boxOf(scene, lane, rank, i),
    repaint: () => { drawBase(); drawOver(); },
  };
}


/** @typedef {ReturnType<typeof createTimeline>} Timeline */
