// Draws when all ranks have met: a gold line across a lane group at the moment each barrier opens, where lines have room;
// and, over the ops, the one that the pointer or the selection is about.
import { boxOf, font, xOf } from "./axis.js";
import { colour } from "./palette.js";
import { barriersAt, openings } from "./pure/barriers.js";

/** @import {Scene, Lane} from "./lanes.js" */
/** @import {Box} from "./axis.js" */
/** @import {Join} from "./pure/barriers.js" */
/** @import {Row} from "./pure/layout.js" */
/** @import {Trace} from "./trace.js" */
/** @typedef {CanvasRenderingContext2D} Ctx */

const SPACING = 8; // px between two lines, on average

/** @param {Ctx} ctx @param {Lane} lane @param {Row[]} rows @param {Scene} scene */
export function paintBarriers(ctx, lane, rows, scene) {
  if (!lane.schedule.barriers || !hasRoom(lane, scene)) return;
  const { y, foot } = extent(rows);
  ctx.fillStyle = colour("k-c");
  for (const list of openings(lane.schedule, lane.times)) {
    for (const t of list) if (t >= scene.t0 && t <= scene.t1) ctx.fillRect(Math.round(xOf(scene, t)) - 0.5, y, 1, foot - y);
  }
}

/** Do the lines of a lane group stand apart? @param {Lane} lane @param {Scene} scene */
export function hasRoom({ schedule, times, end }, { layout, t0, t1 }) {
  const lines = schedule.n * openings(schedule, times).length;
  return ((layout.plotWidth / (t1 - t0)) * end) / lines > SPACING;
}

/** From the top of a group's rows to their foot. @param {Row[]} rows */
function extent(rows) {
  const last = rows[rows.length - 1];
  return { y: rows[0].stripY, foot: last.copyY + last.copyH };
}

/** The barriers of the traced op, and the ops that meet at its own. */
/** @param {Scene} scene @param {Ctx} ctx @param {Trace} trace @param {(box: Box, mark: string) => void} outline */
export function drawBarriers(scene, ctx, { lane, op }, outline) {
  const group = scene.layout.groups.find((each) => each.id === lane.id);
  if (!op || !group) return;
  const { waits, meets } = barriersAt(lane.schedule, lane.times, op.i);
  for (const join of [waits, meets]) if (join && Number.isFinite(join.opens)) drawLine(scene, ctx, join, extent(group.rows));
  meets?.ops.forEach((i, rank) => {
    const box = i === op.i ? null : boxOf(scene, lane.id, rank, i);
    if (box) outline(box, colour("k-c"));
  });
}

/** @param {Scene} scene @param {Ctx} ctx @param {Join} join @param {{y: number, foot: number}} extent */
function drawLine(scene, ctx, { name, micro, opens }, { y, foot }) {
  const x = Math.round(xOf(scene, opens));
  const left = scene.layout.plotLeft;
  if (x < left || x > left + scene.layout.plotWidth) return;
  ctx.fillStyle = colour("surface");
  ctx.fillRect(x - 2.5, y - 3, 5, foot - y + 3);
  ctx.fillStyle = colour("k-c");
  ctx.fillRect(x - 1.5, y - 3, 3, foot - y + 3);
  const tag = `${name} of ${micro}`;
  ctx.font = font(10);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const wide = ctx.measureText(tag).width + 8;
  ctx.fillRect(x - wide / 2, y - 14, wide, 13);
  ctx.fillStyle = "#000000"; // on gold, in both themes
  ctx.fillText(tag, x, y - 7);
}
