// A chart taken away as a file: the figure as SVG or PNG through plotly, its points as CSV.
import { h } from "./dom.js";
import { colour } from "./palette.js";
import { csv } from "./pure/charts.js";
import { plotly } from "./charts_api.js";

/** @import {Chart} from "./charts_api.js" */

const SHARP = 3; // pixels of a PNG for each of the page's

/** @param {string} name @param {string} href */
function hand(name, href) {
  h("a", { href, download: name }).click();
}

/** @param {Chart} chart @param {string} name without its ending @param {"svg" | "png" | "csv"} form */
export async function save(chart, name, form) {
  if (form === "csv") {
    const url = URL.createObjectURL(new Blob([csv(chart.points)], { type: "text/csv" }));
    hand(`${name}.csv`, url);
    setTimeout(() => URL.revokeObjectURL(url), 1000);
    return;
  }
  const { data, layout } = structuredClone(chart.figure);
  const { width, height } = layout;
  // On the page the ground shows through; a file needs one of its own.
  const figure = { data, layout: { ...layout, paper_bgcolor: colour("surface") } };
  const image = await (await plotly()).toImage(figure, { format: form, width, height, scale: form === "png" ? SHARP : 1 });
  hand(`${name}.${form}`, image);
}
