// Where the plan had the measured op that is pointed at or selected: its outline, dashed, and how far it moved.
import { xOf, type Box } from "./axis.ts";
import { TAG, drawTag, strokeHaloed } from "./halo.ts";
import { colour } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { plannedTimes } from "../../data/matched_plan.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { OpRef } from "../../core/schedule/types.ts";

type Ctx = CanvasRenderingContext2D;

const NEAR = 2; // px that are no distance

/** here: where it was. */
export function drawPlannedMark(scene: Scene, ctx: Ctx, lane: Lane, op: OpRef, here: Box) {
  if (op.i >= lane.schedule.count) return;
  const plan = plannedTimes(lane, scene.lanes);
  const { layout } = scene;
  const [a, b] = [xOf(scene, plan.start[op.i]), xOf(scene, plan.end[op.i])];
  const x = Math.max(layout.plotLeft, a);
  const w = Math.min(layout.plotLeft + layout.plotWidth, b) - x;
  if (w <= 0) return;
  const stroke = () => ctx.strokeRect(x + 0.5, here.y + 0.5, Math.max(2, w - 1), here.h - 1);
  strokeHaloed(ctx, stroke, { ink: colour("mark-here"), width: 1.5, dash: [4, 3] });
  if (Math.abs(here.x + here.w - (x + w)) > NEAR || Math.abs(here.x - x) > NEAR)
    write(ctx, scene, x, here.y, lane.times.end[op.i] - plan.end[op.i]);
}

function write(ctx: Ctx, { layout }: Scene, x: number, y: number, late: number) {
  const size = formatNumber(Number(Math.abs(late).toPrecision(3)));
  const text = late >= 0 ? t("planned; {time} late", { time: size }) : t("planned; {time} early", { time: size });
  drawTag(layout, ctx, x, y - TAG, text, colour("mark-here"));
}
