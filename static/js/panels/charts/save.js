// A chart taken away as a file: the figure as SVG or PNG through plotly, its numbers as CSV.
import { saveBlob, saveUrl } from "../../ui/save_file.js";
import { spokenFigure } from "./figure.js";
import { colour } from "../../ui/palette.js";
import { plotly } from "./api.js";

/** @import {Chart} from "./api.js" */

const SHARP = 3; // pixels of a PNG for each of the page's
const TITLE = 30; // px of a file's first line

/** @param {string} name without its ending @param {string} text */
export const saveCsv = (name, text) => saveBlob(`${name}.csv`, new Blob([text], { type: "text/csv" }));

/** @param {Chart} chart @param {string} name without its ending @param {string} title @param {"svg" | "png"} form */
export async function savePicture(chart, name, title, form) {
  const { data, layout } = spokenFigure(chart.figure);
  const { width } = layout;
  const height = layout.height + TITLE;
  // On the page the ground shows through and the setting stands beside; a file needs both of its own.
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
