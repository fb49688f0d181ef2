// Draws the copy lanes: offloads and reloads as blocks under each row of ops, distinguished by an arrow
// and by lightness.
import { drawBinned, type Band } from "./binned_ops.ts";
import { boxEnd, boxes, gather, inset } from "./boxes.ts";
import { copyPaints, plainTile } from "../../ui/palette.ts";
import { kindOfClass } from "../../core/timeline/bins.ts";
import { OFFLOAD, copyOf } from "../../core/schedule/copies.ts";
import { copyRows, copyTimes } from "../../core/timeline/copy_rows.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Row } from "../../core/timeline/layout.ts";

type Ctx = CanvasRenderingContext2D;

const ARROW = 7; // px
const LEAST = 8; // px of height for an arrow and a number

/** Copies look like rows of ops that stand a little lower. */
export const placesOf = (rows: Row[]) => rows.map((row) => ({ ...row, y: row.copyY, h: row.copyH }));

/** The copies of a lane group, to be binned; null for none. */
export function copyBand({ id, schedule, times, end }: Lane): Band | null {
  const source = copyRows(schedule);
  return (
    source && {
      key: `${id} copies`,
      source,
      owner: times,
      times: copyTimes(schedule, times),
      paints: copyPaints(),
      pyramid: null,
      ground: { tile: plainTile("surface"), until: () => end },
    }
  );
}

export function binCopies(ctx: Ctx, lane: Lane, rows: Row[], { layout, t0, t1 }: Scene, dpr: number) {
  const band = rows[0]?.copyH ? copyBand(lane) : null;
  if (band)
    drawBinned(ctx, band, placesOf(rows), { left: layout.plotLeft, width: layout.plotWidth, t0, t1, dpr, bar: 0 });
}

export function paintCopies(ctx: Ctx, { schedule, times }: Lane, rows: Row[], scene: Scene, dpr: number) {
  const source = copyRows(schedule);
  const height = rows[0]?.copyH;
  if (!source || !height) return;
  gather(source, copyTimes(schedule, times), placesOf(rows), scene, dpr);
  const paints = copyPaints();
  for (let at = 0; at < boxes.n; at = boxEnd(at)) {
    const cls = boxes.cls[boxes.order[at]];
    ctx.fillStyle = paints.fill[cls];
    for (let n = at; n < boxEnd(at); n++) {
      const b = boxes.order[n];
      ctx.fillRect(boxes.x[b], boxes.y[b], inset(boxes.w[b]), height);
    }
    ctx.fillStyle = paints.ink[cls];
    if (height >= LEAST) writeCopies(ctx, at, boxEnd(at), height, kindOfClass(cls), schedule);
  }
}

/** An arrow out of the device or back into it, and the micro-batch beside it. */
function writeCopies(ctx: Ctx, from: number, to: number, height: number, kind: number, schedule: Lane["schedule"]) {
  const size = Math.min(12, Math.max(9, Math.round(height * 0.66)));
  const digits = String(schedule.m - 1).length * size * 0.62;
  const tall = Math.min(6, height - 4);
  ctx.font = `500 ${size}px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (let n = from; n < to; n++) {
    const b = boxes.order[n];
    const number = boxes.w[b] >= digits + ARROW + 6;
    if (boxes.w[b] < ARROW + 4) continue;
    const x = boxes.x[b] + (inset(boxes.w[b]) - ARROW - (number ? digits + 3 : 0)) / 2;
    const y = boxes.y[b] + height / 2;
    drawArrow(ctx, x, y, tall, kind);
    if (number) ctx.fillText(String(copyOf(schedule, boxes.op[b] + schedule.count).micro), x + ARROW + 3, y + 0.5);
  }
}

/** A triangle that points up, away from the device, or down. */
export function drawArrow(ctx: Ctx, x: number, y: number, tall: number, kind: number) {
  const tip = kind === OFFLOAD ? y - tall / 2 : y + tall / 2;
  const foot = kind === OFFLOAD ? y + tall / 2 : y - tall / 2;
  ctx.beginPath();
  ctx.moveTo(x, foot);
  ctx.lineTo(x + ARROW, foot);
  ctx.lineTo(x + ARROW / 2, tip);
  ctx.fill();
}
