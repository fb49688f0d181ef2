// Many ops into one row of pixels: what each pixel shows when ops are narrower than pixels. Knows classes, not colours.
//
// Paint class: 0 = idle; 1 + kind * SHADES + chunk % SHADES otherwise, kind 0 F, 1 I, 2 W, 3 B, 4 overlapped pair
// (chunk of its forward half), 5 S, 6 T (these two have no chunk). CLASSES is one more than the largest class.
//
// A pixel shows the class that covers most of it. It is idle only when idle covers more than half of it, and even then
// not when an op narrower than a pixel lies mostly in it: short ops never vanish. `shade` tells how full it is.

import { KIND_T, chunkOf, kindOf } from "./ops.js";
import { opsInWindow } from "./layout.js";

/** @import {Rows} from "./layout.js" */
/** @import {Schedule, Times} from "./types.js" */

export const SHADES = 8;
export const CLASSES = 1 + (KIND_T + 1) * SHADES;

/** @param {number} cls a paint class other than 0 */
export const kindOfClass = (cls) => ((cls - 1) / SHADES) | 0;
/** @param {number} cls a paint class other than 0 @returns {number} chunk % SHADES */
export const shadeOfClass = (cls) => (cls - 1) % SHADES;

/** @type {Map<number, Uint8Array>} */
const lookups = new Map();

/** Paint class by code. @param {number} chunks */
export function classTable(chunks) {
  let table = lookups.get(chunks);
  if (!table) {
    table = Uint8Array.from({ length: 256 }, (_, code) =>
      1 + kindOf(code, chunks) * SHADES + (chunkOf(code, chunks) % SHADES));
    lookups.set(chunks, table);
  }
  return table;
}

/** @param {Schedule} schedule @param {number} i flat index */
export const classOf = (schedule, i) => classTable(schedule.chunks)[schedule.codes[i]];

const cover = new Float64Array(CLASSES); // of the pixel being filled, by class
const stamp = new Float64Array(CLASSES); // the pixel that an entry of cover belongs to
let stamps = 0;

/**
 * Fills out[0..width) with the paint classes of a rank over [t0, t1), and shade[x], if given, with how busy each
 * pixel is (0..255).
 * @param {Rows} schedule @param {Times} times @param {number} rank @param {number} t0 @param {number} t1
 * @param {number} width @param {Uint8Array} out @param {Uint8Array} [shade]
 */
export function binRank(schedule, times, rank, t0, t1, width, out, shade) {
  out.fill(0, 0, width);
  if (shade) shade.fill(0, 0, width);
  if (!(t1 > t0)) return;
  const [lo, hi] = opsInWindow(schedule, times, rank, t0, t1);
  const { start, end } = times;
  const codes = schedule.codes;
  const table = classTable(schedule.chunks);
  const k = width / (t1 - t0);
  let pixel = -1; // the pixel being filled, its best class, that class's cover, all cover, and whether it may be idle
  let best = 0;
  let most = 0;
  let busy = 0;
  let kept = false;
  stamps++;
  for (let i = lo; i < hi; i++) {
    const a = Math.max(0, (start[i] - t0) * k);
    if (a >= width) break; // by rounding only
    const b = Math.min(width, (end[i] - t0) * k);
    const cls = table[codes[i]];
    const from = Math.min(width - 1, a | 0);
    const to = b | 0; // b lies in this pixel, or on its left edge
    if (from !== pixel) {
      if (pixel >= 0) settle(out, shade, pixel, best, busy, kept);
      pixel = from; best = 0; most = 0; busy = 0; kept = false; stamps++;
    }
    const head = to > from ? from + 1 - a : b - a;
    const tail = to > from ? b - to : 0;
    const narrow = b - a < 1;
    const sum = stamp[cls] === stamps ? cover[cls] + head : head;
    stamp[cls] = stamps; cover[cls] = sum; busy += head;
    if (sum > most || best === 0) { most = sum; best = cls; }
    if (narrow && head >= tail) kept = true;
    if (to <= from) continue;
    settle(out, shade, pixel, best, busy, kept);
    for (let x = from + 1; x < to; x++) { out[x] = cls; if (shade) shade[x] = 255; }
    pixel = to; stamps++;
    stamp[cls] = stamps; cover[cls] = tail; most = tail; busy = tail;
    best = tail > 0 ? cls : 0;
    kept = narrow && tail > head;
  }
  if (pixel >= 0 && pixel < width) settle(out, shade, pixel, best, busy, kept);
}

/**
 * @param {Uint8Array} out @param {Uint8Array|undefined} shade @param {number} x @param {number} best
 * @param {number} busy @param {boolean} kept
 */
function settle(out, shade, x, best, busy, kept) {
  if (kept || busy >= 0.5) out[x] = best;
  if (shade) shade[x] = Math.min(255, Math.round(busy * 255));
}
