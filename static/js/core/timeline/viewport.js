// The visible stretch of time, immutable, within [0, total]. Knows no pixels and no schedule.

/** @typedef {{readonly t0: number, readonly t1: number}} View */

/** The whole. @param {number} total @returns {View} */
export const fit = (total) => ({ t0: 0, t1: total });

/**
 * The nearest view of the same width that lies within [0, total]; the whole if it is wider.
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
