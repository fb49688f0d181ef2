// Draws the ops. Few enough: rectangles grouped by colour, with labels on their own pass. Too many: binned to pixels.
import { paintBarriers } from "./barriers.ts";
import { drawBinned } from "./binned_ops.ts";
import { boxEnd, boxes, gather, inset, isDense } from "./boxes.ts";
import { binCopies, paintCopies } from "./copy_lanes.ts";
import { colour, hatchPattern, hatchTile, paintsFor } from "../../ui/palette.ts";
import { copyRows, copyTimes } from "../../core/timeline/copy_rows.ts";
import { opsInWindow, type Row } from "../../core/timeline/layout.ts";
import { flightBefore } from "../../core/timeline/message_flow.ts";
import { KIND_F, KIND_I, KIND_PAIR, KIND_S, KIND_T, KIND_W, kindOf, micros } from "../../core/schedule/ops.ts";
import { hatched, paintHatch } from "./hatch_pattern.ts";
import { LEAST_LABELLED, drawLabels } from "./labels.ts";
import { cutRecomputed } from "./recomputed.ts";
import type * as MeasuredOps from "./measured_ops.ts";
import { QUICKER, pyramidOf } from "../../data/orders/binned_orders.ts";
import type { Lane, Scene } from "../../data/lanes.ts";

/** measured: draws what only runs have; a picture of plans needs none. */
export function paintOps(
  scene: Scene,
  ctx: CanvasRenderingContext2D,
  dpr: number,
  measured: typeof MeasuredOps | null = null,
) {
  const { layout, lanes, t0, t1 } = scene;
  const { sight, visible, dense } = sightOf(scene, ctx.canvas.height / dpr, dpr);
  lanes.forEach((lane, at) => {
    const rows = sight[at];
    const plan = measured?.planOf(lane, scene, rows) ?? null;
    const late = plan && scene.late ? scene.late : 0;
    if (!dense || late) paintBubbles(ctx, lane, rows, scene, dpr);
    if (dense) {
      if (plan && late) measured?.binResiduals(ctx, lane, plan, late, rows, scene, dpr);
      else binOps(ctx, lane, rows, scene, dpr, visible > QUICKER);
      binCopies(ctx, lane, rows, scene, dpr);
      if (plan) measured?.paintPlanned(ctx, lane, plan, rows, scene, dpr, true);
      return;
    }
    for (const part of byHeight(rows)) {
      measured?.paintLateStarts(ctx, lane, part, scene, dpr);
      gather(lane.schedule, lane.times, part, scene, dpr);
      const inkOf = plan && late ? (measured?.paintResiduals(ctx, lane, plan, late, part[0].h) ?? null) : null;
      paintBoxes(ctx, lane, part[0].h, dpr, inkOf !== null);
      if (lane.costs.comm > 0 && lane.kind === "plan") paintMessages(ctx, lane, part, scene);
      cutRecomputed(lane, scene, ctx, part[0].h);
      drawLabels(ctx, lane, part[0].h, micros(lane.schedule), layout.plotWidth / (t1 - t0), inkOf);
      paintCopies(ctx, lane, part, scene, dpr);
      if (plan) measured?.paintPlanned(ctx, lane, plan, part, scene, dpr, false);
    }
    paintBarriers(ctx, lane, layout.groups[at].rows, scene);
  });
}

/**
 * Draw the labels of planned ops again in a window that a veil covers, in ink that can be read on it. Nothing where ops
 * are too many for labels. from: a time.
 */
export function paintLabelsAhead(scene: Scene, ctx: CanvasRenderingContext2D, dpr: number, from: number) {
  const { layout, lanes, t0, t1 } = scene;
  const { sight, dense } = sightOf(scene, ctx.canvas.height / dpr, dpr);
  if (dense) return;
  const left = layout.plotLeft + Math.max(0, ((from - t0) / (t1 - t0)) * layout.plotWidth);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, 0, layout.plotLeft + layout.plotWidth - left, ctx.canvas.height / dpr);
  ctx.clip();
  lanes.forEach((lane, at) => {
    if (lane.kind === "run") return;
    for (const part of byHeight(sight[at])) {
      if (part[0].h < LEAST_LABELLED) continue;
      gather(lane.schedule, lane.times, part, scene, dpr);
      cutRecomputed(lane, scene);
      drawLabels(ctx, lane, part[0].h, micros(lane.schedule), layout.plotWidth / (t1 - t0), null, true);
    }
  });
  ctx.restore();
}

/** Rows of one height each: pinned ranks stand on top and may be taller. */
function byHeight(rows: Row[]) {
  const thin = rows.findIndex(({ h }) => h !== rows[0].h);
  if (thin < 0) return rows.length ? [rows] : [];
  return [rows.slice(0, thin), rows.slice(thin)];
}

/** The rows of each lane that are in sight, how many ops they show, and whether these are to be binned. */
function sightOf({ layout, lanes, t0, t1 }: Scene, height: number, dpr: number) {
  const isInSight = (row: Row) => row.y < height && row.copyY + row.copyH > 0;
  const sight = lanes.map((_, at) => layout.groups[at].rows.filter(isInSight));
  const visible = lanes.reduce((sum, lane, at) => sum + countVisible(lane, sight[at], t0, t1), 0);
  const rows = sight.reduce((sum, { length }) => sum + length, 0);
  return { sight, visible, dense: isDense(visible, rows, layout.plotWidth * dpr) };
}

function countVisible(lane: Lane, rows: Row[], t0: number, t1: number) {
  const { schedule, times } = lane;
  const copies = copyRows(schedule);
  const copied = copyTimes(schedule, times);
  let n = 0;
  for (const { rank } of rows) {
    const [lo, hi] = opsInWindow(schedule, times, rank, t0, t1);
    const [from, to] = copies ? opsInWindow(copies, copied, rank, t0, t1) : [0, 0];
    n += hi - lo + to - from;
  }
  return n;
}

function binOps(
  ctx: CanvasRenderingContext2D,
  lane: Lane,
  rows: Row[],
  { layout, t0, t1 }: Scene,
  dpr: number,
  many: boolean, // enough that a pyramid is quicker
) {
  const { id, schedule, times } = lane;
  const until = (rank: number) => (lane.open ? Math.min(lane.end, rowEnd(lane, rank)) : lane.end);
  const band = {
    ground: { tile: hatchTile(dpr), until },
    key: id,
    source: schedule,
    owner: times,
    times,
    paints: paintsFor(schedule.chunks),
    pyramid: many ? pyramidOf(times) : null,
  };
  drawBinned(ctx, band, rows, {
    left: layout.plotLeft,
    width: layout.plotWidth,
    t0,
    t1,
    dpr,
    bar: barOf(layout.laneHeight),
  });
}

/** How tall the bars are that tell kinds apart, 0 where there is no room. height: of a row. */
const barOf = (height: number) => (height >= 12 ? Math.min(4, Math.max(2, Math.round(height / 9))) : 0);

/** Draw the hatch under a whole row, from the first moment to the last; ops cover it. */
function paintBubbles(ctx: CanvasRenderingContext2D, lane: Lane, rows: Row[], { layout, t0, t1 }: Scene, dpr: number) {
  const k = layout.plotWidth / (t1 - t0);
  const from = Math.max(0, -t0 * k);
  const to = Math.min(layout.plotWidth, (lane.end - t0) * k);
  if (to <= from) return;
  ctx.fillStyle = hatchPattern(dpr) ?? colour("plot-idle");
  ctx.save();
  ctx.scale(1 / dpr, 1 / dpr); // the pattern's tile is in device pixels
  for (const row of rows) {
    const end = lane.open ? Math.min(to, (rowEnd(lane, row.rank) - t0) * k) : to;
    if (end > from) ctx.fillRect((layout.plotLeft + from) * dpr, row.y * dpr, (end - from) * dpr, row.h * dpr);
  }
  ctx.restore();
}

/** When the last op of a rank that has a time ends. */
function rowEnd({ schedule, times }: Lane, rank: number) {
  const [lo, hi] = opsInWindow(schedule, times, rank, 0, Infinity);
  return hi > lo ? times.end[hi - 1] : 0;
}

/** filled: already, with colours that do not tell kinds: only what else tells them is drawn. */
function paintBoxes(ctx: CanvasRenderingContext2D, lane: Lane, height: number, dpr: number, filled: boolean) {
  const lines = hatched();
  const paints = paintsFor(lane.schedule.chunks);
  const { chunks, codes } = lane.schedule;
  const bar = barOf(height);
  for (let at = 0; at < boxes.n; at = boxEnd(at)) {
    const cls = boxes.cls[boxes.order[at]];
    const to = boxEnd(at);
    const kind = kindOf(codes[boxes.op[boxes.order[at]]], chunks);
    ctx.fillStyle = paints.fill[cls];
    for (let n = filled ? to : at; n < to; n++) {
      const b = boxes.order[n];
      ctx.fillRect(boxes.x[b], boxes.y[b], inset(boxes.w[b]), height);
    }
    if (lines) paintHatch(ctx, at, to, height, kind, paints.ink[cls], dpr);
    if (kind === KIND_PAIR && !filled) paintForwardHalves(ctx, at, to, height, paintsFor(chunks), cls);
    else if (bar) paintBars(ctx, at, to, height, bar, kind, filled ? colour("plot-ink") : paints.edge[cls]);
  }
}

/** Kind without colour: I has a bar below, W above, the full backward both, since B = I + W; F has none. S has a corner
 * above, T one below. */
function paintBars(
  ctx: CanvasRenderingContext2D,
  from: number,
  to: number,
  height: number,
  bar: number,
  kind: number,
  edge: string,
) {
  if (kind === KIND_F || kind === KIND_PAIR) return;
  ctx.fillStyle = edge;
  if (kind === KIND_S || kind === KIND_T) {
    paintCorners(ctx, from, to, height, kind);
    return;
  }
  for (let n = from; n < to; n++) {
    const b = boxes.order[n];
    if (boxes.w[b] < 3) continue;
    if (kind !== KIND_W) ctx.fillRect(boxes.x[b], boxes.y[b] + height - bar, inset(boxes.w[b]), bar);
    if (kind !== KIND_I) ctx.fillRect(boxes.x[b], boxes.y[b], inset(boxes.w[b]), bar);
  }
}

function paintCorners(ctx: CanvasRenderingContext2D, from: number, to: number, height: number, kind: number) {
  const size = Math.min(8, Math.round(height / 3));
  ctx.beginPath();
  for (let n = from; n < to; n++) {
    const b = boxes.order[n];
    if (boxes.w[b] < 5) continue;
    const wide = Math.min(size, boxes.w[b] / 2);
    const right = boxes.x[b] + inset(boxes.w[b]);
    const corner = kind === KIND_S ? boxes.y[b] : boxes.y[b] + height;
    ctx.moveTo(right - wide, corner);
    ctx.lineTo(right, corner);
    ctx.lineTo(right, kind === KIND_S ? corner + size : corner - size);
  }
  ctx.fill();
}

/** The forward half of an overlapped pair: the upper left of a split diagonal. */
function paintForwardHalves(
  ctx: CanvasRenderingContext2D,
  from: number,
  to: number,
  height: number,
  paints: { top: Uint32Array },
  cls: number,
) {
  const c = paints.top[cls];
  ctx.fillStyle = `rgb(${c & 255}, ${(c >> 8) & 255}, ${(c >> 16) & 255})`;
  ctx.beginPath();
  for (let n = from; n < to; n++) {
    const b = boxes.order[n];
    ctx.moveTo(boxes.x[b], boxes.y[b]);
    ctx.lineTo(boxes.x[b] + inset(boxes.w[b]), boxes.y[b]);
    ctx.lineTo(boxes.x[b], boxes.y[b] + height);
  }
  ctx.fill();
}

/** The last hop of each message that an idle rank waits for, also where the op that needs it is beyond the window. */
function paintMessages(ctx: CanvasRenderingContext2D, lane: Lane, rows: Row[], { layout, t0, t1 }: Scene) {
  const { schedule, times, costs } = lane;
  const k = layout.plotWidth / (t1 - t0);
  ctx.fillStyle = colour("k-c");
  for (const { rank, y, h } of rows) {
    const tall = Math.max(2, Math.round(h / 3));
    const [lo, hi] = opsInWindow(schedule, times, rank, t0, t1);
    const stop = Math.min(hi + 1, schedule.offsets[rank + 1]);
    for (let i = lo; i < stop; i++) {
      const flight = flightBefore(schedule, times, costs, i);
      if (!flight) continue;
      const x = layout.plotLeft + Math.max(0, (flight.from - t0) * k);
      const end = layout.plotLeft + Math.min(layout.plotWidth, (flight.to - t0) * k);
      if (end > x) ctx.fillRect(x, y + (h - tall) / 2, end - x, tall);
    }
  }
}
