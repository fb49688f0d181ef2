// What a press on the minimap takes hold of, and the window that a drag of it gives. Knows pixels and times; draws
// nothing.
import { clamp } from "./viewport.js";

/** @import {View} from "./viewport.js" */
/** @typedef {"start" | "end" | "window" | "outside"} Grip  an edge of the window, its inside, or the rest */

/**
 * @param {number} x
 * @param {number} a
 * @param {number} b the window's edges
 * @param {number} reach how near counts as on an edge
 * @returns {Grip}
 */
export function gripAt(x, a, b, reach) {
  const [start, end] = [Math.abs(x - a), Math.abs(x - b)];
  const inside = Math.min(reach, (b - a) / 3); // a narrow window keeps a middle to be taken by
  if (start <= (x > a ? inside : reach) && start <= end) return "start";
  if (end <= (x < b ? inside : reach)) return "end";
  return x > a && x < b ? "window" : "outside";
}

/**
 * The window after a drag by dt from where it was taken: its inside moves it, an edge makes it wider or narrower, past
 * the other edge too.
 * @param {View} view when taken
 * @param {Grip} grip
 * @param {number} dt
 * @param {number} total
 * @param {number} least width
 * @returns {View}
 */
export function dragged(view, grip, dt, total, least) {
  if (grip === "window" || grip === "outside") return clamp({ t0: view.t0 + dt, t1: view.t1 + dt }, total);
  const fixed = grip === "start" ? view.t1 : view.t0;
  const moved = Math.min(total, Math.max(0, (grip === "start" ? view.t0 : view.t1) + dt));
  const [t0, t1] = moved < fixed ? [moved, fixed] : [fixed, moved];
  return t1 - t0 >= least ? { t0, t1 } : clamp({ t0: Math.min(t0, total - least), t1: t0 + least }, total);
}
