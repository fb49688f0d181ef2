// The family picker: grouped, with year and one line each. A listbox: arrows move, letters jump, Enter picks, Esc closes.
import { h, replace, setText, show } from "./dom.js";

/** @typedef {{min: number, default: number, max: number}} ChunkRange */
/**
 * @typedef {{name: string, title: string, year: number, source: string, used_by: string, group: string, summary: string,
 *   backward: "full" | "split" | "both", complexity: string, placement: string, fields: string[], v: ChunkRange,
 *   laws: import("./pure/types.js").Law[]}} Family
 */

/** @param {Family[]} families @param {(family: Family) => void} pick @param {(family: Family) => void} consider */
export function createPicker(families, pick, consider) {
  const name = h("span", { class: "family-name" });
  const line = h("span", { class: "family-say" });
  const button = h("button", { type: "button", class: "family-button", id: "family", "aria-haspopup": "listbox", "aria-expanded": "false" },
    name, h("span", { class: "family-chevron", "aria-hidden": "true", text: "▾" }), line);
  const list = h("div", { class: "picker-groups", role: "listbox", id: "family-list", "aria-label": "Family of schedules", tabindex: 0 });
  const panel = h("div", { class: "picker", hidden: true }, list);
  document.body.append(panel);
  /** @type {HTMLElement[]} */
  const options = [];
  let current = "";
  let active = 0;

  for (const group of new Set(families.map((family) => family.group))) {
    const box = h("div", { class: "picker-group", role: "group", "aria-label": group }, h("h3", { text: groupTitle(group), "aria-hidden": "true" }));
    for (const family of families.filter((each) => each.group === group)) box.append(option(family));
    list.append(box);
  }
  const ordered = options.map((node) => /** @type {Family} */ (families.find((family) => node.dataset.family === family.name)));

  /** @param {Family} family */
  function option(family) {
    const at = options.length;
    const node = h("div", { class: "picker-option", role: "option", id: `family-${family.name}`, "data-family": family.name,
      onclick: () => choose(at), onpointerenter: () => consider(family) },
    h("b", { text: family.title }), " ", h("small", { text: family.year }), h("p", { text: family.summary }));
    options.push(node);
    return node;
  }

  /** @param {number} at */
  function activate(at) {
    active = (at + options.length) % options.length;
    options.forEach((node, k) => node.setAttribute("aria-selected", String(k === active)));
    list.setAttribute("aria-activedescendant", options[active].id);
    options[active].scrollIntoView({ block: "nearest" });
    consider(ordered[active]);
  }

  function open() {
    const box = button.getBoundingClientRect();
    show(panel, true);
    panel.style.left = `${Math.max(8, Math.min(box.left, innerWidth - panel.offsetWidth - 8))}px`;
    panel.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - panel.offsetHeight - 8))}px`;
    button.setAttribute("aria-expanded", "true");
    activate(Math.max(0, ordered.findIndex((family) => family.name === current)));
    list.focus({ preventScroll: true });
  }

  /** @param {boolean} [back] give the focus back to the button */
  function close(back) {
    show(panel, false);
    button.setAttribute("aria-expanded", "false");
    if (back) button.focus();
  }

  /** @param {number} at */
  function choose(at) {
    close(true);
    pick(ordered[at]);
  }

  button.addEventListener("click", () => (panel.hidden ? open() : close()));
  document.addEventListener("pointerdown", (event) => {
    if (!panel.hidden && event.target instanceof Node && !panel.contains(event.target) && !button.contains(event.target)) close();
  });
  list.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") activate(active + 1);
    else if (event.key === "ArrowUp") activate(active - 1);
    else if (event.key === "Home") activate(0);
    else if (event.key === "End") activate(options.length - 1);
    else if (event.key === "Enter" || event.key === " ") choose(active);
    else if (event.key === "Escape" || event.key === "Tab") close(true);
    else if (/^[a-z0-9]$/i.test(event.key)) activate(jump(ordered, active, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    button,
    /** @param {string} family */
    set(family) {
      current = family;
      const found = families.find((each) => each.name === family);
      replace(name, found ? found.title : family, found ? h("small", { text: found.year }) : "");
      setText(line, found ? found.summary : "No family of that name.");
    },
  };
}

/** @param {Family[]} ordered @param {number} from @param {string} letter */
function jump(ordered, from, letter) {
  for (let k = 1; k <= ordered.length; k++) {
    const at = (from + k) % ordered.length;
    if (ordered[at].title.toLowerCase().startsWith(letter.toLowerCase())) return at;
  }
  return from;
}

/** @param {string} group */
const groupTitle = (group) => group[0].toUpperCase() + group.slice(1);
