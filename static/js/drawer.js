// The tabs along the bottom. A click opens one over the lower edge, another click on the same closes it.
import { byId, h } from "./dom.js";
import { t } from "./pure/lang.js";

/** @typedef {{id: string, title: string, panel: HTMLElement, opened?: () => void}} Tab */

/** @param {Tab[]} tabs @param {(id: string | null) => void} pick */
export function createDrawer(tabs, pick) {
  const home = byId("drawer");
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": t("Details") });
  home.append(bar);
  /** @type {Map<string, {button: HTMLElement, dot: HTMLElement}>} */
  const buttons = new Map();
  let open = "";

  for (const { id, title, panel } of tabs) {
    const dot = h("span", { class: "dot", hidden: true });
    const button = h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, "aria-selected": "false",
      onclick: () => pick(open === id ? null : id) }, title, dot);
    panel.id = `panel-${id}`;
    panel.classList.add("panel");
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.tabIndex = 0;
    panel.hidden = true;
    bar.append(button);
    home.append(panel);
    buttons.set(id, { button, dot });
  }
  bar.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!way) return;
    event.preventDefault();
    const all = [...buttons.values()].map((each) => each.button);
    const at = all.findIndex((each) => each === document.activeElement);
    all[(at + way + all.length) % all.length].focus();
  });

  return {
    /** @param {string | null} id */
    set(id) {
      const next = tabs.some((tab) => tab.id === id) ? id ?? "" : "";
      if (next === open) return;
      open = next;
      for (const tab of tabs) {
        tab.panel.hidden = tab.id !== open;
        buttons.get(tab.id)?.button.setAttribute("aria-selected", String(tab.id === open));
        if (tab.id === open) tab.opened?.();
      }
    },
    /** Open a tab, or close it when it is open. @param {string} id */
    toggle: (id) => pick(open === id ? null : id),
    /** A dot on a tab: something goes on there. @param {string} id @param {boolean} on */
    mark: (id, on) => { const each = buttons.get(id); if (each) each.dot.hidden = !on; },
  };
}
