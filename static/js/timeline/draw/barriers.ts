// Draws when all ranks have met: a gold line across a lane group at the moment each barrier opens, where lines have
// room; and, over the ops, the one that the pointer or the selection is about.
import { boxOf, font, xOf, type Box } from "./axis.ts";
import { colour } from "../../ui/palette.ts";
import { barriersAt, openings, type Join } from "../../core/timeline/barriers.ts";
import { t } from "../../core/i18n/language.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Row } from "../../core/timeline/layout.ts";
import type { Trace } from "../trace.ts";

type Ctx = CanvasRenderingContext2D;

const SPACING = 8; // px between two lines, on average

export function paintBarriers(ctx: Ctx, lane: Lane, rows: Row[], scene: Scene) {
  if (!lane.schedule.barriers || !hasRoom(lane, scene)) return;
  const { y, foot } = extent(rows);
  ctx.fillStyle = colour("k-c");
  for (const list of openings(lane.schedule, lane.times)) {
    for (const time of list)
      if (time >= scene.t0 && time <= scene.t1) ctx.fillRect(Math.round(xOf(scene, time)), y, 1, foot - y);
  }
}

/** Do the lines of a lane group stand apart? */
export function hasRoom({ schedule, times, end }: Lane, { layout, t0, t1 }: Scene) {
  const lines = schedule.n * openings(schedule, times).length;
  return ((layout.plotWidth / (t1 - t0)) * end) / lines > SPACING;
}

/** From the top of a group's rows to their foot. */
function extent(rows: Row[]) {
  const last = rows[rows.length - 1];
  return { y: rows[0].stripY, foot: last.copyY + last.copyH };
}

/** The barriers of the traced op, and the ops that meet at its own. */
export function drawBarriers(scene: Scene, ctx: Ctx, { lane, op }: Trace, outline: (box: Box, mark: string) => void) {
  const group = scene.layout.groups.find((each) => each.id === lane.id);
  if (!op || !group) return;
  const { waits, meets } = barriersAt(lane.schedule, lane.times, op.i);
  const { y, foot } = extent(group.rows);
  for (const join of [waits, meets]) {
    const x = join && lineAt(scene, join);
    if (!x) continue;
    ctx.fillStyle = colour("surface");
    ctx.fillRect(x - 2, y, 5, foot - y);
    ctx.fillStyle = colour("k-c");
    ctx.fillRect(x - 1, y, 3, foot - y);
  }
  meets?.ops.forEach((i, rank) => {
    const box = i === op.i ? null : boxOf(scene, lane.id, rank, i);
    if (box) outline(box, colour("k-c"));
  });
}

/** The x of a barrier's line; null before it opens and out of sight. */
function lineAt(scene: Scene, { opens }: Join) {
  const { plotLeft, plotWidth } = scene.layout;
  const x = Number.isFinite(opens) ? Math.round(xOf(scene, opens)) : -1;
  return x < plotLeft || x > plotLeft + plotWidth ? null : x;
}

/**
 * The names of the same barriers, over everything else: left of what an op waits for, right of where it meets the
 * others.
 */
export function nameBarriers(scene: Scene, ctx: Ctx, { lane, op }: Trace) {
  const group = scene.layout.groups.find((each) => each.id === lane.id);
  if (!op || !group) return;
  const { waits, meets } = barriersAt(lane.schedule, lane.times, op.i);
  const { y } = extent(group.rows);
  for (const join of [waits, meets]) {
    const x = join && lineAt(scene, join);
    if (!x) continue;
    const tag = t("{barrier} of {micro}", { barrier: join.name, micro: join.micro });
    ctx.font = font(10);
    ctx.textAlign = join === meets ? "left" : "right";
    ctx.textBaseline = "middle";
    const wide = ctx.measureText(tag).width + 9;
    ctx.fillStyle = colour("k-c");
    ctx.fillRect(join === meets ? x - 1 : x + 2 - wide, y, Math.round(wide), 14);
    ctx.fillStyle = "#000000"; // on gold, in both themes
    ctx.fillText(tag, join === meets ? x + 4 : x - 4, y + 7.5);
  }
}
