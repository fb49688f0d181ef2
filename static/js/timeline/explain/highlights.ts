// What is laid over the ops on demand: the critical path, and one micro-batch followed through the pipeline. The rest
// is dimmed. Drawn once for a window into a canvas of its own, so that a frame of playback only copies it.
import { begin, resize, surface } from "../../ui/canvas.ts";
import { drawCritical } from "../draw/critical_path.ts";
import { h } from "../../ui/dom.ts";
import { colour } from "../../ui/palette.ts";
import { criticalPath } from "../../core/explain/critical_path.ts";
import { follow, type Journey } from "../../core/explain/micro_batch_path.ts";
import { drawJourney } from "../draw/micro_batch_path.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { RowBoxOf } from "../draw/axis.ts";
import type { Row } from "../../core/timeline/layout.ts";
import type { Times } from "../../core/schedule/types.ts";
import type { Store } from "../../data/store.ts";

type Ctx = CanvasRenderingContext2D;

/** The critical path of a lane, if it is switched on. */
export const pathOf = (store: Store, lane: Lane) =>
  store.get().view.crit ? criticalPath(lane.schedule, lane.times, lane.costs) : null;

/** Those of one micro-batch. */
let journeys: WeakMap<Times, Journey | null> = new WeakMap();
let journeysOf = -1;

/** The way of the micro-batch that is followed. */
export function journeyOf(store: Store, { schedule, times, costs }: Lane) {
  const { micro } = store.get().view;
  if (micro === null) return null;
  if (micro !== journeysOf) journeys = new WeakMap();
  journeysOf = micro;
  let found = journeys.get(times);
  if (found === undefined) journeys.set(times, (found = follow(schedule, times, costs, micro)));
  return found;
}

export function createHighlights(store: Store) {
  const layer = surface(h("canvas"));
  /** The scene on the layer. */
  let drawn: Scene | null = null;
  let drawnFor = "";

  const wanted = () => {
    const { crit, micro } = store.get().view;
    return crit || micro !== null ? `${crit} ${micro}` : "";
  };

  function redraw(scene: Scene, width: number, height: number) {
    resize(layer, width, height);
    const ctx = begin(layer);
    const { plotLeft, plotWidth, axisHeight } = scene.layout;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plotLeft, axisHeight - 4, plotWidth, height);
    ctx.clip();
    scene.lanes.forEach((lane, at) => drawLane(scene, ctx, lane, scene.layout.groups[at].rows));
    ctx.restore();
  }

  function drawLane(scene: Scene, ctx: Ctx, lane: Lane, rows: Row[]) {
    const path = pathOf(store, lane);
    const journey = journeyOf(store, lane);
    if (!path && !journey) return;
    veil(scene, ctx, rows);
    const place = placesOf(rows);
    if (path) drawCritical(scene, ctx, lane, path, place);
    if (journey) drawJourney(scene, ctx, lane, journey, place);
  }

  return {
    active: () => wanted() !== "",
    draw(scene: Scene, ctx: Ctx, width: number, height: number) {
      const now = wanted();
      if (!now || width < 1 || height < 1) return;
      if (scene !== drawn || now !== drawnFor) redraw(scene, width, height);
      drawn = scene;
      drawnFor = now;
      ctx.drawImage(layer.node, 0, 0, width, height);
    },
  };
}

export type Highlights = ReturnType<typeof createHighlights>;

function placesOf(rows: Row[]): RowBoxOf {
  const byRank = new Map(rows.map((row) => [row.rank, row]));
  return (rank, copy) => {
    const row = byRank.get(rank);
    if (!row) return null;
    return copy ? { y: row.copyY, h: Math.max(1, row.copyH) } : { y: row.y, h: row.h };
  };
}

/** Everything steps back but the memory strips. */
function veil({ layout }: Scene, ctx: Ctx, rows: Row[]) {
  ctx.fillStyle = colour("plot-veil");
  for (const { y, h: tall, copyH, commH } of rows)
    ctx.fillRect(layout.plotLeft, y, layout.plotWidth, tall + copyH + commH);
}
