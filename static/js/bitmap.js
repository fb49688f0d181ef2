// Thousands of ops at once: binned to pixels, two pixel rows a rank, drawn scaled up. Knows nothing of labels.
import { context, h } from "./dom.js";
import { colour, hatchPattern } from "./palette.js";
import { binRank } from "./pure/bins.js";

/** @import {Row, Rows} from "./pure/layout.js" */
/** @import {Paints} from "./palette.js" */
/** @import {Times} from "./pure/types.js" */
/** @typedef {{source: Rows, times: Times, paints: Paints, end: number | null}} Band  end: up to where idle time is
 *   hatched; null where idle is empty */

const HATCHED = 5; // px of idle time that show a hatch
const sheet = h("canvas");
const ctx = context(sheet);
/** @type {ImageData | null} */
let image = null;
let pixels = new Uint32Array(0);
let classes = new Uint8Array(0);

/** @param {number} width @param {number} height */
function prepare(width, height) {
  if (!image || image.width !== width || image.height < height) {
    image = new ImageData(width, height);
    pixels = new Uint32Array(image.data.buffer);
    sheet.width = width;
    sheet.height = height;
    classes = new Uint8Array(width);
  }
  return image;
}

/** Idle stretches of the row just binned: hatched where there is room for it, quiet otherwise. */
/** @param {CanvasRenderingContext2D} target @param {Row} row @param {number} left @param {number} dpr @param {number} columns
 *  @param {number} part of the width that lies before the end of all ops */
function hatchIdle(target, row, left, dpr, columns, part) {
  const stop = Math.min(columns, Math.round(part * columns));
  const pattern = hatchPattern(dpr);
  target.save();
  target.scale(1 / dpr, 1 / dpr);
  for (let x = 0; x < stop; x++) {
    if (classes[x]) continue;
    const from = x;
    while (x < stop && !classes[x]) x++;
    target.fillStyle = pattern && x - from > HATCHED ? pattern : colour("plot-hatch");
    target.fillRect(left * dpr + from, row.y * dpr, x - from, row.h * dpr);
  }
  target.restore();
}

/**
 * @param {CanvasRenderingContext2D} target @param {Band} band @param {Row[]} rows @param {number} left
 * @param {number} width CSS pixels @param {number} t0 @param {number} t1 @param {number} dpr
 */
export function drawBinned(target, { source, times, paints, end }, rows, left, width, t0, t1, dpr) {
  const columns = Math.max(1, Math.round(width * dpr));
  const data = prepare(columns, rows.length * 2);
  const { top, bottom } = paints;
  rows.forEach((row, at) => {
    binRank(source, times, row.rank, t0, t1, columns, classes);
    if (end !== null) hatchIdle(target, row, left, dpr, columns, (end - t0) / (t1 - t0));
    const upper = 2 * at * columns;
    const lower = upper + columns;
    for (let x = 0; x < columns; x++) {
      pixels[upper + x] = top[classes[x]];
      pixels[lower + x] = bottom[classes[x]];
    }
  });
  ctx.putImageData(data, 0, 0, 0, 0, columns, rows.length * 2);
  target.imageSmoothingEnabled = false;
  rows.forEach((row, at) => target.drawImage(sheet, 0, 2 * at, columns, 2, left, row.y, width, row.h));
}
