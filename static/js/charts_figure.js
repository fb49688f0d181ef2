// The figure of a chart: plotly draws it, pointer and keys step through its points. Knows plotly, no server and no state.
import { h } from "./dom.js";
import { beside, front } from "./pure/charts.js";

/** @import {Chart, Plot, Plotly} from "./charts_api.js" */

const CONFIG = { displayModeBar: false, responsive: false, showTips: false, doubleClick: false };
const RING = "A"; // the trace that marks the schedule on the screen

/** @typedef {{put: (at: number, second: boolean) => void, tell: (at: number | null) => void}} Acts */

export class Figure {
  node = h("div", { class: "charts-figure", tabindex: 0, role: "application", "aria-roledescription": "chart" });
  #home = h("div", { class: "charts-plot" });
  /** @type {Chart | null} */
  #chart = null;
  /** @type {Plotly | null} */
  #plotly = null;
  /** @type {number | null} where the keys are */
  #at = null;

  /** @param {Acts} acts */
  constructor(acts) {
    this.acts = acts;
    this.node.append(this.#home);
    this.node.addEventListener("keydown", (event) => this.#onKey(event));
    this.node.addEventListener("blur", () => this.point(null));
  }

  /** @param {Plotly} plotly @param {Chart} chart @param {string} title @param {any} ring of schedule B, or null */
  async draw(plotly, chart, title, ring) {
    const fresh = this.#plotly === null;
    this.#chart = chart;
    this.#plotly = plotly;
    this.node.setAttribute("aria-label", `${title}. Left and right step from point to point, Enter puts one on the timeline, Shift and Enter under it.`);
    // Plotly fills in what it draws; an answer that is kept must stay as it came.
    const { data, layout } = structuredClone(chart.figure);
    const plot = await plotly.react(this.#home, ring ? [...data, ring] : data, layout, CONFIG);
    if (fresh) this.#listen(plot);
  }

  /** @param {Plot} plot */
  #listen(plot) {
    plot.on("plotly_click", (event) => {
      const at = this.#under(event);
      if (at !== null) this.acts.put(at, event.event?.shiftKey ?? false);
    });
    plot.on("plotly_hover", (event) => {
      this.node.classList.add("is-over");
      this.acts.tell(this.#under(event));
    });
    plot.on("plotly_unhover", () => {
      this.node.classList.remove("is-over");
      this.acts.tell(null);
    });
  }

  /** The point that plotly says is pointed at. @param {any} event */
  #under(event) {
    const at = event.points[0]?.customdata;
    return typeof at === "number" && this.#chart ? front(this.#chart.points, at) : null;
  }

  /** Where plotly has a point. @param {number} at */
  #placeOf(at) {
    const traces = this.#chart?.figure.data ?? [];
    for (let curveNumber = 0; curveNumber < traces.length; curveNumber++) {
      const pointNumber = traces[curveNumber].customdata?.indexOf(at) ?? -1;
      if (pointNumber >= 0) return { curveNumber, pointNumber };
    }
    return null;
  }

  /** Whether a point is inside the picture. @param {number} at */
  #drawn(at) {
    const place = this.#placeOf(at);
    if (!place || !this.#chart) return false;
    const { data, layout } = this.#chart.figure;
    const [a, b] = layout.yaxis.range;
    const y = data[place.curveNumber].y[place.pointNumber];
    return y >= Math.min(a, b) && y <= Math.max(a, b);
  }

  /** Show a point's box, as the pointer would. @param {number | null} at */
  point(at) {
    const place = at !== null && this.#drawn(at) ? this.#placeOf(at) : null;
    if (!place) this.#at = null;
    if (!this.#plotly || !this.#chart) return;
    if (place) this.#plotly.Fx.hover(this.#home, [place]);
    else this.#plotly.Fx.unhover(this.#home);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way && this.#chart) {
      event.preventDefault();
      const at = beside(this.#chart.points, (each) => this.#drawn(each), this.#at, way);
      this.point(at);
      this.#at = at;
      this.acts.tell(at);
    } else if (event.key === "Enter" && this.#at !== null) {
      event.preventDefault();
      this.acts.put(this.#at, event.shiftKey);
    } else if (event.key === "Escape" && this.#at !== null) {
      event.stopPropagation();
      this.point(null);
      this.acts.tell(null);
    }
  }

  /** A ring like the one around A, elsewhere. @param {Chart} chart @param {number | null} at @param {string} colour */
  static ring(chart, at, colour) {
    const like = chart.figure.data.find((trace) => trace.name === RING);
    const trace = chart.figure.data.find((each) => each.customdata?.includes(at));
    if (!like || !trace || at === null) return null;
    const k = trace.customdata.indexOf(at);
    return { ...like, name: "B", x: [trace.x[k]], y: [trace.y[k]], marker: { ...like.marker, color: colour } };
  }
}
