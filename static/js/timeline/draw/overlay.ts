// The layer over the ops that changes often: the playhead and what is ahead of it, outlines of the traced op and its
// links.
import { boxOf, rowOf, timeAt, xOf, type Box } from "./axis.ts";
import { drawBarriers, nameBarriers } from "./barriers.ts";
import { inset } from "./boxes.ts";
import { TAG, drawTag, strokeHaloed } from "./halo.ts";
import { laneOf, type Lane, type Scene } from "../../data/lanes.ts";
import { messagePath } from "./messages.ts";
import { colour } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { messagesOf } from "../../core/timeline/message_flow.ts";
import { KIND_S, kindOf } from "../../core/schedule/ops.ts";
import { opsInWindow, type Row } from "../../core/timeline/layout.ts";
import { plannedTimes } from "../../data/matched_plan.ts";
import type { Trace } from "../trace.ts";
import type { OpRef } from "../../core/schedule/types.ts";

type Ctx = CanvasRenderingContext2D;

const MOST_VEILED = 2000; // ops that are dimmed one by one; more share a veil with the bubbles between them

/** Dim the ops of a row from an x on, and what stands above and under them. Bubbles stay as strong as they are. */
function veilRow(scene: Scene, ctx: Ctx, lane: Lane, row: Row, from: number, to: number) {
  const { schedule, times } = lane;
  ctx.fillRect(from, row.stripY, to - from, row.y - row.stripY);
  const under = row.y + row.h;
  ctx.fillRect(from, under, to - from, row.commY + row.commH - under);
  const [lo, hi] = opsInWindow(schedule, times, row.rank, timeAt(scene, from), scene.t1);
  for (let i = lo; i < hi;) {
    const begin = times.start[i];
    let end = times.end[i++];
    while (i < hi && times.start[i] === end) end = times.end[i++]; // neighbours without a gap in one
    const [x0, x1] = [Math.max(from, xOf(scene, begin)), Math.min(to, xOf(scene, end))];
    if (x1 > x0) ctx.fillRect(x0, row.y, x1 - x0, row.h);
  }
}

/** Dim ops that have not begun at the playhead. */
export function drawPlayhead(scene: Scene, ctx: Ctx, at: number | null, height: number) {
  if (at === null) return;
  const { layout } = scene;
  const left = layout.plotLeft;
  const right = left + layout.plotWidth;
  const x = xOf(scene, at);
  ctx.fillStyle = colour("plot-dim");
  const veil = Math.max(left, x);
  for (const group of layout.groups) {
    if (laneOf(scene.lanes, group.id)?.kind === "run" || veil >= right || !group.rows.length) continue;
    const lane = laneOf(scene.lanes, group.id);
    if (lane && lane.schedule.codes.length <= MOST_VEILED)
      for (const row of group.rows) veilRow(scene, ctx, lane, row, veil, right);
    else {
      const top = group.rows[0].stripY;
      ctx.fillRect(veil, top, right - veil, group.top + group.height - top);
    }
  }
  if (x < left - 1 || x > right + 1) return;
  ctx.fillStyle = colour("mark-head");
  ctx.fillRect(
    Math.round(x) - 0.5,
    layout.axisHeight - 8,
    1,
    Math.min(height, layout.contentHeight) - layout.axisHeight + 8,
  );
  ctx.beginPath();
  ctx.moveTo(x - 5, layout.axisHeight - 12);
  ctx.lineTo(x + 5, layout.axisHeight - 12);
  ctx.lineTo(x, layout.axisHeight - 4);
  ctx.fill();
}

export function drawTrace(scene: Scene, ctx: Ctx, trace: Trace, selected: boolean) {
  if (trace.op) drawOp(scene, ctx, trace, trace.op, selected);
  if (trace.idle) drawIdle(scene, ctx, trace);
  if (trace.message !== undefined) drawMessage(scene, ctx, trace);
  if (trace.step) drawStep(scene, ctx, trace);
}

/** An op with what it needs and unblocks: lines and rings first, heads, dots and words over them. */
function drawOp(scene: Scene, ctx: Ctx, trace: Trace, op: OpRef, selected: boolean) {
  const here = boxOf(scene, trace.lane.id, op.rank, op.i);
  if (here && trace.lane.kind === "run") drawPlannedMark(scene, ctx, trace.lane, op, here);
  drawBarriers(scene, ctx, trace, (box, mark) => outline(ctx, box, mark, SOLID, 2));
  const sides = [
    { list: trace.needs, mark: colour("mark-needs"), dash: SOLID, into: true, name: t("needs") },
    { list: trace.frees, mark: colour("mark-frees"), dash: DASHED, into: false, name: t("unblocks") },
    // neighbours in the row need none
  ].map(({ list, ...side }) => ({
    ...side,
    boxes: list
      .filter(({ kind }) => kind === "data")
      .flatMap(({ ref }) => {
        const box = boxOf(scene, trace.lane.id, ref.rank, ref.i);
        return box ? [{ box, joined: here !== null && !atBarrier(trace.lane, side.into ? ref.i : op.i) }] : [];
      }),
  }));
  for (const { boxes, mark, dash, into } of sides) {
    for (const { box, joined } of boxes) {
      if (here && joined) drawLink(ctx, into ? box : here, into ? here : box, mark, dash);
      outline(ctx, box, mark, dash, 2);
    }
  }
  if (here) outline(ctx, here, colour("mark-here"), SOLID, selected ? 3 : 2);
  for (const { boxes, mark, into, name } of sides) {
    if (here && into && boxes.some(({ joined }) => joined)) drawHead(ctx, here, mark);
    for (const { box } of boxes) (into ? drawDot : drawHead)(ctx, box, mark);
    for (const { box } of boxes.filter(({ joined }) => joined || !here).slice(0, NAMED))
      label(scene, ctx, box, name, mark);
  }
  nameBarriers(scene, ctx, trace);
}

const NEAR = 2; // px that are no distance

/** Where the plan had a measured op: its outline, dashed, and how far it moved. here: where it was measured. */
function drawPlannedMark(scene: Scene, ctx: Ctx, lane: Lane, op: OpRef, here: Box) {
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
    writeDelay(ctx, scene, x, here.y, lane.times.end[op.i] - plan.end[op.i]);
}

function writeDelay(ctx: Ctx, { layout }: Scene, x: number, y: number, late: number) {
  const size = formatNumber(Number(Math.abs(late).toPrecision(3)));
  const text = late >= 0 ? t("planned; {time} late", { time: size }) : t("planned; {time} early", { time: size });
  drawTag(layout, ctx, x, y - TAG, text, colour("mark-here"));
}

/** Whether an op's output passes a barrier, whose line then replaces the lines of all ranks. */
const atBarrier = ({ schedule }: Trace["lane"], i: number) =>
  i < schedule.count && kindOf(schedule.codes[i], schedule.chunks) >= KIND_S;

/** How long a level of memory holds. */
function drawStep(scene: Scene, ctx: Ctx, { lane, rank, step }: Trace) {
  const row = rowOf(scene, lane.id, rank);
  if (!row || !step) return;
  const left = scene.layout.plotLeft;
  const x = Math.max(left, xOf(scene, step.from));
  const right = Math.min(left + scene.layout.plotWidth, xOf(scene, step.to));
  const level = step.real ? step.real.level / step.real.unit : step.level;
  const tall = Math.max(3, (level / scene.full) * (row.stripH - 2));
  outline(
    ctx,
    { x, y: row.stripY + row.stripH - tall, w: Math.max(1, right - x), h: tall },
    colour("mark-here"),
    SOLID,
    1.5,
  );
}

const SOLID = [] as number[];
const DASHED = [5, 3];

/** A ring outside the op with a halo, so that it shows on every fill. */
function outline(ctx: Ctx, box: Box, mark: string, dash: number[], width: number) {
  const x = box.x - 1;
  const w = Math.max(2, inset(box.w)) + 2;
  strokeHaloed(ctx, () => ctx.strokeRect(x, box.y - 1, w, box.h + 2), { ink: mark, width, dash });
}

const SAG = 22; // px
const NAMED = 3; // ops whose part is written beside them; a barrier has one for each rank

/** A curve from one op's end to another's start; within a row it sags, so that it strikes no label out. */
function drawLink(ctx: Ctx, from: Box, to: Box, mark: string, dash: number[]) {
  const x0 = from.x + from.w;
  const y0 = from.y + from.h / 2;
  const y1 = to.y + to.h / 2;
  const bend = Math.max(10, Math.abs(to.x - x0) / 2);
  const sag = Math.abs(y1 - y0) < 1 && to.x - x0 > from.h / 2 ? Math.min(SAG, from.h) : 0;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0 + sag, to.x - bend, y1 + sag, to.x, y1);
  strokeHaloed(ctx, () => ctx.stroke(), { ink: mark, width: 2, halo: 1.5, dash });
}

/** The head of an arrow that comes in at an op's start. */
function drawHead(ctx: Ctx, box: Box, mark: string) {
  const size = Math.min(8, Math.max(5, box.h / 3));
  const y = box.y + box.h / 2;
  ctx.beginPath();
  ctx.moveTo(box.x + 1.5, y);
  ctx.lineTo(box.x - size, y - size * 0.7);
  ctx.lineTo(box.x - size, y + size * 0.7);
  ctx.closePath();
  ctx.lineWidth = 2;
  ctx.strokeStyle = colour("surface");
  ctx.stroke();
  ctx.fillStyle = mark;
  ctx.fill();
}

/** Where a value comes from: a dot at the end of the op that makes it. */
function drawDot(ctx: Ctx, box: Box, mark: string) {
  ctx.fillStyle = mark;
  ctx.beginPath();
  ctx.arc(box.x + inset(box.w), box.y + box.h / 2, Math.min(4.5, Math.max(2.5, box.h / 5)), 0, 2 * Math.PI);
  ctx.fill();
}

/** What an op is to the traced one, in a word on its upper edge: colour and dashes are not all that tells. */
function label({ layout }: Scene, ctx: Ctx, box: Box, text: string, mark: string) {
  const y = Math.max(layout.axisHeight, box.y - (box.h > 2 * TAG ? TAG / 2 : TAG));
  drawTag(layout, ctx, box.x - 2, y, text, mark);
}

/** A message: the op that sends it, the op that takes it, and the path between. */
function drawMessage(scene: Scene, ctx: Ctx, { lane, message = -1 }: Trace) {
  const all = messagesOf(lane.schedule);
  const sender = boxOf(scene, lane.id, all.from[message], all.giver[message]);
  const receiver = boxOf(scene, lane.id, all.to[message], all.taker[message]);
  const mark = colour("mark-here");
  const dash = all.gradient[message] ? DASHED : SOLID;
  for (const box of [sender, receiver]) if (box) outline(ctx, box, mark, dash, 2);
  const path = messagePath(scene, lane, message);
  const [from, to] = path ? [path.from, path.to] : [sender, receiver];
  if (from && to) drawLink(ctx, from, to, mark, dash);
  if (to) drawHead(ctx, to, mark);
  if (path) drawDot(ctx, path.from, mark);
  if (sender) label(scene, ctx, sender, t("sends"), mark);
  if (receiver) label(scene, ctx, receiver, t("receives"), mark);
}

/** Where idle time is on the screen, as far as it is in sight. */
export function idleBox(scene: Scene, { lane, rank, idle }: Trace) {
  const row = rowOf(scene, lane.id, rank);
  if (!idle || !row) return null;
  const left = scene.layout.plotLeft;
  const x = Math.max(left, xOf(scene, idle.from));
  return { x, y: row.y, w: Math.min(left + scene.layout.plotWidth, xOf(scene, idle.to)) - x, h: row.h };
}

function drawIdle(scene: Scene, ctx: Ctx, trace: Trace) {
  const box = idleBox(scene, trace);
  if (!box) return;
  outline(ctx, box, colour("ink-3"), SOLID, 1.5);
  const awaits = trace.idle?.awaits;
  const awaited = awaits && boxOf(scene, trace.lane.id, awaits.rank, awaits.i);
  if (!awaited) return;
  const end = { ...box, x: box.x + box.w, w: 0 };
  drawLink(ctx, awaited, end, colour("mark-needs"), SOLID);
  outline(ctx, awaited, colour("mark-needs"), SOLID, 2);
  drawHead(ctx, end, colour("mark-needs"));
  drawDot(ctx, awaited, colour("mark-needs"));
  label(scene, ctx, awaited, t("awaited"), colour("mark-needs"));
}
