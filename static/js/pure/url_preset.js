// The model and machine that the costs come from, as the keys m.* of a link, and back. Knows no model by name.
//
// m.model stands for the preset as a whole; every other key is there only where the reader chose something else than
// what the model and the server bring: m.machine, m.tp, m.efficiency, m.heads, m.sequence, m.micro_batch, m.layers.
// The costs themselves are in the link as ever, so an old link shows the times that it showed.

import { countsFrom, numberWith, packed } from "./url_fields.js";

/** @import {Read} from "./url_fields.js" */
/** @import {Problem} from "./url.js" */
/**
 * @typedef {{model: string, machine: string|null, tp: number|null, efficiency: number|null, heads: boolean,
 *   sequence: number|null, micro_batch: number|null, layers: number[]|null}} Preset
 *   null: what the server takes by itself; layers: of each stage, where a balance moved them
 */

const PREFIX = "m.";
const whole = numberWith((x) => Number.isInteger(x) && x >= 1, "a whole number of 1 or more");

/** @param {string} text @returns {Read} */
const name = (text) => (/^[a-z0-9][a-z0-9._-]{0,47}$/i.test(text) ? { value: text } : { wanted: "a name such as llama3-70b" });

/** @type {Record<string, (text: string) => Read>} */
const READERS = {
  model: name,
  machine: name,
  tp: whole,
  efficiency: numberWith((x) => x > 0 && x <= 1, "a number above 0, up to 1"),
  heads: (text) => (/^[01]$/.test(text) ? { value: text === "1" } : { wanted: "1 or 0" }),
  sequence: whole,
  micro_batch: whole,
  layers: countsFrom,
};

/** @param {string} model @returns {Preset} */
export const plainPreset = (model) =>
  ({ model, machine: null, tp: null, efficiency: null, heads: false, sequence: null, micro_batch: null, layers: null });

/** Takes its keys out of what is given. @param {Map<string, string>} given @param {Problem[]} problems @returns {Preset|null} */
export function readPreset(given, problems) {
  /** @type {Record<string, unknown>} */
  const found = {};
  const without = !given.has(`${PREFIX}model`);
  for (const [key, read] of Object.entries(READERS)) {
    const field = PREFIX + key;
    const text = given.get(field);
    if (text === undefined) continue;
    given.delete(field);
    const got = read(text.trim());
    if ("wanted" in got) problems.push({ field, value: text, message: `${field} must be ${got.wanted}` });
    else if (without) problems.push({ field, value: text, message: `${field} means nothing without ${PREFIX}model` });
    else found[key] = got.value;
  }
  return typeof found.model === "string" ? { ...plainPreset(found.model), ...found } : null;
}

/** As key and text, what differs from the plain preset. @param {Preset|null} preset @param {boolean} short lists with k*x
 * @returns {[string, string][]} */
export function presetEntries(preset, short) {
  if (!preset) return [];
  return /** @type {(keyof Preset)[]} */ (Object.keys(READERS)).flatMap((key) => {
    const value = preset[key];
    if (value === null || value === false) return [];
    const text = Array.isArray(value) ? (short ? packed(value) : value.join(",")) : value === true ? "1" : String(value);
    return /** @type {[string, string][]} */ ([[key, text]]);
  });
}

/** @param {Preset|null} preset @returns {[string, string][]} */
export const presetParts = (preset) => presetEntries(preset, true).map(([key, text]) => [PREFIX + key, text]);
