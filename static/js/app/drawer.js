// The tabs along the bottom. A click opens one over the lower edge, another click on the same closes it.
import { byId, h, setText, show } from "../ui/dom.js";
import { t } from "../core/i18n/language.js";

const BAR = 60; // px of the drawer in sight that show more than its row of tabs

/** @typedef {{id: string, title: string, panel: HTMLElement, opened?: () => void}} Tab */

/** @param {Tab[]} tabs @param {(id: string | null) => void} pick */
export function createDrawer(tabs, pick) {
  const home = byId("drawer");
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": t("Details") });
  home.append(bar);
  /** @type {Map<string, {button: HTMLElement, dot: HTMLElement}>} */
  const buttons = new Map();
  let open = "";
  const jump = createJump(home);

  for (const { id, title, panel } of tabs) {
    const dot = h("span", { class: "dot", hidden: true });
    const button = h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": `panel-${id}`,
        "aria-selected": "false",
        onclick: () => pick(open === id ? null : id),
      },
      title,
      dot,
    );
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
      const next = tabs.some((tab) => tab.id === id) ? (id ?? "") : "";
      if (next === open) return;
      open = next;
      for (const tab of tabs) {
        tab.panel.hidden = tab.id !== open;
        buttons.get(tab.id)?.button.setAttribute("aria-selected", String(tab.id === open));
        if (tab.id === open) tab.opened?.();
      }
      jump(tabs.find((tab) => tab.id === open)?.title ?? null);
    },
    /** Open a tab, or close it when it is open. @param {string} id */
    toggle: (id) => pick(open === id ? null : id),
    /** A dot on a tab: something goes on there. @param {string} id @param {boolean} on */
    mark: (id, on) => {
      const each = buttons.get(id);
      if (each) each.dot.hidden = !on;
    },
  };
}

/** Where the page is one long column, an open tab may lie below what is in sight: a button says so and goes there.
 * @param {HTMLElement} home @returns {(title: string | null) => void} */
function createJump(home) {
  let seen = false;
  /** @type {string | null} */
  let title = null;
  const name = h("span");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const button = h(
    "button",
    {
      type: "button",
      class: "drawer-jump",
      id: "drawer-jump",
      hidden: true,
      onclick: () => home.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" }),
    },
    name,
    h("span", { class: "drawer-jump-sign", "aria-hidden": "true" }),
  );
  home.after(button);
  const sync = () => {
    show(button, title !== null && !seen);
    if (title !== null) setText(name, t("{tab}, below", { tab: title }));
  };
  new IntersectionObserver(
    (entries) => {
      for (const entry of entries) seen = entry.intersectionRect.height > BAR || entry.boundingClientRect.top < 0;
      sync();
    },
    { threshold: [0, 0.05, 0.1, 0.2, 0.5] },
  ).observe(home);
  return (now) => {
    title = now;
    sync();
  };
}
