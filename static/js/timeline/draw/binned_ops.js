// Thousands of ops at once: binned to the screen's pixels. A row of ops is put together from a few layers of pixels and
// copied into an image as tall as on the screen, so that nothing is scaled. Idle pixels stay clear: what lies
// under the ops is painted by the caller. A pan moves the image and bins only what comes into sight.
import { context, h } from "../../ui/dom.js";
import { GAPPED, binRank, emptyBins, kindOfClass, kindsIn, stack } from "../../core/timeline/bins.js";
import { KIND_B, KIND_I, KIND_W } from "../../core/schedule/ops.js";
import { levelFor, sample } from "../../core/timeline/pyramid.js";

/** @import {Bins} from "../../core/timeline/bins.js" */
/** @import {Row, Rows} from "../../core/timeline/layout.js" */
/** @import {Paints} from "../../ui/palette.js" */
/** @import {Pyramid} from "../../core/timeline/pyramid.js" */
/** @import {Times} from "../../core/schedule/types.js" */
/** @typedef {{key: string, source: Rows, owner: Times, times: Times, paints: Paints, pyramid: Pyramid | null}} Band
 *   key: what it is, from frame to frame; owner: whose times these are, or are a part of; pyramid: the same ops, binned
 *   before; null where there are few enough, or it is not ready */
/**
 * @typedef {{left: number, width: number, t0: number, t1: number, dpr: number, bar: number}} Frame where ops stand, in
 *   CSS pixels, and when; bar: the height of the bars that tell kinds apart, 0 for none
 */
/** @typedef {Pick<Row, "rank" | "y" | "h">} Place */
/**
 * @typedef {{ctx: CanvasRenderingContext2D, width: number, first: number, lines: number, step: number, from: number,
 *   shows: string}} Sheet an image of a band: bins from `from` on, one a column, the first of its lines at `first` on
 *   the screen; shows: all else that it depends on
 */
const MOST = 24; // layers of which a column of mixed kinds is made; fewer where the row is low
const SAME = 1e-9; // two steps that differ by less, relatively, are one: a pan keeps the span except for rounding

/** @type {Map<string, Sheet>} */
const sheets = new Map();
/** @type {WeakMap<object, number>} */
const numbers = new WeakMap(); // so that a sheet keeps nothing alive
let last = 0;
let pixels = new Uint32Array(0);
let layers = new Uint32Array(0);
let alone = new Uint8Array(0);
/** @type {Bins} */
let bins = emptyBins([], 0);

/** @param {object} thing */
function numberOf(thing) {
  const number = numbers.get(thing) ?? ++last;
  numbers.set(thing, number);
  return number;
}

/** @param {string} key @returns {Sheet} */
function sheetOf(key) {
  let sheet = sheets.get(key);
  if (!sheet) {
    sheet = { ctx: context(h("canvas")), width: 0, first: 0, lines: 0, step: 0, from: 0, shows: "" };
    sheets.set(key, sheet);
  }
  return sheet;
}

/** @param {number[]} kinds @param {number} width @param {number} lines */
function prepare(kinds, width, lines) {
  if (pixels.length < width * lines) pixels = new Uint32Array(width * lines);
  else pixels.fill(0, 0, width * lines);
  if (layers.length < (MOST + 2) * width) {
    layers = new Uint32Array((MOST + 2) * width);
    alone = new Uint8Array(width);
  }
  if (bins.kinds !== kinds || bins.width !== width) bins = emptyBins(kinds, width);
}

/** How many layers a row has. @param {number} tall pixels */
const layersOf = (tall) => (tall < 8 ? tall : tall < 24 ? 8 : tall < 48 ? 16 : MOST);

/**
 * The layers of a row, from its bins; with bars that tell kinds apart after them two more: the first and the last layer
 * with the bars.
 * @param {Paints} paints
 * @param {number} columns
 * @param {number} count of layers
 * @param {number} bar
 */
function fillLayers({ top, bottom, rim }, columns, count, bar) {
  stack(bins, count, top, bottom, layers, alone);
  if (!bar) return;
  const all = count * columns;
  for (let x = 0; x < columns; x++) {
    const cls = alone[x];
    const kind = cls === 0 ? -1 : kindOfClass(cls);
    layers[all + x] = kind === KIND_W || kind === KIND_B ? rim[cls] : layers[x];
    layers[all + columns + x] = kind === KIND_I || kind === KIND_B ? rim[cls] : layers[all - columns + x];
  }
}

/**
 * Copy the layers to the row's position in the image.
 * @param {number} columns
 * @param {number} count of layers
 * @param {number} from the row's first line, which may be above the image
 * @param {number} tall
 * @param {number} lines of the image
 * @param {number} bar
 */
function copyLayers(columns, count, from, tall, lines, bar) {
  for (let y = Math.max(0, -from); y < tall && from + y < lines; y++) {
    const layer = y < bar ? count : y >= tall - bar ? count + 1 : Math.floor((y * count) / tall);
    pixels.set(layers.subarray(layer * columns, (layer + 1) * columns), (from + y) * columns);
  }
}

/**
 * Fill columns of a sheet anew.
 * @param {Sheet} sheet
 * @param {Band} band
 * @param {Place[]} rows
 * @param {number} dpr
 * @param {number} bar
 * @param {number} x the first column
 * @param {number} width how many
 */
function fill({ ctx, first, lines, step, from }, { source, times, paints, pyramid }, rows, dpr, bar, x, width) {
  prepare(kindsIn(source), width, lines);
  const level = pyramid && levelFor(pyramid, step);
  for (const row of rows) {
    const y = Math.round(row.y * dpr);
    const tall = Math.round((row.y + row.h) * dpr) - y;
    if (tall < 1) continue;
    if (pyramid && level) sample(pyramid, level, row.rank, from + x, step, bins);
    else binRank(source, times, row.rank, from + x, step, bins, tall > GAPPED ? dpr : 0);
    const count = layersOf(tall);
    fillLayers(paints, width, count, bar);
    copyLayers(width, count, y - first, tall, lines, Math.round(bar * dpr));
  }
  ctx.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer, 0, 4 * width * lines), width, lines), x, 0);
}

/** Bring a sheet to where its first bin is number `from`. @param {Sheet} sheet @param {Band} band @param {Place[]} rows
 * @param {number} dpr @param {number} bar @param {number} from */
function move(sheet, band, rows, dpr, bar, from) {
  const by = from - sheet.from;
  const { ctx, width } = sheet;
  sheet.from = from;
  if (by === 0) return;
  if (Math.abs(by) >= width) {
    fill(sheet, band, rows, dpr, bar, 0, width);
    return;
  }
  ctx.globalCompositeOperation = "copy";
  ctx.drawImage(ctx.canvas, -by, 0);
  fill(sheet, band, rows, dpr, bar, by > 0 ? width - by : 0, Math.abs(by));
}

/**
 * Bins begin at whole multiples of a pixel's time from time 0: a pan moves the picture by whole pixels and changes
 * none.
 * @param {CanvasRenderingContext2D} target
 * @param {Band} band
 * @param {Place[]} rows
 * @param {Frame} frame
 */
export function drawBinned(target, band, rows, { left, width: wide, t0, t1, dpr, bar }) {
  const width = Math.max(1, Math.round(wide * dpr));
  const step = (t1 - t0) / width;
  const shown = rows.filter((row) => row.y + row.h > 0 && row.y * dpr < target.canvas.height);
  if (!shown.length || !(step > 0)) return;
  const first = Math.max(0, Math.round(Math.min(...shown.map((row) => row.y)) * dpr));
  const lines =
    Math.min(target.canvas.height, Math.round(Math.max(...shown.map((row) => row.y + row.h)) * dpr)) - first;
  if (lines <= 0) return;
  const sheet = sheetOf(band.key);
  const spots = shown.map((row) => `${row.rank} ${row.y} ${row.h}`).join();
  const shows = `${numberOf(band.owner)} ${numberOf(band.paints)} ${dpr} ${bar} ${spots}`;
  const kept =
    sheet.shows === shows &&
    sheet.width === width &&
    sheet.first === first &&
    sheet.lines === lines &&
    Math.abs(sheet.step / step - 1) < SAME;
  if (kept) {
    move(sheet, band, shown, dpr, bar, Math.round(t0 / sheet.step));
  } else {
    const { canvas } = sheet.ctx;
    if (canvas.width !== width || canvas.height !== lines) Object.assign(canvas, { width, height: lines });
    Object.assign(sheet, { width, first, lines, step, from: Math.round(t0 / step), shows });
    fill(sheet, band, shown, dpr, bar, 0, width);
  }
  target.save();
  target.setTransform(1, 0, 0, 1, 0, 0);
  target.drawImage(sheet.ctx.canvas, Math.round(left * dpr), first);
  target.restore();
}
