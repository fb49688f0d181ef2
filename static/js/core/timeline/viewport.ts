// The visible stretch of time, immutable, within [0, total]: zoomed, panned, and dragged on the minimap.

export type View = { t0: number; t1: number };
/** Of the minimap: an edge of the window, its inside, or the rest. */
export type Grip = "start" | "end" | "window" | "outside";

/** The whole. */
export const fit = (total: number): View => ({ t0: 0, t1: total });

/** The nearest view of the same width within [0, total]; the whole if it is wider. */
export function clamp(view: View, total: number): View {
  const span = view.t1 - view.t0;
  if (!(span > 0) || span >= total) return fit(total);
  const t0 = Math.min(Math.max(0, view.t0), total - span);
  return { t0, t1: Math.min(total, t0 + span) };
}

/** Factor > 1 shows less (zooms in), factor < 1 more; time t stays where it is on the screen. */
export function zoomAt(view: View, t: number, factor: number, total: number, minSpan: number): View {
  const span = view.t1 - view.t0;
  const wanted = Math.min(total, Math.max(Math.min(minSpan, total), span / factor));
  const part = span > 0 ? (t - view.t0) / span : 0.5;
  const t0 = t - part * wanted;
  return clamp({ t0, t1: t0 + wanted }, total);
}

/** Moves by dt, stopping at the ends. */
export const pan = (view: View, dt: number, total: number): View =>
  clamp({ t0: view.t0 + dt, t1: view.t1 + dt }, total);

/** Shows [a, b], given in either order, with a small margin. */
export function zoomTo(a: number, b: number, total: number): View {
  const lo = Math.max(0, Math.min(a, b));
  const hi = Math.min(total, Math.max(a, b));
  if (!(hi > lo)) return fit(total);
  const margin = (hi - lo) * 0.02;
  return { t0: Math.max(0, lo - margin), t1: Math.min(total, hi + margin) };
}

/**
 * Which part of the window a press on the minimap takes hold of. b: the window's edges; tolerance: how near counts as
 * on an edge.
 */
export function gripAt(x: number, a: number, b: number, tolerance: number): Grip {
  const [start, end] = [Math.abs(x - a), Math.abs(x - b)];
  const inside = Math.min(tolerance, (b - a) / 3); // a narrow window keeps a middle to be taken by
  if (start <= (x > a ? inside : tolerance) && start <= end) return "start";
  if (end <= (x < b ? inside : tolerance)) return "end";
  return x > a && x < b ? "window" : "outside";
}

/**
 * The window after a drag by dt from where it was taken: its inside moves it, an edge makes it wider or narrower, past
 * the other edge too. view: when taken; least: width.
 */
export function dragged(view: View, grip: Grip, dt: number, total: number, least: number): View {
  if (grip === "window" || grip === "outside") return clamp({ t0: view.t0 + dt, t1: view.t1 + dt }, total);
  const fixed = grip === "start" ? view.t1 : view.t0;
  const moved = Math.min(total, Math.max(0, (grip === "start" ? view.t0 : view.t1) + dt));
  const [t0, t1] = moved < fixed ? [moved, fixed] : [fixed, moved];
  return t1 - t0 >= least ? { t0, t1 } : clamp({ t0: Math.min(t0, total - least), t1: t0 + least }, total);
}
