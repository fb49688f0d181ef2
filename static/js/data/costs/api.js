// Requests models, machines and their costs; responses are cached as long as the page is open. Knows no DOM.
import { getAnswer } from "../api.js";
import { t } from "../../core/i18n/language.js";
import { machineFields, modelFields } from "../../core/state/own_values.js";
import { presetEntries } from "../../core/state/link_preset.js";

/** @import {Costs, Spec, Text} from "../../core/schedule/types.js" */
/** @import {Preset} from "../../core/state/link_preset.js" */
/**
 * @typedef {{name: Text, formula: string, numbers: string, value: number, unit: Text, symbol: string | null}} Step
 *   of the arithmetic
 */
/** @typedef {{name: string, title: string, [more: string]: any}} Entry  a model or a machine */
/**
 * @typedef {{models: Entry[], machines: Entry[], defaults: Record<string, any>, bounds: Record<string, [number,
 *   number]>, shape: string[]}} Shelf bounds: of each field; shape: the fields that a layer's parameters follow from
 */
/**
 * @typedef {{model: string, machine: string, costs: Costs, w_share: number, unit: string, bytes: Record<string, any>,
 *   arithmetic: Step[], fits: boolean, vocabulary_ratio: number, options: {O: number, k: number, weights: number,
 *   shards: Record<string, {S: number, T: number}>}, [more: string]: any}} Priced
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
    promise = getAnswer(path)
      .then((answer) => {
        kept.set(path, answer);
        return answer;
      })
      .finally(() => underway.delete(path));
    underway.set(path, promise);
  }
  return promise;
}

export const MODELS = "/api/models";

/** @returns {Shelf | undefined} */
export const shelf = () => known(MODELS);

/** What a preset takes for a field where nothing is chosen. @param {Preset} preset @param {string} field */
export function plainOf(preset, field) {
  const { models = [], machines = [], defaults = null } = shelf() ?? {};
  const model = models.find((each) => each.name === preset.model);
  const machine = machines.find((each) => each.name === (preset.machine ?? defaults?.machine));
  return [model, machine, defaults].find((each) => each && field in each)?.[field];
}

/**
 * Does it differ from the model, or the machine, that it names?
 * @param {Preset} preset
 * @param {"model" | "machine"} which
 */
export const isOwn = (preset, which) =>
  FIELDS_OF[which].some((field) => field in preset.own && preset.own[field] !== plainOf(preset, field)) ||
  preset[which] === "custom";

export const FIELDS_OF = {
  model: [...modelFields().map(({ name }) => name), "gated", "flash"],
  machine: machineFields().map(({ name }) => name),
};

/**
 * The preset without the layers that a balance moved; the model keeps their number.
 * @param {Preset} preset
 * @returns {Preset}
 */
export function evenly(preset) {
  if (!preset.layers) return preset;
  const layers = preset.layers.reduce((sum, share) => sum + share, 0);
  const same = layers === plainOf(preset, "layers");
  return { ...preset, layers: null, own: same ? preset.own : { ...preset.own, layers } };
}

/**
 * The preset with another model or machine, which ends numbers of one's own of that part.
 * @param {Preset} preset
 * @param {"model" | "machine"} part
 * @param {string} name
 * @returns {Preset}
 */
export function withNamed(preset, part, name) {
  const even = evenly(preset);
  const own = Object.fromEntries(Object.entries(even.own).filter(([field]) => !FIELDS_OF[part].includes(field)));
  const standard = part === "machine" && name === shelf()?.defaults.machine;
  return { ...even, [part]: standard ? null : name, own };
}

/**
 * The preset with layers moved between the stages.
 * @param {Preset} preset
 * @param {number[]} layers
 * @returns {Preset}
 */
export function withLayers(preset, layers) {
  const own = { ...preset.own };
  delete own.layers; // their sum says it
  return { ...preset, layers, own };
}

/** "Llama 3 70B on H100" @param {Preset} preset */
export function titlesOf(preset) {
  const all = shelf();
  const machine = preset.machine ?? all?.defaults.machine ?? "";
  /** @param {Entry[] | undefined} list @param {string} name */
  const title = (list, name) => list?.find((entry) => entry.name === name)?.title ?? name;
  const short = title(all?.machines, machine).split(" ")[0]; // "H100 80GB SXM"
  const model = isOwn(preset, "model") ? t("Own model") : title(all?.models, preset.model);
  const on = isOwn(preset, "machine") ? t("own machine") : short;
  return on ? t("{model} on {machine}", { model, machine: on }) : model;
}

/** The preset as it applies to a spec: layers that a balance moved belong to one number of stages, and an output layer
 * that is spread over the devices, or for which layers move, is not counted to the last stage.
 * @param {Preset} preset @param {Spec} spec @returns {Preset} */
export function presetFor(preset, { p, v, vocabulary, layers }) {
  const cut =
    preset.layers && (preset.layers.length !== p * v || layers || vocabulary === "redistribute")
      ? evenly(preset)
      : preset;
  return vocabulary === "plain" ? cut : { ...cut, heads: false };
}

/** @param {Preset} preset @param {Spec} spec @param {Record<string, string | number>} more */
function query(preset, { p, v }, more) {
  return new URLSearchParams([
    ...presetEntries(preset, false),
    ["p", String(p)],
    ["v", String(v)],
    ...Object.entries(more).map(([key, value]) => [key, String(value)]),
  ])
    .toString()
    .replaceAll("%2C", ",");
}

/** @param {Preset} preset @param {Spec} spec */
export const costsPath = (preset, spec) => `/api/costs?${query(presetFor(preset, spec), spec, {})}`;

/**
 * The same with the activations that a schedule holds at its peak.
 * @param {Preset} preset
 * @param {Spec} spec
 * @param {number} held
 */
export const detailPath = (preset, spec, held) =>
  `/api/costs?${query(presetFor(preset, spec), spec, { in_flight: Number(held.toPrecision(6)) })}`;

/** @param {Preset} preset @param {Spec} spec */
export const balancePath = (preset, spec) =>
  `/api/balance?${query(evenly(preset), spec, {
    family: spec.family,
    m: spec.m,
    ...(spec.group === null ? {} : { group: spec.group }),
  })}`;
