// A canvas that is as large as the page shows it and as sharp as the screen.
import { context } from "./dom.js";

/**
 * @typedef {{node: HTMLCanvasElement, ctx: CanvasRenderingContext2D, width: number, height: number, dpr: number}}
 *   Surface
 */

/** @param {HTMLCanvasElement} node @param {CanvasRenderingContext2DSettings} [options] @returns {Surface} */
export function surface(node, options) {
  return { node, ctx: context(node, options), width: 0, height: 0, dpr: 1 };
}

/**
 * Fit to a size in CSS pixels; true when it changed.
 * @param {Surface} s
 * @param {number} width
 * @param {number} height
 */
export function resize(s, width, height) {
  const dpr = Math.min(3, window.devicePixelRatio || 1);
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

/** Start a drawing in CSS pixels on a clean sheet. @param {Surface} s @param {string} [ground] its colour, if any */
export function begin(s, ground) {
  s.ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0);
  if (ground) {
    s.ctx.fillStyle = ground;
    s.ctx.fillRect(0, 0, s.width, s.height);
  } else s.ctx.clearRect(0, 0, s.width, s.height);
  return s.ctx;
}
