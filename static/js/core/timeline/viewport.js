// The visible stretch of time, immutable, within [0, total]: zoomed, panned, and dragged on the minimap.

/** @typedef {{readonly t0: number, readonly t1: number}} View */
/** @typedef {"start" | "end" | "window" | "outside"} Grip  of the minimap: an edge of the window, its
 *   inside, or the rest */

/** The whole. @param {number} total @returns {View} */
export const fit = (total) => ({ t0: 0, t1: total });

/**
 * The nearest view of the same width within [0, total]; the whole if it is wider.
 * @param {View} view @param {number} total @returns {View}
 */
export function clamp(view, total) {
  const span = view.t1 - view.t0;
  if (!(span > 0) || span >= total) return fit(total);
  const t0 = Math.min(Math.max(0, view.t0), total - span);
  return { t0, t1: Math.min(total, t0 + span) };
}

/**
 * factor > 1 shows less (zooms in), factor < 1 more; time t stays where it is on the screen.
 * @param {View} view @param {number} t @param {number} factor @param {number} total @param {number} minSpan
 * @returns {View}
 */
export function zoomAt(view, t, factor, total, minSpan) {
  const span = view.t1 - view.t0;
  const wanted = Math.min(total, Math.max(Math.min(minSpan, total), span / factor));
  const part = span > 0 ? (t - view.t0) / span : 0.5;
  const t0 = t - part * wanted;
  return clamp({ t0, t1: t0 + wanted }, total);
}

/** Moves by dt, stopping at the ends. @param {View} view @param {number} dt @param {number} total @returns {View} */
export const pan = (view, dt, total) => clamp({ t0: view.t0 + dt, t1: view.t1 + dt }, total);

/**
 * Shows [a, b], given in either order, with a small margin.
 * @param {number} a @param {number} b @param {number} total @returns {View}
 */
export function zoomTo(a, b, total) {
  const lo = Math.max(0, Math.min(a, b));
  const hi = Math.min(total, Math.max(a, b));
  if (!(hi > lo)) return fit(total);
  const margin = (hi - lo) * 0.02;
  return { t0: Math.max(0, lo - margin), t1: Math.min(total, hi + margin) };
}

/**
 * Which part of the window a press on the minimap takes hold of.
 * @param {number} x
 * @param {number} a
 * @param {number} b the window's edges
 * @param {number} tolerance how near counts as on an edge
 * @returns {Grip}
 */
export function gripAt(x, a, b, tolerance) {
  const [start, end] = [Math.abs(x - a), Math.abs(x - b)];
  const inside = Math.min(tolerance, (b - a) / 3); // a narrow window keeps a middle to be taken by
  if (start <= (x > a ? inside : tolerance) && start <= end) return "start";
  if (end <= (x < b ? inside : tolerance)) return "end";
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
