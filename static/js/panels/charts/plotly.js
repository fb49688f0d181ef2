// Loads plotly's script when the first chart is drawn.
import { Offline } from "../../data/api.js";

/**
 * @typedef {HTMLElement & {on: (name: string, listener: (event: any) => void) => void}} Plot
 * @typedef {{react: (node: HTMLElement, data: any[], layout: any, config: any) => Promise<Plot>, toImage: (figure: any,
 *   options: any) => Promise<string>, purge: (node: HTMLElement) => void, Fx: {hover: (node: HTMLElement, points: any)
 *   => void, unhover: (node: HTMLElement) => void}}} Plotly
 */

/** @type {Promise<Plotly> | null} */
let loading = null;

/** Plotly, loaded once; after a failure the next call tries again. @returns {Promise<Plotly>} */
export function plotly() {
  loading ??= load().catch((problem) => {
    loading = null;
    throw problem;
  });
  return loading;
}

/** Plotly sets some styles as attributes, which the page's content security policy forbids as inline styles. Through
 * the object model they are allowed. */
function allowPlotlyStyles() {
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
    allowPlotlyStyles();
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
