// The drawer of tabs along the bottom. A click opens a tab, another click on the same tab closes it; all tabs have the
// height that the reader gave them.
import { byId, h, replace } from "../../ui/dom.ts";
import { recall, remember } from "../../ui/remembered.ts";
import { t } from "../../core/i18n/language.ts";
import type { Store } from "../../data/store.ts";

const HEIGHT = "drawer"; // what the height is remembered as
const [SHORTEST, STEP] = [120, 32]; // px
const TALLEST = 0.8; // of the window
const FADE = 36; // px at the end of the tabs, where the style sheet fades them on a phone

/** What is in a tab; show is called when it has opened. */
export type Panel = { panel: HTMLElement; show?: () => void };
/** load: of a tab whose script comes when it is opened first. */
export type Tab = { id: string; title: string } & (Panel | { load: () => Promise<Panel> });

export function createDrawer(store: Store, tabs: Tab[]) {
  const home = byId("drawer");
  const bar = h("div.tabs", { role: "tablist", "aria-label": t("Details") });
  home.append(bar);
  const buttons = new Map<string, HTMLElement>();
  let open = "";
  const showEdge = createEdge(home);

  const panels = new Map<string, Panel>();
  const put = (id: string, made: Panel) => {
    const { panel } = made;
    panel.id = `panel-${id}`;
    panel.classList.add("panel");
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.tabIndex = 0;
    panel.hidden = id !== open;
    const before = panels.get(id)?.panel;
    if (before) before.replaceWith(panel);
    else home.append(panel);
    panels.set(id, made);
  };
  for (const tab of tabs) {
    const { id, title } = tab;
    const button = h(
      "button",
      {
        role: "tab",
        id: `tab-${id}`,
        "aria-controls": `panel-${id}`,
        "aria-selected": "false",
        onclick: () => store.setView({ tab: open === id ? null : id }),
      },
      title,
    );
    bar.append(button);
    buttons.set(id, button);
    put(id, "load" in tab ? loaded(tab.load, (made) => put(id, made)) : tab);
  }
  bar.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!way) return;
    event.preventDefault();
    const all = [...buttons.values()];
    const at = all.findIndex((each) => each === document.activeElement);
    all[(at + way + all.length) % all.length].focus();
  });

  function openTab(id: string | null) {
    const next = tabs.some((tab) => tab.id === id) ? (id ?? "") : "";
    if (next === open) return;
    open = next;
    for (const [each, made] of panels) {
      made.panel.hidden = each !== open;
      buttons.get(each)?.setAttribute("aria-selected", String(each === open));
      if (each === open) made.show?.();
    }
    const button = buttons.get(open);
    // On a phone the row is longer than the window.
    if (button) bar.scrollLeft = Math.max(0, button.offsetLeft + button.offsetWidth + FADE - bar.clientWidth);
    showEdge(open !== "");
  }
  store.subscribe(({ view }) => openTab(view.tab));
  openTab(store.get().view.tab);
}

/** An empty tab that is replaced by what it loads when it is opened. */
function loaded(load: () => Promise<Panel>, put: (made: Panel) => void): Panel {
  const panel = h("div");
  let loading: Promise<void> | null = null;
  const show = async () => {
    panel.setAttribute("aria-busy", "true");
    try {
      const made = await load();
      put(made);
      if (!made.panel.hidden) made.show?.();
    } catch (problem) {
      loading = null; // tried again when it is opened again
      panel.removeAttribute("aria-busy");
      if (!panel.isConnected) throw problem;
      replace(panel, h("p.note", { text: t("The server does not answer. Open this tab again in a moment.") }));
    }
  };
  return { panel, show: () => void (loading ??= show()) };
}

/** The edge over an open tab, which is dragged, or moved by keys, to make the tab taller; this browser remembers it. */
function createEdge(home: HTMLElement) {
  const edge = h("div#drawer-edge.drawer-edge", {
    role: "separator",
    tabindex: 0,
    hidden: true,
    "aria-orientation": "horizontal",
    "aria-label": t("Height of the tab"),
    title: t("Drag, or use the arrow keys; a double click resets the height"),
  });
  const panel = () => home.querySelector(".panel:not([hidden])") as HTMLElement | null;
  const most = () => Math.round(innerHeight * TALLEST);

  function set(px: number) {
    const height = Math.round(Math.max(SHORTEST, Math.min(most(), px)));
    home.style.setProperty("--drawer", `${height}px`);
    remember(HEIGHT, String(height));
    state();
  }

  function reset() {
    home.style.removeProperty("--drawer");
    remember(HEIGHT, "");
    state();
  }

  /** Tell screen readers the height. */
  function state() {
    const now = Math.round(panel()?.offsetHeight ?? 0);
    edge.setAttribute("aria-valuemin", String(SHORTEST));
    edge.setAttribute("aria-valuemax", String(most()));
    edge.setAttribute("aria-valuenow", String(now));
    edge.setAttribute("aria-valuetext", t("{n} pixels", { n: now }));
  }

  edge.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const foot = event.clientY + (panel()?.offsetHeight ?? 0);
    const move = (now: PointerEvent) => set(foot - now.clientY);
    edge.addEventListener("pointermove", move);
    for (const kind of ["pointerup", "pointercancel"])
      edge.addEventListener(kind, () => edge.removeEventListener("pointermove", move), { once: true });
  });
  edge.addEventListener("dblclick", reset);
  edge.addEventListener("keydown", (event) => {
    const now = panel()?.offsetHeight ?? 0;
    const to = { ArrowUp: now + STEP, ArrowDown: now - STEP, Home: SHORTEST, End: most() }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  });
  const kept = Number(recall(HEIGHT));
  if (kept >= SHORTEST) home.style.setProperty("--drawer", `${Math.min(kept, most())}px`);
  home.prepend(edge);
  return (open: boolean) => {
    edge.hidden = !open;
    if (open) state();
  };
}
