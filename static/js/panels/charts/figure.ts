// The figure of a chart: plotly draws it, pointer and keys step through its points, and it is saved as a picture.
import { plotly, type Plot, type Plotly } from "./plotly.ts";
import { h } from "../../ui/dom.ts";
import { colour } from "../../ui/palette.ts";
import { saveUrl } from "../../ui/save_file.ts";
import { beside } from "../../core/drawing/chart_points.ts";
import { t } from "../../core/i18n/language.ts";
import type { Chart, ChartAnswer } from "./answers.ts";

const CONFIG = { displayModeBar: false, responsive: false, showTips: false, doubleClick: false };
const RING = "A"; // the trace that marks the schedule on the screen
const SHARP = 3; // pixels of a PNG for each of the page's
const TITLE = 30; // px of a file's first line

type Acts = { put: (at: number, under: boolean) => void; tell: (at: number | null) => void };
type Place = { curveNumber: number; pointNumber: number | [number, number] };

export class Figure {
  acts: Acts;

  node = h("div.charts-figure", { tabindex: 0, role: "application", "aria-roledescription": t("chart") });
  #home = h("div.charts-plot");
  #chart: Chart | null = null;
  #answer: ChartAnswer | null = null;
  #plotly: Plotly | null = null;
  /** Where the keys are. */
  #at: number | null = null;

  constructor(acts: Acts) {
    this.acts = acts;
    this.node.append(this.#home);
    this.node.addEventListener("keydown", (event) => this.#onKey(event));
    this.node.addEventListener("blur", () => this.point(null));
  }

  /** rings: of the other schedules. */
  async draw(drawer: Plotly, chart: Chart, answer: ChartAnswer, title: string, rings: any[]) {
    const fresh = this.#plotly === null;
    if (chart !== this.#chart) this.#at = null;
    this.#chart = chart;
    this.#answer = answer;
    this.#plotly = drawer;
    this.node.setAttribute(
      "aria-label",
      t("{title}. Left and right step from point to point, Enter puts one on the timeline, Shift and Enter under it.", {
        title,
      }),
    );
    const { data, layout } = structuredClone(chart.figure); // plotly writes into what it draws
    const plot = await drawer.react(this.#home, [...data, ...rings], layout, CONFIG);
    if (fresh) this.#listen(plot);
  }

  #listen(plot: Plot) {
    plot.on("plotly_click", (event) => {
      const at = this.#under(event);
      if (at !== null) this.acts.put(at, event.event?.shiftKey ?? false);
    });
    plot.on("plotly_hover", (event) => {
      const at = this.#under(event);
      this.node.classList.toggle("is-over", at !== null && this.#answer?.put(at) !== null);
      this.acts.tell(at);
    });
    plot.on("plotly_unhover", () => {
      this.node.classList.remove("is-over");
      this.acts.tell(null);
    });
  }

  /** The point under the pointer, from plotly's event. */
  #under(event: any) {
    const at = event.points[0]?.customdata;
    return typeof at === "number" && this.#answer ? this.#answer.front(at) : null;
  }

  /** Where plotly has a point: of a vertical line the highest. */
  #placeOf(at: number): Place | null {
    const traces = this.#chart?.figure.data ?? [];
    for (let curveNumber = 0; curveNumber < traces.length; curveNumber++) {
      const { customdata, z, y } = traces[curveNumber];
      if (Array.isArray(customdata?.[0])) {
        const row = customdata.findIndex((line: number[]) => line.includes(at));
        const pointNumber = row < 0 ? -1 : customdata[row].indexOf(at);
        if (pointNumber >= 0 && z[row][pointNumber] !== null) return { curveNumber, pointNumber: [row, pointNumber] };
      } else if (customdata?.includes(at)) {
        let pointNumber = customdata.indexOf(at);
        for (let k = pointNumber + 1; k < customdata.length; k++)
          if (customdata[k] === at && y[k] > y[pointNumber]) pointNumber = k;
        return { curveNumber, pointNumber };
      }
    }
    return null;
  }

  /** Whether a point is inside the picture. */
  #drawn(at: number) {
    const place = this.#placeOf(at);
    if (!place || !this.#chart) return false;
    const { data, layout } = this.#chart.figure;
    const range = layout.yaxis?.range;
    const trace = data[place.curveNumber];
    const y = Array.isArray(place.pointNumber) ? null : trace.y[place.pointNumber];
    if (!range || typeof y !== "number" || (trace.yaxis ?? "y") !== "y") return true;
    return y >= Math.min(...range) && y <= Math.max(...range);
  }

  /** Show a point's box, as the pointer would. */
  point(at: number | null) {
    const place = at !== null && this.#drawn(at) ? this.#placeOf(at) : null;
    if (!place) this.#at = null;
    if (!this.#plotly || !this.#chart) return;
    // A square is pointed at by where it is; its position in a list, as other points have, means nothing to plotly.
    if (place && Array.isArray(place.pointNumber))
      this.#plotly.Fx.hover(this.#home, { xval: place.pointNumber[1], yval: place.pointNumber[0] });
    else if (place) this.#plotly.Fx.hover(this.#home, [place]);
    else this.#plotly.Fx.unhover(this.#home);
  }

  #onKey(event: KeyboardEvent) {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (way && this.#answer) {
      event.preventDefault();
      const at = beside(this.#answer.order, (each) => this.#drawn(each), this.#at, way);
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

  /** A ring like the one around A, elsewhere. */
  static ring(chart: Chart, at: number | null, name: string, paint: string) {
    const like = chart.figure.data.find((trace) => trace.name === RING);
    const trace = chart.figure.data.find((each) => each.customdata?.includes(at));
    if (!like || !trace || at === null) return [];
    const k = trace.customdata.indexOf(at);
    return [{ ...like, name, x: [trace.x[k]], y: [trace.y[k]], marker: { ...like.marker, color: paint } }];
  }
}

/** name: without its ending. */
export async function savePicture(chart: Chart, name: string, title: string, form: "svg" | "png") {
  const { data, layout } = structuredClone(chart.figure);
  const { width } = layout;
  const height = layout.height + TITLE;
  // On the page the background shows through and the setting is beside; a file needs both itself.
  const figure = {
    data,
    layout: {
      ...layout,
      height,
      paper_bgcolor: colour("surface"),
      margin: { ...layout.margin, t: layout.margin.t + TITLE },
      legend: { ...layout.legend, y: 1 - TITLE / height },
      title: {
        text: title,
        x: 0,
        xanchor: "left",
        y: 1,
        yanchor: "top",
        yref: "container",
        pad: { l: 16, t: 10 },
        font: { size: 14, color: colour("ink") },
      },
    },
  };
  const image = await (
    await plotly()
  ).toImage(figure, { format: form, width, height, scale: form === "png" ? SHARP : 1 });
  saveUrl(`${name}.${form}`, image);
}
