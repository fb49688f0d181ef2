// A canvas that is as large as the page shows it and as sharp as the screen.
import { context } from "./dom.ts";

export type Surface = {
  node: HTMLCanvasElement;
  ctx: CanvasRenderingContext2D;
  width: number;
  height: number;
  dpr: number;
};

export function surface(node: HTMLCanvasElement, options?: CanvasRenderingContext2DSettings): Surface {
  return { node, ctx: context(node, options), width: 0, height: 0, dpr: 1 };
}

/** How much larger than its CSS pixels the page shows an element: 1, except in a zoomed part. */
export const zoomOf = (node: Element) => node.currentCSSZoom ?? 1; // not in browsers before 2024

/** Where a pointer is in an element, in its CSS pixels. */
export function placeIn(node: Element, { clientX, clientY }: MouseEvent) {
  const { left, top } = node.getBoundingClientRect();
  const zoom = zoomOf(node);
  return { x: (clientX - left) / zoom, y: (clientY - top) / zoom };
}

/** Fit to a size in CSS pixels; true when it changed. zoom: how much larger the page shows it. */
export function resize(s: Surface, width: number, height: number, zoom = 1) {
  const dpr = Math.min(3, (window.devicePixelRatio || 1) * zoom);
  if (s.width === width && s.height === height && s.dpr === dpr) return false;
  s.width = width;
  s.height = height;
  s.dpr = dpr;
  s.node.width = Math.max(1, Math.round(width * dpr));
  s.node.height = Math.max(1, Math.round(height * dpr));
  s.node.style.width = `${width}px`;
  s.node.style.height = `${height}px`;
  return true;
}

/** Start a drawing in CSS pixels on a clean sheet. ground: its colour, if any. */
export function begin(s: Surface, ground?: string) {
  s.ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0);
  if (ground) {
    s.ctx.fillStyle = ground;
    s.ctx.fillRect(0, 0, s.width, s.height);
  } else s.ctx.clearRect(0, 0, s.width, s.height);
  return s.ctx;
}
