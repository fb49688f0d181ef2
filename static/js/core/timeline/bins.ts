// Many ops into one row of bins, one a pixel: what each shows when ops are narrower than that.
//
// Paint class: 0 = idle; 1 + kind * SHADES + chunk % SHADES otherwise, kind 0 F, 1 I, 2 W, 3 B, 4 overlapped pair
// (chunk of its forward half), 5 S, 6 T (these two have no chunk). CLASSES is one more than the largest class.
//
// Bin x holds the time from (from + x) * step to (from + x + 1) * step: bins are counted from time 0, not from the
// edge of the window, so a pan moves them and changes none. Each has the part that every kind covers. A bin with an
// op narrower than itself is mixed: all its kinds show, stacked by their shares, the least a little, so that short
// ops neither vanish nor flicker. Any other shows what covers most of it.

import { memoized } from "../memoized.ts";
import { KIND_T, chunkOf, kindOf } from "../schedule/ops.ts";
import { opsInWindow, type Rows } from "./layout.ts";
import type { Times } from "../schedule/types.ts";

export type Bins = {
  width: number;
  /**
   * those that there are; of kinds[g] in bin x, cover[g * width + x] is its share, 255 for all of it, and cls[..] its
   * class; what is kept of an op that is mostly in a bin is at least 1
   */
  kinds: number[];
  cover: Uint8Array;
  cls: Uint8Array;
  mixed: Uint8Array;
};

export const SHADES = 8;
export const CLASSES = 1 + (KIND_T + 1) * SHADES;
const KINDS = KIND_T + 1;
export const FULL = 255;
export const GAPPED = 4; // an op wider than this many gaps leaves one to its neighbour

/** cls: a paint class other than 0. */
export const kindOfClass = (cls: number) => ((cls - 1) / SHADES) | 0;
/** cls: a paint class other than 0; Returns chunk % SHADES. */
export const shadeOfClass = (cls: number): number => (cls - 1) % SHADES;

const lookups = new Map<number, Uint8Array>();

/** Paint class by code. */
export function classTable(chunks: number) {
  let table = lookups.get(chunks);
  if (!table) {
    table = Uint8Array.from(
      { length: 256 },
      (_, code) => 1 + kindOf(code, chunks) * SHADES + (chunkOf(code, chunks) % SHADES),
    );
    lookups.set(chunks, table);
  }
  return table;
}

/** The kinds that there are among ops, ascending. */
export const kindsIn = ({ codes, chunks }: Pick<Rows, "codes" | "chunks">) => kindsOf(codes, chunks);

const kindsOf = memoized((codes: Uint8Array, chunks: number) => {
  const seen = new Uint8Array(KINDS);
  const kinds = classTable(chunks).map(kindOfClass);
  for (let i = 0; i < codes.length; i++) seen[kinds[codes[i]]] = 1;
  return Array.from(seen.keys()).filter((kind) => seen[kind]);
});

/** Bins that hold nothing yet. */
export const emptyBins = (kinds: number[], width: number): Bins => ({
  width,
  kinds,
  cover: new Uint8Array(kinds.length * width),
  cls: new Uint8Array(kinds.length * width),
  mixed: new Uint8Array(width),
});

const sum = new Float64Array(KINDS); // of the bin being filled, by place of the kind: how much it covers,
const most = new Float64Array(KINDS); // the longest of its ops there
const best = new Uint8Array(KINDS); // and that one's class
const kept = new Uint8Array(KINDS); // is an op mostly here?

/**
 * Fills the bins with a rank's ops. from: the number of the first bin, whole; step: the time that a bin holds; gap:
 * what a wide op leaves idle at its end, in bins.
 */
export function binRank(source: Rows, times: Times, rank: number, from: number, step: number, bins: Bins, gap = 0) {
  const { width, kinds, cover, cls, mixed } = bins;
  cover.fill(0);
  mixed.fill(0);
  const [lo, hi] = opsInWindow(source, times, rank, from * step, (from + width) * step);
  const { start, end } = times;
  const codes = source.codes;
  const table = classTable(source.chunks);
  const places = Int8Array.from({ length: KINDS }, (_, kind) => kinds.indexOf(kind));
  const k = 1 / step;
  let x = -1; // the bin being filled
  for (let i = lo; i < hi; i++) {
    const a = start[i] * k - from;
    let b = end[i] * k - from;
    if (x >= 0 && a >= x && b < x + 1) {
      // all of it in the bin being filled, as where bins are needed most are
      const c = table[codes[i]];
      const g = places[((c - 1) / SHADES) | 0];
      add(g, c, b - a);
      mixed[x] = kept[g] = 1;
      continue;
    }
    if (gap > 0 && b - a > GAPPED * gap) b -= gap;
    const home = Math.floor(a);
    const first = home < 0 ? 0 : home;
    if (first >= width || b < 0) continue; // by rounding, or only its gap is in sight
    const last = Math.max(first, Math.min(width, Math.ceil(b)) - 1);
    const c = table[codes[i]];
    const g = places[((c - 1) / SHADES) | 0];
    if (first !== x) {
      if (x >= 0) settle(bins, x);
      x = first;
    }
    add(g, c, Math.min(b, first + 1) - Math.max(a, first));
    const at = b - a >= 1 ? -1 : home + 1 - a >= b - home - 1 ? home : home + 1; // the bin with most of a short op
    if (at === first) {
      mixed[first] = 1;
      kept[g] = 1;
    }
    if (last === first) continue;
    settle(bins, x);
    if (last - first > 1) {
      cover.fill(FULL, g * width + first + 1, g * width + last);
      cls.fill(c, g * width + first + 1, g * width + last);
    }
    x = last;
    add(g, c, Math.min(b, last + 1) - last);
    if (at === last) {
      mixed[last] = 1;
      kept[g] = 1;
    }
  }
  if (x >= 0) settle(bins, x);
}

/** part: of the bin. */
function add(g: number, c: number, part: number) {
  sum[g] += part;
  if (part > most[g] || most[g] === 0) {
    most[g] = part;
    best[g] = c;
  }
}

/** Write down the bin that is full now. */
function settle({ width, kinds, cover, cls }: Bins, x: number) {
  for (let g = 0; g < kinds.length; g++) {
    const at = g * width + x;
    cover[at] = Math.max(kept[g], Math.min(FULL, Math.round(sum[g] * FULL)));
    cls[at] = best[g];
    sum[g] = most[g] = kept[g] = best[g] = 0;
  }
}

/**
 * How the bins look from top to bottom, in equal layers. Where a mixed bin has more kinds than there are layers, what
 * covers most of it shows alone.
 */
export function stack(
  { width, kinds, cover, cls, mixed }: Bins,
  layers: number,
  upper: Uint32Array, // what a paint class, or 0 for idle, looks like in the upper half
  lower: Uint32Array, // and in the lower half
  out: Uint32Array, // layer after layer, each as wide as the bins
  alone: Uint8Array, // the class of every bin that shows only one; 0 for the others, and for idle ones
) {
  const half = (layers >> 1) * width;
  const all = layers * width;
  for (let x = 0; x < width; x++) {
    let busy = 0;
    let left = 0; // kinds that there are
    let top = 0; // what covers most, and its index
    let place = x;
    for (let at = x, g = 0; g < kinds.length; g++, at += width) {
      const c = cover[at];
      busy += c;
      if (c > 0) left++;
      if (c > top) {
        top = c;
        place = at;
      }
    }
    let at = x; // in `out`
    if (!mixed[x] || left > layers) {
      const only = mixed[x] || 2 * busy >= FULL ? cls[place] : 0;
      alone[x] = mixed[x] ? 0 : only;
      for (; at < half; at += width) out[at] = upper[only];
      for (; at < all; at += width) out[at] = lower[only];
      continue;
    }
    alone[x] = 0;
    const scale = layers / Math.max(FULL, busy);
    let above = 0; // shares so far
    let foot = 0;
    for (let from = x, g = 0; g < kinds.length; g++, from += width) {
      const c = cover[from];
      if (c === 0) continue;
      left--;
      above += c;
      foot = Math.min(layers - left, Math.max(foot + 1, (scale * above + 0.5) | 0));
      const end = foot * width;
      const shown = cls[from];
      for (const stop = Math.min(end, half); at < stop; at += width) out[at] = upper[shown];
      for (; at < end; at += width) out[at] = lower[shown];
    }
    for (; at < half; at += width) out[at] = upper[0];
    for (; at < all; at += width) out[at] = lower[0];
  }
}
