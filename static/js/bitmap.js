// Thousands of ops at once: binned to the screen's pixels. A row of ops is put together from a few layers of pixels and
// copied into an image as tall as it stands on the screen, so that nothing is scaled. Idle pixels stay clear: what lies
// under the ops is painted by the caller. Knows nothing of labels.
import { context, h } from "./dom.js";
import { GAPPED, binRank, emptyBins, kindOfClass, kindsIn, stack } from "./pure/bins.js";
import { KIND_B, KIND_I, KIND_W } from "./pure/ops.js";
import { levelFor, sample } from "./pure/pyramid.js";

/** @import {Bins} from "./pure/bins.js" */
/** @import {Row, Rows} from "./pure/layout.js" */
/** @import {Paints} from "./palette.js" */
/** @import {Pyramid} from "./pure/pyramid.js" */
/** @import {Times} from "./pure/types.js" */
/** @typedef {{source: Rows, times: Times, paints: Paints, pyramid: Pyramid | null}} Band  pyramid: the same ops, binned
 *   before; null where there are few enough, or it is not ready */
/** @typedef {{left: number, width: number, t0: number, t1: number, dpr: number, bar: number}} Frame  where ops stand, in CSS
 *   pixels, and when; bar: the height of the bars that tell kinds apart, 0 for none */
/** @typedef {Pick<Row, "rank" | "y" | "h">} Place */

const MOST = 24; // layers of which a column of mixed kinds is made; fewer where the row is low

const sheet = h("canvas");
const ctx = context(sheet);
/** @type {ImageData | null} */
let image = null;
let pixels = new Uint32Array(0);
let layers = new Uint32Array(0);
let classes = new Uint8Array(0);
/** @type {Bins} */
let bins = emptyBins([], 0);

/** @param {number} columns @param {number} height */
function prepare(columns, height) {
  if (!image || image.width !== columns || image.height < height) {
    image = new ImageData(columns, height);
    pixels = new Uint32Array(image.data.buffer);
    sheet.width = columns;
    sheet.height = height;
    layers = new Uint32Array((MOST + 2) * columns);
    classes = new Uint8Array(MOST * columns);
  }
  pixels.fill(0, 0, columns * height);
  return image;
}

/** @param {number[]} kinds @param {number} width */
function binsFor(kinds, width) {
  if (bins.kinds !== kinds || bins.width !== width) bins = emptyBins(kinds, width);
  return bins;
}

/** How many layers a row has. @param {number} tall pixels */
const layersOf = (tall) => (tall < 8 ? tall : tall < 24 ? 8 : tall < 48 ? 16 : MOST);

/** The layers of a row, from its bins, and after them two more: the first and the last one with the bars that tell kinds
 * apart. @param {Paints} paints @param {number} columns @param {number} count of layers */
function fillLayers({ top, bottom, rim }, columns, count) {
  stack(bins, count, classes);
  const half = (count >> 1) * columns;
  const all = count * columns;
  for (let at = 0; at < half; at++) layers[at] = top[classes[at]];
  for (let at = half; at < all; at++) layers[at] = bottom[classes[at]];
  for (let x = 0; x < columns; x++) {
    const cls = classes[x];
    const kind = bins.mixed[x] || cls === 0 ? -1 : kindOfClass(cls);
    layers[all + x] = kind === KIND_W || kind === KIND_B ? rim[cls] : layers[x];
    layers[all + columns + x] = kind === KIND_I || kind === KIND_B ? rim[cls] : layers[all - columns + x];
  }
}

/** Copy the layers to where the row stands in the image. @param {number} columns @param {number} count of layers
 * @param {number} from the row's first line, which may lie above the image @param {number} tall @param {number} lines of the
 * image @param {number} bar */
function copyLayers(columns, count, from, tall, lines, bar) {
  for (let y = Math.max(0, -from); y < tall && from + y < lines; y++) {
    const layer = y < bar ? count : y >= tall - bar ? count + 1 : Math.floor((y * count) / tall);
    pixels.set(layers.subarray(layer * columns, (layer + 1) * columns), (from + y) * columns);
  }
}

/**
 * Bins begin at whole multiples of a pixel's time from time 0: a pan moves the picture by whole pixels and changes none.
 * @param {CanvasRenderingContext2D} target @param {Band} band @param {Place[]} rows @param {Frame} frame
 */
export function drawBinned(target, { source, times, paints, pyramid }, rows, { left, width, t0, t1, dpr, bar }) {
  const columns = Math.max(1, Math.round(width * dpr));
  const step = (t1 - t0) / columns;
  const from = Math.round(t0 / step);
  const shown = rows.filter((row) => row.y + row.h > 0 && row.y * dpr < target.canvas.height);
  if (!shown.length || !(step > 0)) return;
  const first = Math.max(0, Math.round(Math.min(...shown.map((row) => row.y)) * dpr));
  const stop = Math.min(target.canvas.height, Math.round(Math.max(...shown.map((row) => row.y + row.h)) * dpr));
  if (stop <= first) return;
  const data = prepare(columns, stop - first);
  const level = pyramid && levelFor(pyramid, step);
  const into = binsFor(kindsIn(source), columns);
  for (const row of shown) {
    const y = Math.round(row.y * dpr);
    const tall = Math.round((row.y + row.h) * dpr) - y;
    if (tall < 1) continue;
    if (pyramid && level) sample(pyramid, level, row.rank, from, step, into);
    else binRank(source, times, row.rank, from, step, into, tall > GAPPED ? dpr : 0);
    const count = layersOf(tall);
    fillLayers(paints, columns, count);
    copyLayers(columns, count, y - first, tall, stop - first, Math.round(bar * dpr));
  }
  ctx.putImageData(data, 0, 0, 0, 0, columns, stop - first);
  target.save();
  target.setTransform(1, 0, 0, 1, 0, 0);
  target.drawImage(sheet, 0, 0, columns, stop - first, Math.round(left * dpr), first, columns, stop - first);
  target.restore();
}
