// Draws the path of one micro-batch: its ops are clear of the veil, a line leads down the stages through its forwards
// (solid) and back up through its backwards (dashed), and dotted lines lead to its weight gradients and copies.
import { font, xOf, type RowBoxOf } from "./axis.ts";
import { strokeHaloed } from "./halo.ts";
import { colour } from "../../ui/palette.ts";
import { rankOf } from "../../core/schedule/ops.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Journey } from "../../core/explain/micro_batch_path.ts";

type Ctx = CanvasRenderingContext2D;
type Box = { x0: number; x1: number; y: number; h: number };

const DASH = [6, 4];
const DOTS = [1.5, 4];

export function drawJourney(scene: Scene, ctx: Ctx, lane: Lane, journey: Journey, place: RowBoxOf) {
  const { schedule, times } = lane;
  const boxOf = (i: number): Box | null => {
    const copy = i >= schedule.count;
    const where = Number.isFinite(times.end[i]) ? place(rankOf(schedule, i), copy) : null;
    return where && { x0: xOf(scene, times.start[i]), x1: xOf(scene, times.end[i]), ...where };
  };
  const boxes = (list: number[]) => list.map(boxOf).filter((box) => box !== null);
  const { forward, backward, weights, shards, copies } = journey;
  for (const { x0, x1, y, h } of boxes([...forward, ...backward, ...weights, ...shards, ...copies]))
    ctx.clearRect(x0, y, Math.max(1, x1 - x0), h);
  weights.forEach((i, at) => line(ctx, boxes([journey.origins[at], i]).map(low), DOTS, 1.5));
  for (let at = 0; at + 1 < copies.length; at += 2) line(ctx, boxes(copies.slice(at, at + 2)), DOTS, 1.5);
  const turn = journey.way.length - backward.length;
  line(ctx, boxes(journey.way.slice(turn - 1)), DASH, 2);
  line(ctx, boxes(journey.way.slice(0, turn)), [], 2);
  rings(ctx, boxes([...forward, ...backward, ...shards]), [], 2);
  rings(ctx, boxes([...weights, ...copies]), [3, 2], 1.5);
  flags(scene, ctx, journey, boxOf);
}

/** Its lower part, so that a line along the row strikes no label out. */
const low = ({ x0, x1, y, h }: Box): Box => ({ x0, x1, y: y + h * 0.64, h: h * 0.36 });

function rings(ctx: Ctx, list: Box[], dash: number[], wide: number) {
  ctx.strokeStyle = colour("mark-way");
  ctx.lineWidth = wide;
  ctx.setLineDash(dash);
  for (const { x0, x1, y, h } of list) if (x1 - x0 > 3) ctx.strokeRect(x0 + 1, y + 1, x1 - x0 - 2, h - 2);
  ctx.setLineDash([]);
}

/** From each op's end to the next one's start, bent so that it leaves and comes in level. */
function line(ctx: Ctx, list: Box[], dash: number[], wide: number) {
  const stroke = () => {
    ctx.beginPath();
    for (let at = 1; at < list.length; at++) {
      const [a, b] = [list[at - 1], list[at]];
      const [ya, yb] = [a.y + a.h / 2, b.y + b.h / 2];
      const bend = Math.min(24, Math.max(0, (b.x0 - a.x1) / 2));
      // along a row it strikes no label out
      const sag = Math.abs(yb - ya) < 1 && b.x0 - a.x1 > a.h ? Math.min(24, a.h * 0.4) : 0;
      ctx.moveTo(a.x1, ya);
      ctx.bezierCurveTo(a.x1 + bend, ya + sag, b.x0 - bend, yb + sag, b.x0, yb);
    }
    ctx.stroke();
  };
  strokeHaloed(ctx, stroke, { ink: colour("mark-way"), width: wide, halo: 2.5, dash });
}

/** A dot where it enters and one where it is done, with its number. */
function flags(scene: Scene, ctx: Ctx, journey: Journey, boxOf: (i: number) => Box | null) {
  const first = boxOf(journey.way[0]);
  if (!first) return;
  ctx.font = `600 ${font(11)}`;
  const text = String(journey.micro);
  const wide = Math.max(16, ctx.measureText(text).width + 9);
  const x = Math.max(scene.layout.plotLeft, first.x0);
  const y = Math.max(first.y - 5, scene.layout.axisHeight - 3);
  ctx.fillStyle = colour("mark-way");
  ctx.beginPath();
  ctx.roundRect(x, y, wide, 15, 4);
  ctx.fill();
  ctx.fillStyle = colour("surface");
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(text, x + wide / 2, y + 8);
}
