// Where the visible ops of one lane group stand: filled by the painting pass, read by the text pass. Reused every
// frame.
import { GAPPED, classTable } from "../../core/timeline/bins.ts";
import { opsInWindow, type Row, type Rows } from "../../core/timeline/layout.ts";
import type { Scene } from "../../data/lanes.ts";
import type { Times } from "../../core/schedule/types.ts";

/** Above this many visible ops they are binned to pixels instead. */
export const RECTANGLES = 5000;

const NARROW = 3; // pixels; ops narrower than that, on average, are binned however few they are

/** Are these ops to be binned? ops: in sight; width: of the plot, in pixels of the screen. */
export const isDense = (ops: number, rows: number, width: number) => ops > RECTANGLES || ops * NARROW > width * rows;

export const boxes = {
  n: 0,
  x: new Float32Array(RECTANGLES),
  w: new Float32Array(RECTANGLES),
  // as wide as w except for the rounding to pixels, so that ops of one length are labelled alike
  room: new Float32Array(RECTANGLES),
  y: new Float32Array(RECTANGLES),
  op: new Int32Array(RECTANGLES),
  slot: new Int32Array(RECTANGLES), // rank * chunks
  cls: new Uint8Array(RECTANGLES),
  order: new Int32Array(RECTANGLES), // box numbers grouped by class
};

const counts = new Int32Array(258);

/** A hairline between neighbours, when there is room; bins leave the same. */
export const inset = (w: number) => (w > GAPPED ? w - 1 : w);

/**
 * Fill `boxes` with the visible ops (or copies) of a lane group and sort them by class. They begin and end on whole
 * pixels of the screen, counted from time 0 as bins are: sharp, of the same widths wherever a pan takes them, and where
 * the bins have them.
 */
export function gather(source: Rows, times: Times, rows: Row[], { layout, t0, t1 }: Scene, dpr: number) {
  const table = classTable(source.chunks);
  const k = Math.max(1, Math.round(layout.plotWidth * dpr)) / (t1 - t0);
  const from = Math.round(t0 * k);
  const left = layout.plotLeft;
  const right = left + layout.plotWidth;
  let n = 0;
  counts.fill(0);
  for (const row of rows) {
    const [lo, hi] = opsInWindow(source, times, row.rank, t0, t1);
    for (let i = lo; i < hi && n < RECTANGLES; i++) {
      const a = Math.max(left, left + (Math.round(times.start[i] * k) - from) / dpr);
      const b = Math.min(right, left + (Math.round(times.end[i] * k) - from) / dpr);
      boxes.x[n] = a;
      boxes.w[n] = Math.max(1 / dpr, b - a);
      boxes.room[n] = Math.min(b - a + 1 / dpr, ((times.end[i] - times.start[i]) * k) / dpr);
      boxes.y[n] = row.y;
      boxes.op[n] = i;
      boxes.slot[n] = row.rank * source.chunks;
      boxes.cls[n] = table[source.codes[i]];
      counts[boxes.cls[n] + 1]++;
      n++;
    }
  }
  boxes.n = n;
  for (let c = 1; c < counts.length; c++) counts[c] += counts[c - 1];
  for (let b = 0; b < n; b++) boxes.order[counts[boxes.cls[b]]++] = b;
}

/** Where the run of equal classes that starts at `at` ends. */
export function boxEnd(at: number) {
  const cls = boxes.cls[boxes.order[at]];
  let to = at + 1;
  while (to < boxes.n && boxes.cls[boxes.order[to]] === cls) to++;
  return to;
}
