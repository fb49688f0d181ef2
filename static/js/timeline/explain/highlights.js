// What is laid over the ops on demand: the critical path, and one micro-batch followed through the pipeline. The rest
// is dimmed. Drawn once for a window into a canvas of its own, so that a frame of playback only copies it.
import { begin, resize, surface } from "../../ui/canvas.js";
import { drawCritical } from "../draw/critical_path.js";
import { h } from "../../ui/dom.js";
import { colour } from "../../ui/palette.js";
import { criticalPath } from "../../core/explain/critical_path.js";
import { follow } from "../../core/explain/micro_batch_path.js";
import { drawJourney } from "../draw/micro_batch_path.js";

/** @import {Lane, Scene} from "../../data/lanes.js" */
/** @import {RowBoxOf} from "../draw/axis.js" */
/** @import {Row} from "../../core/timeline/layout.js" */
/** @import {Journey} from "../../core/explain/micro_batch_path.js" */
/** @import {Times} from "../../core/schedule/types.js" */
/** @import {Store} from "../../data/store.js" */
/** @typedef {CanvasRenderingContext2D} Ctx */

/** The critical path of a lane, if it is switched on. @param {Store} store @param {Lane} lane */
export const pathOf = (store, lane) =>
  store.get().view.crit ? criticalPath(lane.schedule, lane.times, lane.costs) : null;

/** @type {WeakMap<Times, Journey | null>} those of one micro-batch */
let journeys = new WeakMap();
let journeysOf = -1;

/** The way of the micro-batch that is followed. @param {Store} store @param {Lane} lane */
export function journeyOf(store, { schedule, times, costs }) {
  const { micro } = store.get().view;
  if (micro === null) return null;
  if (micro !== journeysOf) journeys = new WeakMap();
  journeysOf = micro;
  let found = journeys.get(times);
  if (found === undefined) journeys.set(times, (found = follow(schedule, times, costs, micro)));
  return found;
}

/** @param {Store} store */
export function createHighlights(store) {
  const layer = surface(h("canvas"));
  /** @type {Scene | null} the scene on the layer */
  let drawn = null;
  let drawnFor = "";

  const wanted = () => {
    const { crit, micro } = store.get().view;
    return crit || micro !== null ? `${crit} ${micro}` : "";
  };

  /** @param {Scene} scene @param {number} width @param {number} height */
  function redraw(scene, width, height) {
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

  /** @param {Scene} scene @param {Ctx} ctx @param {Lane} lane @param {Row[]} rows */
  function drawLane(scene, ctx, lane, rows) {
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
    /** @param {Scene} scene @param {Ctx} ctx @param {number} width @param {number} height */
    draw(scene, ctx, width, height) {
      const now = wanted();
      if (!now || width < 1 || height < 1) return;
      if (scene !== drawn || now !== drawnFor) redraw(scene, width, height);
      drawn = scene;
      drawnFor = now;
      ctx.drawImage(layer.node, 0, 0, width, height);
    },
  };
}

/** @typedef {ReturnType<typeof createHighlights>} Highlights */

/** @param {Row[]} rows @returns {RowBoxOf} */
function placesOf(rows) {
  const byRank = new Map(rows.map((row) => [row.rank, row]));
  return (rank, copy) => {
    const row = byRank.get(rank);
    if (!row) return null;
    return copy ? { y: row.copyY, h: Math.max(1, row.copyH) } : { y: row.y, h: row.h };
  };
}

/** Everything steps back but the memory strips. @param {Scene} scene @param {Ctx} ctx @param {Row[]} rows */
function veil({ layout }, ctx, rows) {
  ctx.fillStyle = colour("plot-veil");
  for (const { y, h: tall, copyH, commH } of rows)
    ctx.fillRect(layout.plotLeft, y, layout.plotWidth, tall + copyH + commH);
}
