// The time axis and the rank labels, and the position of an op or a moment on the screen.
import { unit } from "../../data/costs/time_unit.ts";
import { colour } from "../../ui/palette.ts";
import { formatTime } from "../../core/i18n/numbers.ts";
import { tickStep, ticks } from "../../core/timeline/scale.ts";
import { laneOf, type Scene } from "../../data/lanes.ts";
import type { Layout, Row } from "../../core/timeline/layout.ts";

export type Box = { x: number; y: number; w: number; h: number };
/** The row of a rank's ops, or of its copies. */
export type RowBoxOf = (rank: number, copy: boolean) => { y: number; h: number } | null;

const NUMBER = 12; // px that a rank's number takes

export function xOf({ layout, t0, t1 }: Scene, t: number) {
  return layout.plotLeft + ((t - t0) / (t1 - t0)) * layout.plotWidth;
}

export function timeAt({ layout, t0, t1 }: Scene, x: number) {
  return t0 + ((x - layout.plotLeft) / layout.plotWidth) * (t1 - t0);
}

/** The row of a rank, where its lane is on the screen. */
export const rowOf = ({ layout }: Scene, lane: string | null, rank: number) =>
  layout.groups.find(({ id }) => id === lane)?.rows.find((row) => row.rank === rank);

/** The box of an op or a copy, cut to the plot; null when it is out of sight. */
export function boxOf(scene: Scene, laneId: string, rank: number, i: number): Box | null {
  const lane = laneOf(scene.lanes, laneId);
  const row = rowOf(scene, laneId, rank);
  if (!lane || !row || !Number.isFinite(lane.times.end[i])) return null;
  const { schedule, times } = lane;
  const left = scene.layout.plotLeft;
  const right = left + scene.layout.plotWidth;
  const a = xOf(scene, times.start[i]);
  const b = xOf(scene, times.end[i]);
  if (b < left || a > right) return null;
  const x = Math.max(left, a);
  const w = Math.max(1, Math.min(right, b) - x);
  return i < schedule.count ? { x, y: row.y, w, h: row.h } : { x, y: row.copyY, w, h: Math.max(1, row.copyH) };
}

/** How many ticks there is room for. */
const tickCount = ({ layout }: Scene) => Math.max(2, Math.floor(layout.plotWidth / 88));

/** Hairlines behind the rows. */
export function drawGrid(scene: Scene, ctx: CanvasRenderingContext2D, height: number) {
  const { layout, t0, t1 } = scene;
  const foot = Math.min(height, layout.contentHeight);
  ctx.fillStyle = colour("plot-grid");
  for (const t of ticks(t0, t1, tickCount(scene))) ctx.fillRect(Math.round(xOf(scene, t)), 0, 1, foot);
}

/** taken: where flags stand: a number under one is left out. */
export function drawAxis(scene: Scene, ctx: CanvasRenderingContext2D, width: number, taken: [number, number][] = []) {
  const { layout, t0, t1 } = scene;
  const step = tickStep(t1 - t0, tickCount(scene));
  const right = layout.plotLeft + layout.plotWidth;
  ctx.fillStyle = colour("surface");
  ctx.fillRect(0, 0, width, layout.axisHeight - 5);
  ctx.font = font(11);
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  ctx.fillStyle = colour("ink-3");
  for (const t of ticks(t0, t1, tickCount(scene))) {
    const label = formatTime(t, step);
    const half = ctx.measureText(label).width / 2;
    const x = Math.min(Math.max(xOf(scene, t), layout.plotLeft + half - 4), right - half + 8);
    if (!taken.some(([from, to]) => x + half > from - 2 && x - half < to + 2)) ctx.fillText(label, x, 9);
  }
  ctx.textAlign = "right";
  if (unit()) ctx.fillText(unit(), layout.plotLeft - 8, 9);
}

/** Rank numbers in the gutter, as many as fit; pinned ranks always, with a pin, and a line under them. */
export function drawRanks({ layout, lanes }: Scene, ctx: CanvasRenderingContext2D) {
  ctx.font = font(Math.min(12, Math.max(10, layout.laneHeight)));
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  layout.groups.forEach((group, at) => {
    ctx.fillStyle = colour("ink-3");
    const every = numberedEvery(group.rows.slice(group.pinned));
    // the number of a thin row under it would touch its own
    const last = group.pinned ? group.rows[group.pinned - 1] : null;
    for (const row of group.rows.slice(group.pinned)) {
      if ((row.rank % every && lanes[at].schedule.p > 1) || (last && row.y + row.h / 2 < last.y + last.h / 2 + 13))
        continue;
      ctx.fillText(String(row.rank), layout.plotLeft - 8, row.y + row.h / 2 + 0.5);
    }
    if (group.pinned) drawPinned(ctx, group.rows.slice(0, group.pinned), layout);
  });
}

/** Every rank, every second, fourth and so on has its number, so that numbers do not touch. */
function numberedEvery(rows: Row[]) {
  const pitch = rows.length > 1 ? Math.max(1, (rows[rows.length - 1].y - rows[0].y) / (rows.length - 1)) : Infinity;
  let every = 1;
  while (pitch * every < NUMBER) every *= 2;
  return every;
}

function drawPinned(ctx: CanvasRenderingContext2D, rows: Row[], layout: Layout) {
  let free = -Infinity; // numbers of thin rows that stand next to each other do not overlap
  for (const row of rows) {
    const y = row.y + row.h / 2 + 0.5;
    if (y < free) continue;
    free = y + 10;
    ctx.fillStyle = colour("accent");
    ctx.fillText(String(row.rank), layout.plotLeft - 8, y);
    drawPin(ctx, Math.max(2, layout.plotLeft - 36), y);
  }
  const last = rows[rows.length - 1];
  ctx.fillRect(0, Math.round(last.commY + last.commH), layout.plotLeft + layout.plotWidth, 1);
}

/** A pin seen from its side: head, collar, needle. */
function drawPin(ctx: CanvasRenderingContext2D, x: number, y: number) {
  ctx.fillRect(x + 1, y - 5, 5, 1.5);
  ctx.fillRect(x + 2, y - 4, 3, 4);
  ctx.fillRect(x, y - 0.5, 7, 1.5);
  ctx.fillRect(x + 3, y + 1, 1, 4);
}

/** px of the smallest type: where the timeline is enlarged to be presented, nothing is smaller than the rest. */
export const leastType = () => (document.documentElement.classList.contains("is-presenting") ? 11 : 0);

/** A font of the canvas: as --font in tokens.css. */
export const font = (size: number) =>
  `${Math.max(size, leastType())}px system-ui, -apple-system, "Segoe UI", Roboto, Arial, ` +
  `"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif`;
