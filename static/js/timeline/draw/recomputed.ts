// What a backward runs again, at its front, in the colour of the forward that it is.
import { SHADES } from "../../core/timeline/bins.ts";
import { againIn } from "../../core/schedule/simulate.ts";
import { KIND_F } from "../../core/schedule/ops.ts";
import { paintsFor } from "../../ui/palette.ts";
import { boxes } from "./boxes.ts";
import type { Lane, Scene } from "../../data/lanes.ts";

const BAND = 0.22; // of the row's height: what is left of the op above and below

/** Cut what runs again off the gathered boxes, whose labels then stand beside it, and paint it where there is ctx. */
export function cutRecomputed(
  { schedule, times, costs, kind }: Lane,
  { layout, t0, t1 }: Scene,
  ctx: CanvasRenderingContext2D | null = null,
  height = 0,
) {
  if (kind === "run" || costs.again === undefined) return;
  const k = layout.plotWidth / (t1 - t0);
  const { fill } = paintsFor(schedule.chunks);
  for (let b = 0; b < boxes.n; b++) {
    const again = againIn(schedule, costs, boxes.op[b]);
    if (!again) continue;
    const end = layout.plotLeft + (times.start[boxes.op[b]] + again.time - t0) * k;
    const wide = Math.min(end, boxes.x[b] + boxes.w[b]) - boxes.x[b];
    if (wide < 1) continue;
    if (ctx) {
      const band = Math.max(2, Math.round(height * BAND));
      ctx.fillStyle = fill[1 + KIND_F * SHADES + ((schedule.codes[again.by] % schedule.chunks) % SHADES)];
      ctx.fillRect(boxes.x[b], boxes.y[b] + band, wide, height - 2 * band);
    }
    boxes.x[b] += wide;
    boxes.w[b] -= wide;
    boxes.room[b] -= wide;
  }
}
