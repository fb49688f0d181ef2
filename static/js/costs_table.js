// The arithmetic: from a model and a machine to milliseconds and bytes, each step with its formula and its numbers.
import { shelf } from "./costs_api.js";
import { bytesText, quantity } from "./costs_text.js";
import { titlesOf } from "./costs.js";
import { h, replace } from "./dom.js";

/** @import {Pricing} from "./costs_apply.js" */
/** @import {Priced, Step} from "./costs_api.js" */
/** @import {Store} from "./store.js" */

/** @param {Store} store @param {Pricing} pricing @param {() => void} open the section where a model is chosen */
export function createArithmetic(store, pricing, open) {
  const panel = h("div");
  /** @type {Priced | null | undefined | "nothing yet"} */
  let shown = "nothing yet";
  let titled = false;
  return {
    panel,
    show() {
      if (panel.hidden) return;
      const { preset } = store.get();
      const priced = preset ? pricing.priced : null;
      if (priced === shown && (shelf() !== undefined) === titled) return;
      titled = shelf() !== undefined;
      shown = priced;
      if (!preset) replace(panel, ...nothing(open));
      else if (!priced) replace(panel, h("p", { text: "Asking for the arithmetic …" }));
      else replace(panel, h("h2", { text: `${titlesOf(preset)}: from the model to milliseconds and bytes` }), h("div", { class: "arithmetic" }, steps(priced), memory(priced)));
    },
  };
}

/** @param {() => void} open */
const nothing = (open) => [h("p", { class: "note" }, "The costs are plain numbers. ", h("button", { type: "button", class: "link", onclick: open }, "Choose a model and a machine"),
  " to have them in milliseconds, with every step of the arithmetic here.")];

/** @param {Priced} priced */
function steps({ arithmetic }) {
  const head = h("tr", {}, ...["Quantity", "Formula", "With the numbers"].map((text) => h("th", { scope: "col", text })), h("th", { scope: "col", class: "value", text: "Value" }));
  return h("table", { class: "steps-table", id: "arithmetic" }, h("thead", {}, head), h("tbody", {}, ...arithmetic.map(row)));
}

/** @param {Step} step */
function row({ name, formula, numbers, value, unit }) {
  return h("tr", {}, h("th", { scope: "row", text: name }), h("td", { class: "formula", text: formula }), h("td", { class: "formula", text: numbers }),
    h("td", { class: "value", title: `${value} ${unit}`, text: quantity(value, unit) }));
}

/** What one device holds against what it has. @param {Priced} priced */
function memory({ bytes, fits, vocabulary_ratio }) {
  const { total, capacity, ...parts } = bytes;
  const whole = Math.max(total, capacity) || 1;
  const named = Object.entries(parts).filter(([, size]) => typeof size === "number");
  const bar = h("div", { class: fits ? "bytes-bar" : "bytes-bar over", "aria-hidden": "true" }, ...named.map(([, size], at) => {
    const part = h("i", { class: `part-${at % 4}` });
    part.style.width = `${(100 * size) / whole}%`;
    return part;
  }), h("u"));
  bar.style.setProperty("--limit", `${(100 * capacity) / whole}%`);
  const list = named.map(([name, size], at) => h("div", {}, h("dt", {}, h("i", { class: `part-${at % 4}` }), name.replaceAll("_", " ")), h("dd", { text: bytesText(size) })));
  return h("section", { class: "bytes", id: "bytes" }, h("h3", { text: "Memory of a device" }), bar,
    h("dl", {}, ...list, h("div", { class: "sum" }, h("dt", { text: "Together" }), h("dd", { text: bytesText(total) })),
      h("div", {}, h("dt", { text: "The device has" }), h("dd", { text: bytesText(capacity) }))),
    h("p", { class: fits ? "within" : "over", text: fits ? `Fits, with ${bytesText(capacity - total)} to spare.` : `Does not fit: ${bytesText(total - capacity)} too much.` }),
    ratioLine(vocabulary_ratio));
}

/** @param {number} ratio */
function ratioLine(ratio) {
  return h("p", { class: "ratio", id: "vocabulary-ratio" }, h("b", { text: Number(ratio.toFixed(2)) }), " is the vocabulary ratio: the output layer has that many times the parameters of a transformer layer.");
}
