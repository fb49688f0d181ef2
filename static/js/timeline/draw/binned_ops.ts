// Thousands of ops at once: binned to the screen's pixels. A row of ops is put together from a few layers of pixels and
// copied into an image as tall as on the screen, so that nothing is scaled. Idle pixels get the ground of the row, and
// the image goes straight to the canvas; without a ground they stay clear, and what the caller has painted shows. A pan
// moves the image and bins only what comes into sight.
import { context, h } from "../../ui/dom.ts";
import { GAPPED, binRank, emptyBins, kindOfClass, kindsIn, stack, type Bins } from "../../core/timeline/bins.ts";
import { KIND_B, KIND_I, KIND_W } from "../../core/schedule/ops.ts";
import { levelFor, sample, type Pyramid } from "../../core/timeline/pyramid.ts";
import type { Row, Rows } from "../../core/timeline/layout.ts";
import type { Paints, Tile } from "../../ui/palette.ts";
import type { Times } from "../../core/schedule/types.ts";

export type Band = {
  key: string; // what it is, from frame to frame
  source: Rows;
  owner: Times; // whose times these are, or are a part of
  times: Times;
  paints: Paints;
  pyramid: Pyramid | null; // the same ops, binned before; null where there are few enough, or it is not ready
  /** what idle pixels of a row show from time 0 until a time, where the picture of the row ends */
  ground?: { tile: Tile; until: (rank: number) => number };
};
/** Where ops stand, in CSS pixels, and when. */
type Frame = {
  left: number;
  width: number;
  t0: number;
  t1: number;
  dpr: number;
  bar: number; // the height of the bars that tell kinds apart, 0 for none
};
type Place = Pick<Row, "rank" | "y" | "h">;
/**
 * An image of a band, in a buffer that may be larger: bins from `from` on, one a column, the first of its lines at
 * `first` on the screen.
 */
type Sheet = {
  buffer: ArrayBuffer;
  pixels: Uint32Array;
  image: ImageData;
  width: number;
  first: number;
  lines: number;
  step: number;
  from: number;
  shows: string; // all else that it depends on
};
const MOST = 24; // layers of which a column of mixed kinds is made; fewer where the row is low
const SAME = 1e-9; // two steps that differ by less, relatively, are one: a pan keeps the span except for rounding

const sheets = new Map<string, Sheet>();
const numbers = new WeakMap<object, number>(); // so that a sheet keeps nothing alive
let last = 0;
let layers = new Uint32Array(0);
let alone = new Uint8Array(0);
let idle = new Int32Array(0); // the idle columns of a layer
let bins = emptyBins([], 0);
/** By the kinds that there are: a frame has ops and copies by turns. */
const binsOf = new Map<string, Bins>();
let scratch: CanvasRenderingContext2D | null = null; // for bands without a ground

function numberOf(thing: object) {
  const number = numbers.get(thing) ?? ++last;
  numbers.set(thing, number);
  return number;
}

/** The image of a band. */
function sheetOf(key: string, width: number, lines: number): Sheet {
  let sheet = sheets.get(key);
  if (!sheet || sheet.width !== width || sheet.lines !== lines) {
    const held = sheet?.buffer; // sizes change with every p, and megabytes are not to be collected each time
    const buffer = held && held.byteLength >= 4 * width * lines ? held : new ArrayBuffer(4 * width * lines);
    const pixels = new Uint32Array(buffer, 0, width * lines);
    const image = new ImageData(new Uint8ClampedArray(buffer, 0, 4 * width * lines), width, lines);
    sheet = { buffer, pixels, image, width, first: 0, lines, step: 0, from: 0, shows: "" };
    sheets.set(key, sheet);
  }
  return sheet;
}

function prepare(kinds: number[], width: number) {
  if (alone.length < width) {
    layers = new Uint32Array((MOST + 2) * width);
    alone = new Uint8Array(width);
    idle = new Int32Array(width);
  }
  const found = binsOf.get(kinds.join());
  bins = found?.width === width ? found : emptyBins(kinds, width);
  if (bins !== found) binsOf.set(kinds.join(), bins);
}

/** How many layers a row has. tall: pixels. */
const layersOf = (tall: number) => (tall < 8 ? tall : tall < 40 ? 8 : tall < 64 ? 16 : MOST);

/**
 * The layers of a row, from its bins; with bars that tell kinds apart after them two more: the first and the last layer
 * with the bars. count: of layers.
 */
function fillLayers({ top, bottom, rim }: Paints, columns: number, count: number, bar: number) {
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

/** Where a row is in its image. */
function linesOf(row: Place, { first, lines }: Sheet, dpr: number) {
  const y = Math.round(row.y * dpr);
  const tall = Math.round((row.y + row.h) * dpr) - y;
  return { y: y - first, tall, begin: Math.max(0, y - first), end: Math.min(lines, y - first + tall) };
}

/** The columns from time 0 to the end of a row's ground. */
function columnsOf({ from, step, width }: Sheet, { ground }: Band, rank: number) {
  if (!ground) return { begin: 0, end: width };
  return {
    begin: Math.max(0, Math.min(width, -from)),
    end: Math.max(0, Math.min(width, Math.ceil(ground.until(rank) / step) - from)),
  };
}

/** Copy the layers to the row's position in the image; idle columns get the ground. */
function copyLayers(
  { pixels, width, first, from }: Sheet,
  { y, tall, begin, end }: ReturnType<typeof linesOf>,
  count: number, // of layers
  bar: number,
  x: number, // the first column
  columns: number, // how many
  tile: Tile | undefined,
) {
  let shown = -1;
  let n = 0;
  for (let line = begin; line < end; line++) {
    const down = line - y;
    const layer = down < bar ? count : down >= tall - bar ? count + 1 : Math.floor((down * count) / tall);
    const at = line * width + x;
    pixels.set(layers.subarray(layer * columns, (layer + 1) * columns), at);
    if (!tile) continue;
    if (layer !== shown) {
      shown = layer;
      n = 0;
      for (let c = 0, l = layer * columns; c < columns; c++, l++) if (layers[l] === 0) idle[n++] = c;
    }
    const { size } = tile;
    const row = ((first + line) % size) * size;
    const phase = ((((from + x) % size) + size) % size) | 0; // the ground moves along with a pan
    for (let k = 0; k < n; k++) pixels[at + idle[k]] = tile.pixels[row + ((phase + idle[k]) % size)];
  }
}

/** Fill columns of a sheet anew. */
function fill(
  sheet: Sheet,
  { source, times, paints, pyramid, ground }: Band,
  rows: Place[],
  dpr: number,
  bar: number,
  x: number, // the first column
  width: number, // how many
) {
  const { step, from } = sheet;
  prepare(kindsIn(source), width);
  const level = pyramid && levelFor(pyramid, step);
  for (const row of rows) {
    const lines = linesOf(row, sheet, dpr);
    if (lines.tall < 1) continue;
    if (pyramid && level) sample(pyramid, level, row.rank, from + x, step, bins);
    else binRank(source, times, row.rank, from + x, step, bins, lines.tall > GAPPED ? dpr : 0);
    const count = layersOf(lines.tall);
    fillLayers(paints, width, count, bar);
    copyLayers(sheet, lines, count, Math.round(bar * dpr), x, width, ground?.tile);
  }
}

/** Bring a sheet to where its first bin is number `from`. */
function move(sheet: Sheet, band: Band, rows: Place[], dpr: number, bar: number, from: number) {
  const by = from - sheet.from;
  const { pixels, width } = sheet;
  sheet.from = from;
  if (by === 0) return;
  if (Math.abs(by) >= width) {
    fill(sheet, band, rows, dpr, bar, 0, width);
    return;
  }
  // What a line loses at its end comes to the next one's beginning, among the columns that are filled anew.
  pixels.copyWithin(Math.max(0, -by), Math.max(0, by));
  fill(sheet, band, rows, dpr, bar, by > 0 ? width - by : 0, Math.abs(by));
}

/** Put the rows of a sheet on the canvas. left: in pixels of the canvas. */
function put(target: CanvasRenderingContext2D, sheet: Sheet, band: Band, rows: Place[], dpr: number, left: number) {
  const { image, width, lines: tall, first } = sheet;
  let onto = target;
  if (!band.ground) {
    scratch ??= context(h("canvas"));
    if (scratch.canvas.width !== width || scratch.canvas.height !== tall)
      Object.assign(scratch.canvas, { width, height: tall });
    else scratch.clearRect(0, 0, width, tall);
    onto = scratch;
  }
  const [x, y] = onto === target ? [left, first] : [0, 0];
  for (const row of rows) {
    const lines = linesOf(row, sheet, dpr);
    const columns = columnsOf(sheet, band, row.rank);
    const [wide, high] = [columns.end - columns.begin, lines.end - lines.begin];
    if (wide > 0 && high > 0) onto.putImageData(image, x, y, columns.begin, lines.begin, wide, high);
  }
  if (onto === target) return;
  target.save();
  target.setTransform(1, 0, 0, 1, 0, 0);
  target.drawImage(onto.canvas, left, first);
  target.restore();
}

/**
 * Bins begin at whole multiples of a pixel's time from time 0: a pan moves the picture by whole pixels and changes
 * none.
 */
export function drawBinned(
  target: CanvasRenderingContext2D,
  band: Band,
  rows: Place[],
  { left, width: wide, t0, t1, dpr, bar }: Frame,
) {
  const width = Math.max(1, Math.round(wide * dpr));
  const step = (t1 - t0) / width;
  const shown = rows.filter((row) => row.y + row.h > 0 && row.y * dpr < target.canvas.height);
  if (!shown.length || !(step > 0)) return;
  const first = Math.max(0, Math.round(Math.min(...shown.map((row) => row.y)) * dpr));
  const lines =
    Math.min(target.canvas.height, Math.round(Math.max(...shown.map((row) => row.y + row.h)) * dpr)) - first;
  if (lines <= 0) return;
  const sheet = sheetOf(band.key, width, lines);
  const spots = shown.map((row) => `${row.rank} ${row.y} ${row.h}`).join();
  const ground = band.ground ? numberOf(band.ground.tile) : 0;
  const shows = `${numberOf(band.owner)} ${numberOf(band.paints)} ${ground} ${dpr} ${bar} ${spots}`;
  if (sheet.shows === shows && sheet.first === first && Math.abs(sheet.step / step - 1) < SAME) {
    move(sheet, band, shown, dpr, bar, Math.round(t0 / sheet.step));
  } else {
    Object.assign(sheet, { first, step, from: Math.round(t0 / step), shows });
    fill(sheet, band, shown, dpr, bar, 0, width);
  }
  put(target, sheet, band, shown, dpr, Math.round(left * dpr));
}
