// Lines and words over the ops, with a halo or a ground of their own, so that they show on every fill.
import { font } from "./axis.ts";
import { colour } from "../../ui/palette.ts";
import type { Layout } from "../../core/timeline/layout.ts";

type Ctx = CanvasRenderingContext2D;

export const TAG = 13; // px of height

/** Stroke twice: what is wider by the halo under it, then the line itself. */
export function strokeHaloed(
  ctx: Ctx,
  stroke: () => void,
  { ink, width, halo = 2, dash = [] }: { ink: string; width: number; halo?: number; dash?: number[] },
) {
  ctx.strokeStyle = colour("surface");
  ctx.lineWidth = width + halo;
  ctx.setLineDash([]);
  stroke();
  ctx.strokeStyle = ink;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  stroke();
  ctx.setLineDash([]);
}

/** A word in a box that stays within the plot. x, y: its upper left corner. */
export function drawTag({ plotLeft, plotWidth }: Layout, ctx: Ctx, x: number, y: number, text: string, ink: string) {
  ctx.font = font(10);
  const wide = Math.round(ctx.measureText(text).width + 8);
  const left = Math.max(plotLeft, Math.min(x, plotLeft + plotWidth - wide));
  ctx.fillStyle = ink;
  ctx.fillRect(left, y, wide, TAG);
  ctx.fillStyle = colour("surface");
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, left + 4, y + TAG / 2 + 0.5);
}
