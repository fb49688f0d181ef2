// One number with a slider and a box: arrows step, typed values commit on Enter or on leaving, the wheel never changes it.
import { h, replace, setText, show } from "./dom.js";

/** @import {SpecError} from "./api.js" */

/**
 * @typedef {object} FieldOptions
 * @property {string} name      the field of the spec
 * @property {string} symbol    how the papers write it
 * @property {string} label     in words
 * @property {() => number[]} stops   where the slider stops, ascending
 * @property {number} step      of the arrow keys in the box
 * @property {string} [empty]   what an empty box means, where null is legal
 * @property {boolean} [list]   takes one entry a stage, comma separated
 */
/** @typedef {number | number[] | null} Value */
/** @typedef {{pick: (value: Value, event: Event, dragged: boolean) => void, near: (options: FieldOptions, value: number) => void}} FieldActs */

/** @param {FieldOptions} options @param {FieldActs} acts */
export function createField(options, acts) {
  const id = `field-${options.name}`;
  const slider = h("input", { type: "range", min: 0, step: 1, "aria-label": options.label, id: `${id}-slider` });
  const box = h("input", { type: "text", id, autocomplete: "off", spellcheck: "false", placeholder: options.empty,
    inputmode: options.list ? "text" : "decimal", "aria-describedby": `${id}-problem` });
  const problem = h("div", { class: "problem", id: `${id}-problem`, role: "alert", hidden: true });
  const node = h("div", { class: "field", title: options.label }, h("label", { for: id, text: options.symbol }), slider, box, problem);
  /** @type {Value} */
  let value = null;
  let stops = options.stops();

  slider.addEventListener("input", (event) => acts.pick(stops[Number(slider.value)], event, true));
  for (const kind of ["pointerenter", "focus"]) {
    slider.addEventListener(kind, () => { if (typeof value === "number") acts.near(options, value); });
  }
  box.addEventListener("change", (event) => commit(event));
  box.addEventListener("focus", () => { if (typeof value === "number") acts.near(options, value); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { box.value = textOf(value); box.blur(); }
    if (event.key === "Enter") { event.preventDefault(); commit(event); }
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    const from = Number(box.value);
    if (box.value === "" || !Number.isFinite(from)) return;
    event.preventDefault();
    const to = Math.max(0, from + options.step * (event.key === "ArrowUp" ? 1 : -1) * (event.shiftKey ? 10 : 1));
    acts.pick(Number(to.toPrecision(10)), event, false);
  });

  /** @param {Event} event */
  function commit(event) {
    if (box.value.trim() === textOf(value)) { complain(null); return; }
    const read = readValue(box.value, options);
    if (read === undefined) complain({ field: options.name, value: box.value, message: `${options.symbol} must be a number${options.list ? ", or one for each stage" : ""}.` });
    else acts.pick(read, event, false);
  }

  /** @param {Value} next */
  function set(next) {
    value = next;
    stops = options.stops();
    slider.max = String(stops.length - 1);
    const at = typeof next === "number" ? nearestStop(stops, next) : 0;
    slider.value = String(at);
    slider.style.setProperty("--fill", `${stops.length > 1 ? (100 * at) / (stops.length - 1) : 0}%`);
    slider.setAttribute("aria-valuetext", textOf(next) || (options.empty ?? ""));
    show(slider, !Array.isArray(next));
    const text = textOf(next);
    if (box.value !== text) box.value = text;
  }

  /** @param {SpecError | null} error @param {(value: any) => void} [apply] @param {string} [whose] */
  function complain(error, apply, whose) {
    show(problem, error !== null);
    node.toggleAttribute("data-bad", error !== null);
    box.setAttribute("aria-invalid", String(error !== null));
    if (!error) { setText(problem, ""); return; }
    const message = h("span", { text: (whose ? `${whose}: ` : "") + sentence(error.message) });
    const legal = error.nearest;
    if (legal === undefined || !apply) { replace(problem, message); return; }
    replace(problem, message, h("br"), h("button", { type: "button", class: "button", onclick: () => apply(legal) },
      legal === null ? `Leave ${options.symbol} out` : `Use ${options.symbol} = ${legal}`));
  }

  return { node, set, complain, options };
}

/** @typedef {ReturnType<typeof createField>} Field */

/** @param {string} text */
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".") : "");

/** @param {Value} value */
function textOf(value) {
  if (value === null) return "";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** undefined: no number. @param {string} text @param {FieldOptions} options @returns {Value | undefined} */
function readValue(text, options) {
  const trimmed = text.trim();
  if (trimmed === "") return options.empty === undefined ? undefined : null;
  const parts = trimmed.split(/[,;\s]+/).map(Number);
  if (parts.some((x) => !Number.isFinite(x))) return undefined;
  if (parts.length > 1) return options.list ? parts : undefined;
  return parts[0];
}

/** @param {number[]} stops @param {number} value */
export function nearestStop(stops, value) {
  let best = 0;
  for (let at = 1; at < stops.length; at++) if (Math.abs(stops[at] - value) < Math.abs(stops[best] - value)) best = at;
  return best;
}
