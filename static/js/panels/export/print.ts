// The page on paper: the schedules as a vector picture, their figures and formulas, and the link. Made before the
// browser prints and removed afterwards.
import { byId, h } from "../../ui/dom.ts";
import { pictureOf } from "./pictures.ts";
import { t } from "../../core/i18n/language.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../../timeline/timeline.ts";

const WIDTH = 1040; // px: a landscape page
const HEIGHT = 440; // px: of the picture, with the figures of several schedules below
const [AXIS, TITLE] = [44, 34]; // px of legend and axis, and over each schedule

/** Rows with which several schedules take the width of the page; 0: as tall as one looks best. */
function rowHeight(plans: Plans) {
  const shown = plans.onScreen();
  const rows = shown.reduce((sum, plan) => sum + (plan.shown?.p ?? 0), 0);
  return shown.length > 1
    ? Math.max(4, Math.min(24, Math.floor((HEIGHT - AXIS - TITLE * shown.length) / Math.max(1, rows))))
    : 0;
}

export function createPrint({ store, plans, timeline }: { store: Store; plans: Plans; timeline: Timeline }) {
  let sheet: HTMLElement | null = null;

  function remove() {
    sheet?.remove();
    sheet = null;
  }

  window.addEventListener("beforeprint", () => {
    remove();
    const { svg } = pictureOf(plans, {
      window: timeline.visible(),
      width: WIDTH,
      row: rowHeight(plans),
      scheme: "light",
      numbers: true,
      legend: true,
      title: true,
      link: "",
    });
    const drawing = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const figures = byId("figures").cloneNode(true);
    (figures as Element).removeAttribute("id");
    for (const node of (figures as Element).querySelectorAll("[id], button, input, progress")) {
      if (node.matches("button, input, progress")) node.remove();
      else node.removeAttribute("id");
    }
    sheet = h(
      "section",
      { class: plans.onScreen().length > 1 ? "sheet many" : "sheet" },
      drawing,
      figures,
      h("p.sheet-foot", `${t("Bubbleline")} · `, store.link()),
    );
    document.body.append(sheet);
  });
  window.addEventListener("afterprint", remove);
}
