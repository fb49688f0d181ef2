// Which families the comparison shows: a list of boxes behind a button. All of them unless the reader chooses.
import { h, setText } from "./dom.js";

/** @import {Family} from "./picker.js" */

/** @param {Family[]} families @param {() => string[]} onScreen @param {() => void} changed */
export function createChoice(families, onScreen, changed) {
  const summary = h("summary", { class: "button soft" });
  const boxes = families.map((family) => h("input", { type: "checkbox", value: family.name, checked: true, onchange: update }));
  const groups = [...new Set(families.map((family) => family.group))].map((group) =>
    h("fieldset", {}, h("legend", { text: group }), ...families.flatMap((family, at) =>
      (family.group === group ? [h("label", {}, boxes[at], family.title)] : []))));
  const node = h("details", { class: "comparison-choice" }, summary, h("div", { class: "choices" },
    h("div", { class: "panel-row" }, h("button", { type: "button", class: "link", onclick: () => choose(families.map((family) => family.name)) }, "All"),
      h("button", { type: "button", class: "link", onclick: () => choose(onScreen()) }, "Those on the screen")), ...groups));
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    node.open = false;
    summary.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !node.contains(event.target)) node.open = false;
  });

  /** @param {string[]} names */
  function choose(names) {
    for (const box of boxes) box.checked = names.includes(box.value);
    update();
  }

  function update() {
    const count = boxes.filter((box) => box.checked).length;
    setText(summary, count === boxes.length ? `All ${count} families` : `${count} of ${boxes.length} families`);
    changed();
  }

  setText(summary, `All ${boxes.length} families`);
  return {
    node,
    /** The chosen, null for all of them. */
    names: () => {
      const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
      return chosen.length === boxes.length ? null : chosen;
    },
  };
}
