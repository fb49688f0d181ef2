// Asks for charts, and loads plotly's script when the first one is drawn. The last answers are kept. Knows no panel.
import { Offline, getAnswer } from "../../data/api.js";

/** @import {Text} from "../../core/drawing/chart_points.js" */
/** @import {SpecError} from "../../data/api.js" */
/** @import {Point, Rows} from "../../core/drawing/chart_points.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/** @typedef {{data: any[], layout: any}} Figure */
/**
 * @typedef {{spec: Spec, figure: Figure, reads: Text[], points: Point[], found: boolean, error_found: SpecError |
 *   null}} Points the frontier
 */
/** @typedef {Points | ({spec: Spec, figure: Figure} & Rows)} Chart */
/**
 * @typedef {HTMLElement & {on: (name: string, listener: (event: any) => void) => void}} Plot
 * @typedef {{react: (node: HTMLElement, data: any[], layout: any, config: any) => Promise<Plot>, toImage: (figure: any,
 *   options: any) => Promise<string>, purge: (node: HTMLElement) => void, Fx: {hover: (node: HTMLElement, points: any)
 *   => void, unhover: (node: HTMLElement) => void}}} Plotly
 */

const MOST_KEPT = 48;

/** @type {Map<string, Chart>} the least recently asked for first */
const kept = new Map();
/** @type {Promise<Plotly> | null} */
let loading = null;

/** What is here already. @param {string} url @returns {Chart | null} */
export const known = (url) => kept.get(url) ?? null;

/** @param {string} url @returns {Promise<Chart>} */
export async function ask(url) {
  const chart = kept.get(url) ?? (await getAnswer(url));
  kept.delete(url);
  kept.set(url, chart);
  if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  return chart;
}

/** An answer that is no longer true: with `found` more has been found since. @param {string} url */
export const forget = (url) => kept.delete(url);

/** Plotly, loaded once; after a failure the next call tries again. @returns {Promise<Plotly>} */
export function plotly() {
  loading ??= load().catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

/** Plotly writes a few styles of what it draws as attributes, which the page's policy takes for inline styles. Through
 * the object model, as it writes all others, they are allowed. */
function styleByObject() {
  const { setAttribute } = Element.prototype;
  /** @this {SVGElement} @param {string} name @param {string} value */
  SVGElement.prototype.setAttribute = function set(name, value) {
    if (name === "style") this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
}

/** @returns {Promise<Plotly>} */
function load() {
  return new Promise((resolve, reject) => {
    styleByObject();
    const script = document.createElement("script");
    script.src = document.documentElement.dataset.plotly ?? "";
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      script.remove();
      reject(new Offline());
    };
    document.head.append(script);
  });
}
