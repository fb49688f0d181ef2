// The whole of time in a strip: every lane group, the window in sight, the playhead.
import { drawBinned } from "../draw/binned_ops.ts";
import { copyBand, placesOf } from "../draw/copy_lanes.ts";
import { begin, resize, surface } from "../../ui/canvas.ts";
import { dragMinimap, type Window } from "./minimap_drag.ts";
import { colour, paintsFor, plainTile } from "../../ui/palette.ts";
import { lanes as rowsOf } from "../../core/timeline/layout.ts";
import { pyramidOf } from "../../data/orders/binned_orders.ts";
import type { Scene } from "../../data/lanes.ts";

const PAD = 4;
const STRIP = "strip"; // one image for all that it shows, one after the other
const ROOM_FOR_COPIES = 6; // px of a rank in the strip

export function createMinimap(node: HTMLCanvasElement, timeline: Window) {
  const strip = surface(node);
  const still = surface(document.createElement("canvas"));
  let left = 40;
  let width = 1;

  /** Ops change seldom: they are drawn once, the window and the playhead over them every time. */
  function drawOps(scene: Scene) {
    const wide = node.parentElement?.clientWidth ?? 0; // not its own: resize sets that
    left = scene.layout.plotLeft;
    width = scene.layout.plotWidth;
    resize(still, wide, 40);
    const ctx = begin(still);
    const rows = scene.lanes.reduce((sum, lane) => sum + lane.schedule.p, 0) || 1;
    const gap = scene.lanes.length > 1 ? 2 : 0;
    const each = (40 - 2 * PAD - gap * (scene.lanes.length - 1)) / rows;
    let y = PAD;
    for (const lane of scene.lanes) {
      const copies = each >= ROOM_FOR_COPIES ? copyBand(lane) : null;
      const copy = copies ? each / 4 : 0;
      const at = rowsOf({ p: lane.schedule.p, top: y, laneHeight: each - copy, gap: 0, copy });
      const band = {
        key: STRIP,
        source: lane.schedule,
        owner: lane.times,
        times: lane.times,
        paints: paintsFor(lane.schedule.chunks),
        pyramid: pyramidOf(lane.times),
        ground: { tile: plainTile("plot-idle"), until: () => lane.end },
      };
      const frame = { left, width, t0: 0, t1: timeline.total(), dpr: still.dpr, bar: 0 };
      drawBinned(ctx, band, at, frame);
      if (copies) drawBinned(ctx, { ...copies, key: STRIP }, placesOf(at), frame);
      y += each * lane.schedule.p + gap;
    }
  }

  function draw(at: number | null) {
    resize(strip, still.width, 40);
    const ctx = begin(strip);
    ctx.drawImage(still.node, 0, 0, still.width, 40);
    const { t0, t1 } = timeline.window();
    const k = width / timeline.total();
    const a = left + t0 * k;
    const b = left + t1 * k;
    if (t1 - t0 < timeline.total() * 0.999) {
      ctx.fillStyle = colour("plot-dim");
      ctx.fillRect(left, 0, a - left, 40);
      ctx.fillRect(b, 0, left + width - b, 40);
      ctx.strokeStyle = colour("accent");
      ctx.lineWidth = 2;
      ctx.strokeRect(a, 1, Math.max(4, b - a), 38);
      ctx.fillStyle = colour("accent");
      for (const x of [a, Math.max(a + 4, b)]) ctx.fillRect(x - 3, 13, 6, 14); // edges to be taken hold of
    }
    if (at === null) return;
    ctx.fillStyle = colour("mark-head");
    ctx.fillRect(left + at * k - 0.5, 0, 1.5, 40);
  }

  dragMinimap(node, () => ({ left, width }), timeline);

  return { drawOps, draw };
}
