// Draws the critical path: its ops are clear of the veil, in a ring, joined by a line that shows where the chain
// goes on to another rank. Neighbours on one rank are one ring, and what is narrower than a pixel is drawn once a
// pixel.
import { xOf, type RowBoxOf } from "./axis.ts";
import { strokeHaloed } from "./halo.ts";
import { colour } from "../../ui/palette.ts";
import { firstWhere } from "../../core/first_where.ts";
import { rankOf } from "../../core/schedule/ops.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Path } from "../../core/explain/critical_path.ts";

type Ctx = CanvasRenderingContext2D;
type Run = {
  x0: number;
  x1: number;
  y: number;
  h: number;
  gap: number; // px of waiting of its own before it
};

const HEAD = 5; // px of an arrow's head
const ROOM_FOR_HEAD = 18; // px between the rows of a link
const MOST_HEADS = 400;

export function drawCritical(scene: Scene, ctx: Ctx, lane: Lane, path: Path, place: RowBoxOf) {
  const runs = runsOf(scene, lane, path, place);
  for (const { x0, x1, y, h } of runs) ctx.clearRect(x0, y, Math.max(1, x1 - x0), h);
  const mark = colour("mark-path");
  ctx.lineJoin = "round";
  strokeHaloed(ctx, () => strokeLinks(ctx, runs), { ink: mark, width: 2.5, halo: 2.5 });
  ctx.lineWidth = 2;
  ctx.beginPath();
  for (const { x0, x1, y, h } of runs) if (x1 - x0 > 3) ctx.rect(x0 + 1, y + 1, x1 - x0 - 2, h - 2);
  ctx.stroke();
  ctx.fillStyle = mark;
  for (let at = 1; at < runs.length && runs.length < MOST_HEADS; at++) head(ctx, runs[at - 1], runs[at]);
}

/** A line from each stretch to the next. */
function strokeLinks(ctx: Ctx, runs: Run[]) {
  ctx.beginPath();
  let last = NaN;
  for (let at = 1; at < runs.length; at++) {
    const [a, b] = [runs[at - 1], runs[at]];
    if (Math.round(b.x0) === last && b.x0 - a.x1 < 1) continue; // this pixel has its line
    last = Math.round(b.x0);
    ctx.moveTo(a.x1, a.y + a.h / 2);
    if (b.gap > 1) ctx.lineTo(b.x0 - b.gap, b.y + b.h / 2);
    ctx.lineTo(b.x0, b.y + b.h / 2);
  }
  ctx.stroke();
}

/** Draw a link's direction: a head in its middle, away from ops. */
function head(ctx: Ctx, a: Run, b: Run) {
  const [x0, y0, x1, y1] = [a.x1, a.y + a.h / 2, b.x0 - b.gap, b.y + b.h / 2];
  if (Math.abs(y1 - y0) < ROOM_FOR_HEAD) return;
  ctx.save();
  ctx.translate((x0 + x1) / 2, (y0 + y1) / 2);
  ctx.rotate(Math.atan2(y1 - y0, x1 - x0));
  ctx.beginPath();
  ctx.moveTo(HEAD, 0);
  ctx.lineTo(-HEAD, -HEAD);
  ctx.lineTo(-HEAD, HEAD);
  ctx.fill();
  ctx.restore();
}

/** The chain in sight as stretches on one rank. */
function runsOf(scene: Scene, { schedule }: Lane, { steps }: Path, place: RowBoxOf) {
  const runs: Run[] = [];
  /** The pixel at which a row was last drawn to. */
  const drawn = new Map<number, number>();
  let before = -1; // the row of the step before, in sight or not
  for (
    let at = firstIn(steps, scene.t0);
    at < steps.length && steps[at].from - steps[at].flight - steps[at].gap <= scene.t1;
    at++
  ) {
    const { op, from, to, gap } = steps[at];
    const copy = op >= schedule.count;
    const rank = rankOf(schedule, op);
    const row = 2 * rank + Number(copy);
    const where = place(rank, copy);
    if (!where) {
      before = row;
      continue;
    }
    const [x0, x1] = [xOf(scene, from), xOf(scene, to)];
    const last = runs[runs.length - 1];
    if (last && row === before && x0 - last.x1 < 0.01) last.x1 = x1;
    else if (x1 - x0 < 1 && Math.floor(x1) === drawn.get(row)) {
      before = row;
      continue;
    } else runs.push({ x0, x1, ...where, gap: gap > 0 ? x0 - xOf(scene, from - gap) : 0 });
    drawn.set(row, Math.floor(x1));
    before = row;
  }
  return runs;
}

/** The first step that ends in sight. */
function firstIn(steps: Path["steps"], t0: number) {
  const first = firstWhere(0, steps.length, (at) => steps[at].to >= t0);
  return Math.max(0, first - 1); // its link begins at the one before
}
