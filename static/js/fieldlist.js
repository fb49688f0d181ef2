// The fields of a spec as the controls show them, and which of them mean something to a family.
import { SHARE_STOPS, costStops, including, memoryStops, wholeStops } from "./stops.js";

/** @import {Family} from "./picker.js" */
/** @import {FieldOptions} from "./field.js" */
/** @import {Spec} from "./pure/types.js" */

export const COSTS = ["F", "I", "W", "comm", "FB"];
/** Fields that change the order, not only its times. */
export const SHAPES = ["p", "m", "v", "group"];
/** Fields that two compared schedules have in common unless told otherwise. */
export const SHARED = new Set(["p", "m", "F", "I", "W", "comm", "w_share"]);

/** @param {Spec} spec @param {string} name @returns {any} */
export const fieldOf = (spec, name) => /** @type {any} */ (COSTS.includes(name) ? spec.costs : spec)[name];

/** The spec with one field changed. @param {Spec} spec @param {string} name @param {unknown} value @returns {Spec} */
export const withField = (spec, name, value) => (COSTS.includes(name) ? { ...spec, costs: { ...spec.costs, [name]: value } } : { ...spec, [name]: value });

/** The names of the fields that mean something here: a limit of memory that was set is held against any family.
 * @param {Family | null} family @param {Spec} spec */
export function applicable(family, spec) {
  const names = new Set(["p", "m", "F", "I", "W", "comm"]);
  if (spec.memory !== null) names.add("memory");
  if (!family) return names;
  if (family.v.max > family.v.min) names.add("v");
  if (family.backward !== "full") names.add("w_share");
  for (const name of family.fields) names.add(name);
  return names;
}

/** The same sizes in another family. @param {Spec} spec @param {Family | null} from @param {Family} to @returns {Spec} */
export function moveTo(spec, from, to) {
  const keeps = from !== null && from.v.max > 1 && spec.v >= to.v.min && spec.v <= to.v.max;
  /** @param {string} name */
  const takes = (name) => to.fields.includes(name);
  return { ...spec, family: to.name, v: keeps ? spec.v : to.v.default, group: takes("group") ? spec.group : null,
    lifo: takes("lifo") && spec.lifo, costs: { ...spec.costs, FB: takes("FB") ? spec.costs.FB : null } };
}

/** @param {() => Spec} spec @param {() => Family | null} family @returns {FieldOptions[]} */
export function fieldList(spec, family) {
  /** @param {string} name @param {string} symbol @param {string} label */
  const cost = (name, symbol, label) => ({ name, symbol, label, step: 0.1, list: name !== "comm" && name !== "FB",
    stops: () => costStops(fieldOf(spec(), name)) });
  const chunks = () => wholeStops(family()?.v.min ?? 1, Math.min(16, family()?.v.max ?? 16));
  return [
    { name: "p", symbol: "p", label: "Devices (pipeline ranks)", stops: () => including(wholeStops(1, 64), spec().p), step: 1 },
    { name: "m", symbol: "m", label: "Micro-batches in a step", stops: () => including(wholeStops(1, 512), spec().m), step: 1 },
    { name: "v", symbol: "v", label: "Model chunks on each device", stops: () => including(chunks(), spec().v), step: 1 },
    { name: "group", symbol: "g", label: "Micro-batches taken together through the chunks; empty: torch's rule",
      stops: () => including(wholeStops(1, Math.max(1, spec().m)), spec().group), step: 1, empty: "auto" },
    cost("F", "f", "Forward"),
    cost("I", "i", "Input gradient"),
    cost("W", "w", "Weight gradient"),
    { ...cost("FB", "f&b", "Overlapped forward and backward; empty: f + i + w"), empty: "f+i+w" },
    cost("comm", "c", "Communication, one hop between devices"),
    { name: "memory", symbol: "limit", label: "Memory limit of a device, in one micro-batch's activations; empty: what the family takes by itself",
      stops: () => including(memoryStops(spec().p), spec().memory), step: 0.5, empty: "own" },
    { name: "w_share", symbol: "part", label: "Part of an activation that the weight gradient still needs (memory only)",
      stops: () => including(SHARE_STOPS, spec().w_share), step: 0.05 },
  ];
}
