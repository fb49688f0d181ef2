// Small helpers for the DOM: make, find, and write only what changed.
import { language, t } from "../core/i18n/language.js";

/** @typedef {string | number | Node | null | undefined | false} Child */

/**
 * Make an element. Keys that start with "on" are listeners, "text" is its text, the rest are attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = String(value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** @param {Element} node @param {Child[]} children */
function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/** @param {Element} node @param {...Child} children */
export function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/**
 * Change what is inside a node, and focus the element with the same id again if the focused one was replaced or moved.
 * @param {HTMLElement} node
 * @param {() => void} change
 */
export function keepFocus(node, change) {
  const focused = document.activeElement;
  const id = focused && node.contains(focused) ? focused.id : "";
  change();
  if (id && document.activeElement?.id !== id) document.getElementById(id)?.focus({ preventScroll: true });
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/**
 * A text with elements in its holes: what t("Layers {before} become {after}") is made of.
 * @param {string} text
 * @param {Record<string, Child>} parts by the names of the holes
 * @returns {Child[]}
 */
export const filled = (text, parts) => text.split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? parts[piece] : piece));

/**
 * Write text only when it differs, so that an unchanged figure costs no layout.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {HTMLElement} node @param {boolean} shown */
export function show(node, shown) {
  if (node.hidden === shown) node.hidden = !shown;
}

/**
 * A 2d context that is known to exist.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [options]
 */
export function context(canvas, options) {
  const ctx = canvas.getContext("2d", options);
  if (!ctx) throw new Error("this browser gives no 2d canvas");
  return ctx;
}

/** An svg icon of one path on a 16 x 16 grid. @param {string} path */
export function icon(path) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(ns, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/**
 * A message as a sentence: capital, unless it begins with a field's symbol such as m, and full stop.
 * @param {string} text
 */
export const sentence = (text) =>
  text
    ? (/^\w\b/.test(text) || language() !== "en" ? text : text[0].toUpperCase() + text.slice(1)) +
      (/[.?!。？！]$/.test(text) ? "" : t("."))
    : "";
