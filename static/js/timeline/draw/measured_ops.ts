// What only measured lanes have: late starts, and, on demand, a comparison with the plan: ops coloured by how much
// later or earlier than planned they ended, and under them, thin, where the plan had them. The kind of an op is still
// shown by its bars and its letter.
import { drawBinned } from "./binned_ops.ts";
import { boxes, gather, inset } from "./boxes.ts";
import { latePattern, paintsFor, residualPaints } from "../../ui/palette.ts";
import { plannedTimes } from "../../data/matched_plan.ts";
import { lateStart } from "../../core/measured/late_starts.ts";
import { opsInWindow, type Row } from "../../core/timeline/layout.ts";
import { residual, stepOf } from "../../core/measured/residuals.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Times } from "../../core/schedule/types.ts";

type Ctx = CanvasRenderingContext2D;

const STEPS = 7; // from early to late
const LATEST = 3;
const LEAST_LATE = 0.5; // px; a narrower late start is not drawn, a wider one is at least 1 px wide

/** The times that a measured lane is held against; null where it is not. */
export const planOf = (lane: Lane, { late, lanes }: Scene, rows: Row[]) =>
  lane.kind === "run" && (late || rows.some(({ footH }) => footH)) ? plannedTimes(lane, lanes) : null;

/** The colours of the boxes that were gathered last. Returns the colour of a label on a box. */
export function paintResiduals(
  ctx: Ctx,
  { times }: Lane,
  plan: Times,
  full: number, // the end of the scale
  height: number, // of the row
): (box: number) => string {
  const { fill, ink } = residualPaints();
  const step = (b: number) => stepOf(residual(times, plan, boxes.op[b]), full) + LATEST;
  for (let at = 0; at < STEPS; at++) {
    ctx.fillStyle = fill[at];
    for (let b = 0; b < boxes.n; b++)
      if (step(b) === at) ctx.fillRect(boxes.x[b], boxes.y[b], inset(boxes.w[b]), height);
  }
  return (b) => ink[step(b)];
}

/** The same where ops are narrower than a pixel: the farthest from the plan counts. */
export function binResiduals(
  ctx: Ctx,
  { schedule, times }: Lane,
  plan: Times,
  full: number,
  rows: Row[],
  { layout, t0, t1 }: Scene,
  dpr: number,
) {
  const columns = Math.max(1, Math.round(layout.plotWidth * dpr));
  const k = columns / (t1 - t0);
  const { fill } = residualPaints();
  const worst = new Float64Array(columns);
  ctx.save();
  ctx.scale(1 / dpr, 1 / dpr);
  for (const row of rows) {
    worst.fill(NaN);
    const [lo, hi] = opsInWindow(schedule, times, row.rank, t0, t1);
    for (let i = lo; i < hi; i++) {
      const by = residual(times, plan, i);
      const to = Math.min(
        columns,
        Math.max(Math.floor((times.start[i] - t0) * k) + 1, Math.round((times.end[i] - t0) * k)),
      );
      for (let x = Math.max(0, Math.floor((times.start[i] - t0) * k)); x < to; x++)
        if (!(Math.abs(worst[x]) > Math.abs(by))) worst[x] = by;
    }
    const [left, top, tall] = [
      Math.round(layout.plotLeft * dpr),
      Math.round(row.y * dpr),
      Math.max(1, Math.round(row.h * dpr)),
    ];
    for (let x = 0; x < columns;) {
      const [from, step] = [x, stepOf(worst[x], full)];
      const empty = Number.isNaN(worst[x]);
      while (x < columns && Number.isNaN(worst[x]) === empty && (empty || stepOf(worst[x], full) === step)) x++;
      if (empty) continue;
      ctx.fillStyle = fill[step + LATEST];
      ctx.fillRect(left + from, top, x - from, tall);
    }
  }
  ctx.restore();
}

/** The thin rows under the measured ones. */
const feet = (rows: Row[]) =>
  rows.filter(({ footH }) => footH).map((row) => ({ ...row, y: row.y + row.h + 1, h: row.footH ?? 0 }));

/** Where the plan had the ops. */
export function paintPlanned(
  ctx: Ctx,
  { id, schedule }: Lane,
  plan: Times,
  all: Row[],
  scene: Scene,
  dpr: number,
  dense: boolean,
) {
  const rows = feet(all);
  if (!rows.length) return;
  const { layout, t0, t1 } = scene;
  const paints = paintsFor(schedule.chunks);
  if (dense) {
    const band = { key: `${id} plan`, source: schedule, owner: plan, times: plan, paints, pyramid: null };
    drawBinned(ctx, band, rows, { left: layout.plotLeft, width: layout.plotWidth, t0, t1, dpr, bar: 0 });
    return;
  }
  gather(schedule, plan, rows, scene, dpr);
  for (let n = 0; n < boxes.n; n++) {
    const b = boxes.order[n];
    ctx.fillStyle = paints.fill[boxes.cls[b]];
    ctx.fillRect(boxes.x[b], boxes.y[b], inset(boxes.w[b]), rows[0].h);
  }
}

/** Hatch the late starts of a paced run, from the moment from which an op could have run to its start. */
export function paintLateStarts(
  ctx: CanvasRenderingContext2D,
  { schedule, times, noted }: Lane,
  rows: Row[],
  { layout, t0, t1 }: Scene,
  dpr: number,
) {
  const pattern = noted?.paced ? latePattern(dpr) : null;
  if (!pattern) return;
  const k = layout.plotWidth / (t1 - t0);
  ctx.save();
  ctx.scale(1 / dpr, 1 / dpr); // the pattern's tile is in device pixels
  ctx.fillStyle = pattern;
  for (const row of rows) {
    const [lo, hi] = opsInWindow(schedule, times, row.rank, t0, t1);
    const last = Math.min(hi + 1, schedule.offsets[row.rank + 1]); // the late start of the op after may be in sight
    for (let i = lo; i < last; i++) {
      const late = lateStart(times, noted, i);
      if (late * k < LEAST_LATE) continue;
      const end = layout.plotLeft + Math.min(layout.plotWidth, (times.start[i] - t0) * k);
      const begin = Math.max(layout.plotLeft, Math.min(end - 1, layout.plotLeft + (times.start[i] - late - t0) * k));
      if (end > begin) ctx.fillRect(begin * dpr, row.y * dpr, (end - begin) * dpr, row.h * dpr);
    }
  }
  ctx.restore();
}
