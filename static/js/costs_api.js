// Asks for models, machines, and what they cost; each answer is kept for as long as the page lives. Knows no DOM.
import { getJson } from "./api.js";
import { presetEntries } from "./pure/url_preset.js";

/** @import {Costs, Spec} from "./pure/types.js" */
/** @import {Preset} from "./pure/url_preset.js" */
/** @typedef {{name: string, formula: string, numbers: string, value: number, unit: string, symbol: string | null}} Step  of the arithmetic */
/** @typedef {{name: string, title: string, [more: string]: any}} Entry  a model or a machine */
/** @typedef {{models: Entry[], machines: Entry[], defaults: Record<string, any>}} Shelf */
/**
 * @typedef {{model: string, machine: string, costs: Costs, w_share: number, unit: string, bytes: Record<string, any>,
 *   arithmetic: Step[], fits: boolean, vocabulary_ratio: number, [more: string]: any}} Priced
 */

/** @type {Map<string, any>} */
const kept = new Map();
/** @type {Map<string, Promise<any>>} */
const underway = new Map();

/** An answer that is here already. @param {string} path */
export const known = (path) => kept.get(path);

/** @param {string} path @returns {Promise<any>} */
export function ask(path) {
  if (kept.has(path)) return Promise.resolve(kept.get(path));
  let promise = underway.get(path);
  if (!promise) {
    promise = getJson(path).then((answer) => {
      kept.set(path, answer);
      return answer;
    }).finally(() => underway.delete(path));
    underway.set(path, promise);
  }
  return promise;
}

export const MODELS = "/api/models";

/** @returns {Shelf | undefined} */
export const shelf = () => known(MODELS);

/** The preset as it applies to a spec: layers that a balance moved belong to one number of stages.
 * @param {Preset} preset @param {Spec} spec @returns {Preset} */
export const presetFor = (preset, { p, v }) =>
  (preset.layers && preset.layers.length !== p * v ? { ...preset, layers: null } : preset);

/** @param {Preset} preset @param {Spec} spec @param {Record<string, string | number>} more */
function query(preset, { p, v }, more) {
  return new URLSearchParams([...presetEntries(preset, false), ["p", String(p)], ["v", String(v)],
    ...Object.entries(more).map(([key, value]) => [key, String(value)])]).toString().replaceAll("%2C", ",");
}

/** @param {Preset} preset @param {Spec} spec */
export const costsPath = (preset, spec) => `/api/costs?${query(presetFor(preset, spec), spec, {})}`;

/** The same with the activations that a schedule holds at its peak. @param {Preset} preset @param {Spec} spec @param {number} held */
export const detailPath = (preset, spec, held) => `/api/costs?${query(presetFor(preset, spec), spec, { in_flight: Number(held.toPrecision(6)) })}`;

/** @param {Preset} preset @param {Spec} spec */
export const balancePath = (preset, spec) =>
  `/api/balance?${query({ ...preset, layers: null }, spec, { family: spec.family, m: spec.m, ...(spec.group === null ? {} : { group: spec.group }) })}`;
