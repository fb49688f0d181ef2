// The drawer of tabs along the bottom. A click opens a tab, another click on the same tab closes it.
import { byId, h, setText, show } from "../ui/dom.js";
import { t } from "../core/i18n/language.js";

const BAR = 60; // px of the drawer in sight that show more than its row of tabs

/** @import {Store} from "../data/store.js" */
/** @typedef {{id: string, title: string, panel: HTMLElement, show?: () => void}} Tab show: called when it has opened */

/** @param {Store} store @param {Tab[]} tabs */
export function createDrawer(store, tabs) {
  const home = byId("drawer");
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": t("Details") });
  home.append(bar);
  /** @type {Map<string, HTMLElement>} */
  const buttons = new Map();
  let open = "";
  const jump = createJump(home);

  for (const { id, title, panel } of tabs) {
    const button = h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": `panel-${id}`,
        "aria-selected": "false",
        onclick: () => store.setView({ tab: open === id ? null : id }),
      },
      title,
    );
    panel.id = `panel-${id}`;
    panel.classList.add("panel");
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.tabIndex = 0;
    panel.hidden = true;
    bar.append(button);
    home.append(panel);
    buttons.set(id, button);
  }
  bar.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!way) return;
    event.preventDefault();
    const all = [...buttons.values()];
    const at = all.findIndex((each) => each === document.activeElement);
    all[(at + way + all.length) % all.length].focus();
  });

  /** @param {string | null} id */
  function openTab(id) {
    const next = tabs.some((tab) => tab.id === id) ? (id ?? "") : "";
    if (next === open) return;
    open = next;
    for (const tab of tabs) {
      tab.panel.hidden = tab.id !== open;
      buttons.get(tab.id)?.setAttribute("aria-selected", String(tab.id === open));
      if (tab.id === open) tab.show?.();
    }
    const button = buttons.get(open);
    if (button) bar.scrollLeft = Math.max(0, button.offsetLeft + button.offsetWidth - bar.clientWidth); // on a phone
    jump(tabs.find((tab) => tab.id === open)?.title ?? null);
  }
  store.subscribe(({ view }) => openTab(view.tab));
  openTab(store.get().view.tab);
}

/** On a narrow screen an open tab may be below the visible part of the page: this button names it and scrolls there.
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
