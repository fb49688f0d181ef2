// The charts of a lesson, drawn in their places when a reader comes near; a point that is chosen goes on the timeline.
import { answerOf, requestChart, withLook } from "../../panels/charts/answers.js";
import { Figure } from "../../panels/charts/figure.js";
import { plotly } from "../../panels/charts/plotly.js";
import { rowTable } from "../../panels/charts/tables.js";
import { t, tr } from "../../core/i18n/language.js";
import { onRecolour } from "../../ui/appearance.js";
import { h, replace, sentence } from "../../ui/dom.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Store} from "../../data/store.js" */

const NEAR = "400px 0px";
const HEIGHT = 320; // px

/** @param {Store} store @param {HTMLElement} article */
export function createCharts(store, article) {
  const places = [...article.querySelectorAll(".chart")].map((node) =>
    createPlace(store, /** @type {HTMLElement} */ (node)),
  );
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        if (isIntersecting) places.find(({ node }) => node === target)?.draw();
    },
    { rootMargin: NEAR },
  );
  for (const { node } of places) observer.observe(node);
  onRecolour(() => places.forEach(({ redraw }) => redraw()));
  return {
    /** Draw every chart, as for printing. */
    drawAll: async () => {
      await Promise.all(places.map(({ draw }) => draw()));
    },
  };
}

/** @param {Store} store @param {HTMLElement} node */
function createPlace(store, node) {
  const home = /** @type {HTMLElement} */ (node.querySelector(".chart-home"));
  const { chart: name = "", query = "" } = node.dataset;
  const title = (node.querySelector("figcaption > p")?.textContent ?? name).replace(/[.。]$/, "");
  const said = h("p", { class: "chart-said", "aria-live": "polite" });
  /** @type {import("../../panels/charts/answers.js").ChartAnswer | null} */
  let answer = null;
  const figure = new Figure({
    put: (at) => put(at),
    tell: (at) => replace(said, at === null || !answer ? "" : answer.describe(at)),
  });
  const numbers = h("details", {}, h("summary", { text: t("Numbers") }));
  /** @type {Promise<void> | null} */
  let drawn = null;

  /** @param {number} at */
  function put(at) {
    const change = answer?.put(at);
    if (!change) return;
    const { spec } = store.get();
    const changed = /** @type {Spec} */ ({ ...spec, ...change, costs: { ...spec.costs, ...change.costs } });
    store.set({ spec: changed, others: [] }, "none");
  }

  async function drawNow() {
    try {
      const size = { width: home.clientWidth || 600, height: HEIGHT };
      const chart = await requestChart(withLook(`/api/charts/${name}${query}`, "", store.get().view, size));
      const drawer = await plotly();
      answer = answerOf(chart);
      if (!figure.node.isConnected) replace(home, figure.node, said, numbers);
      if ("rows" in chart)
        numbers.replaceChildren(
          h("summary", { text: t("Numbers") }),
          h("div", { class: "chart-table" }, rowTable(chart, title, { put, point: (at) => figure.point(at) })),
        );
      await figure.draw(drawer, chart, answer, title, []);
    } catch (problem) {
      drawn = null;
      replace(home, h("p", { class: "problem", text: sentence(tr(/** @type {any} */ (problem))) }));
    }
  }

  return {
    node,
    draw: () => (drawn ??= drawNow()),
    redraw: () => {
      if (drawn) drawn = drawNow();
    },
  };
}
