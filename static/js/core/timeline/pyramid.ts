// A schedule too large to be binned in a frame: binned once, finely, and then ever more coarsely, two bins into one.
// What a screen shows is put together from the level that suits it, at a cost that does not depend on the number of
// ops.
import { FULL, binRank, emptyBins, kindsIn, type Bins } from "./bins.ts";
import type { Rows } from "./layout.ts";
import type { Times } from "../schedule/types.ts";

/** Rank r's bins of the g-th kind stand from (r * kinds + g) * count on. */
type Level = { count: number; cover: Uint8Array; cls: Uint8Array };
/** The finest level first. */
export type Pyramid = { kinds: number[]; total: number; levels: Level[] };

const COARSEST = 1024; // bins; fewer than a screen has pixels
const FINER = 2; // bins that a pixel is made of, at least

/** total: where time ends. */
export function buildPyramid(source: Rows, times: Times, total: number): Pyramid {
  const ranks = source.offsets.length - 1;
  const kinds = kindsIn(source);
  let count = COARSEST;
  while (count * ranks < source.codes.length) count *= 2; // about as many bins as ops
  const finest: Level = {
    count,
    cover: new Uint8Array(ranks * kinds.length * count),
    cls: new Uint8Array(ranks * kinds.length * count),
  };
  const row = emptyBins(kinds, count);
  for (let r = 0; r < ranks; r++) {
    binRank(source, times, r, 0, total / count, row);
    finest.cover.set(row.cover, r * row.cover.length);
    finest.cls.set(row.cls, r * row.cls.length);
  }
  const levels = [finest];
  while (levels[levels.length - 1].count > COARSEST) levels.push(halved(levels[levels.length - 1]));
  return { kinds, total, levels };
}

/** Two bins into one. What there is in either is in both. */
function halved({ count, cover, cls }: Level): Level {
  const size = cover.length / 2;
  const half = { count: count / 2, cover: new Uint8Array(size), cls: new Uint8Array(size) };
  for (let x = 0; x < size; x++) {
    const [a, b] = [cover[2 * x], cover[2 * x + 1]];
    half.cover[x] = (a + b + 1) >> 1;
    half.cls[x] = a >= b ? cls[2 * x] : cls[2 * x + 1];
  }
  return half;
}

/** The coarsest level that is fine enough for bins of this width. */
export function levelFor({ total, levels }: Pyramid, step: number): Level | null {
  for (let n = levels.length - 1; n >= 0; n--) if (total / levels[n].count <= step / FINER) return levels[n];
  return null;
}

let edges = new Int32Array(0); // where each bin begins in a level; the same for all ranks of a frame
let edgesOf = "";

/** k: bins of the level in one of these. */
function edgesFor(width: number, from: number, k: number) {
  const key = `${width} ${from} ${k}`;
  if (key === edgesOf) return edges;
  if (edges.length <= width) edges = new Int32Array(width + 1);
  for (let x = 0; x <= width; x++) edges[x] = Math.round((from + x) * k);
  edgesOf = key;
  return edges;
}

/**
 * Fills bins as `binRank` does, from a level instead of from ops: edges are within a quarter of a bin of where they
 * should.
 */
export function sample({ kinds, total }: Pyramid, level: Level, rank: number, from: number, step: number, bins: Bins) {
  const { width, cover, cls, mixed } = bins;
  const { count, cover: covers, cls: classes } = level;
  const at = edgesFor(width, from, (step * count) / total);
  mixed.fill(1);
  for (let g = 0; g < kinds.length; g++) {
    const base = (rank * kinds.length + g) * count;
    const end = base + count;
    let to = base + at[0];
    for (let x = 0, o = g * width; x < width; x++, o++) {
      const before = to;
      to = base + at[x + 1];
      let sum = 0;
      let top = 0;
      let best = 0;
      for (let j = before < base ? base : before, stop = to < end ? to : end; j < stop; j++) {
        const c = covers[j];
        sum += c;
        if (c > top) {
          top = c;
          best = classes[j];
        }
      }
      const n = to - before;
      cls[o] = best;
      if (sum === 0) cover[o] = 0;
      else if (sum === FULL * n) {
        cover[o] = FULL;
        mixed[x] = 0;
      } else cover[o] = sum < n ? 1 : (sum / n + 0.5) | 0;
    }
  }
}
