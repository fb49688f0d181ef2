// The charts of a lesson, drawn in their places when a reader comes near; a point that is chosen goes on the timeline.
import { isPresenting } from "../present/presenting.ts";
import { stateOf } from "./scene_view.ts";
import { answerOf, chartPath, requestChart, withLook, type ChartAnswer } from "../../panels/charts/answers.ts";
import { Figure } from "../../panels/charts/figure.ts";
import { kindOf } from "../../panels/charts/kinds.ts";
import { plotly } from "../../panels/charts/plotly.ts";
import { rowTable } from "../../panels/charts/tables.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { onRecolour } from "../../ui/appearance.ts";
import { h, replace, sentence } from "../../ui/dom.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { TimelineView } from "../timeline_view.ts";

const NEAR = "400px 0px";
const HEIGHT = 320; // px
const PRESENTED = 2.2; // times as large, as app/present.css has it

export function createCharts(view: TimelineView, article: HTMLElement) {
  const places = [...article.querySelectorAll(".chart")].map((node) => createPlace(view, node as HTMLElement));
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
    /** Draw a chart again, in the room that it has now. */
    redraw: (node: HTMLElement) => places.find((place) => place.node === node)?.redraw(),
    /** Draw every chart, as for printing. */
    drawAll: async () => {
      await Promise.all(places.map(({ draw }) => draw()));
    },
  };
}

function createPlace(view: TimelineView, node: HTMLElement) {
  const { store } = view;
  const home = node.querySelector(".chart-home") as HTMLElement;
  const { chart: name = "", query = "" } = node.dataset;
  const title = (node.querySelector("figcaption > p")?.textContent ?? name).replace(/[.。]$/, "");
  const said = h("p.chart-said", { "aria-live": "polite" });
  let answer: ChartAnswer | null = null;
  const figure = new Figure({
    put: (at) => put(at),
    tell: (at) => replace(said, at === null || !answer ? "" : answer.describe(at)),
  });
  const numbers = h("details", h("summary", { text: t("Numbers") }));
  let drawn: Promise<void> | null = null;

  function put(at: number) {
    const change = answer?.put(at);
    if (!change) return;
    const { spec } = store.get();
    const changed = { ...spec, ...change, costs: { ...spec.costs, ...change.costs } } as Spec;
    store.set({ spec: changed, others: [] }, "none");
  }

  async function drawNow() {
    try {
      const height = isPresenting() ? node.clientHeight / PRESENTED : HEIGHT;
      const size = { width: home.clientWidth || 600, height };
      const all = chartPath(kindOf(name), await stateOf(query, view), store.defaults);
      const path = "only" in node.dataset ? `${all}&only=1` : all;
      const chart = await requestChart(withLook(path, "", store.get().view, size));
      const drawer = await plotly();
      answer = answerOf(chart);
      if (!figure.node.isConnected) replace(home, figure.node, h("div.chart-below", numbers, said));
      if ("rows" in chart)
        numbers.replaceChildren(
          h("summary", { text: t("Numbers") }),
          h("div.chart-table", rowTable(chart, title, { put, point: (at) => figure.point(at) })),
        );
      await figure.draw(drawer, chart, answer, title, []);
    } catch (problem) {
      drawn = null;
      replace(home, h("p.problem", { text: sentence(tr(problem as any)) }));
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
