// The sliders of <bubble-line> and its choice of families.
import { CONSTRUCTED } from "../core/families/construct.js";
import { t } from "../core/i18n/language.js";
import { formatNumber } from "../core/i18n/numbers.js";
import { h, setText } from "../ui/dom.js";
import { costStops, including, wholeStops } from "../ui/fields/slider_stops.js";

/** @import {ChunkRange, Spec} from "../core/schedule/types.js" */
/** @import {Control} from "./attributes.js" */
/** @typedef {{row: HTMLElement, write: (spec: Spec) => void}} ControlRow */
/** @typedef {(name: string, value: string | number) => void} Change */

const MOST = { p: 32, m: 128, v: 8 };

/**
 * @param {Control[]} wanted @param {ChunkRange} range of v
 * @param {Change} change @returns {ControlRow[]}
 */
export function controlRows(wanted, range, change) {
  /** @type {Partial<Record<Control, () => ControlRow>>} */
  const makers = {
    family: () => familyRow(change),
    p: () => slider("p", t("Devices p"), (value) => including(wholeStops(1, MOST.p), value), change),
    m: () => slider("m", t("Micro-batches m"), (value) => including(wholeStops(1, MOST.m), value), change),
    v: () =>
      slider("v", t("Chunks v"), (value) => including(wholeStops(1, Math.min(MOST.v, range.max)), value), change),
    f: () => slider("f", t("Forward F"), costStops, change),
    i: () => slider("i", t("Input grad I"), costStops, change),
    w: () => slider("w", t("Weight grad W"), costStops, change),
    comm: () => slider("comm", t("Hop (p2p) c"), costStops, change),
  };
  return wanted.flatMap((name) => (name === "v" && range.min === range.max ? [] : [makers[name]?.() ?? []])).flat();
}

/** @param {Spec} spec @param {string} name */
const valueOf = ({ p, m, v, costs }, name) =>
  ({ p, m, v, f: costs.F, i: costs.I, w: costs.W, comm: costs.comm })[name] ?? 0;

/**
 * @param {string} name of the attribute @param {string} label @param {(value: number) => number[]} stopsFor
 * @param {Change} change @returns {ControlRow}
 */
function slider(name, label, stopsFor, change) {
  const input = h("input", { type: "range", min: 0, step: 1, "aria-label": label });
  const out = h("b");
  /** @type {number[]} */
  let stops = [];
  input.addEventListener("input", () => change(name, stops[Number(input.value)]));
  return {
    row: h("label", {}, h("span", { text: label }), out, input),
    write(spec) {
      const value = Number(valueOf(spec, name));
      stops = stopsFor(value);
      input.max = String(stops.length - 1);
      input.value = String(stops.indexOf(value));
      input.setAttribute("aria-valuetext", formatNumber(value));
      setText(out, formatNumber(value));
    },
  };
}

/** @param {Change} change @returns {ControlRow} */
function familyRow(change) {
  const select = h(
    "select",
    { "aria-label": t("Schedule"), onchange: () => change("family", select.value) },
    ...Object.entries(CONSTRUCTED).map(([value, { title }]) => h("option", { value, text: title })),
  );
  return {
    row: h("label", {}, h("span", { text: t("Schedule") }), select),
    write(spec) {
      select.value = spec.family;
    },
  };
}
