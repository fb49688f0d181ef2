// Times under the pointer snap to the edges of ops nearby, marked by a thin line. Alt or Ctrl disables snapping.
import { xOf } from "../draw/axis.js";
import { invalidate } from "../../ui/frame_loop.js";
import { colour } from "../../ui/palette.js";
import { tickStep } from "../../core/timeline/scale.js";
import { nearestEdge } from "../../core/timeline/snap.js";

/** @import {Scene} from "../../data/lanes.js" */
/** @import {Timeline} from "../timeline.js" */
/** @import {RankRange} from "../../core/timeline/area.js" */
/** @typedef {{altKey: boolean, ctrlKey: boolean, pointerType?: string}} PointerState  the event of a pointer */

const REACH = 6; // px
const FINGER = 12;

export class Snap {
  /** @type {{t: number, lane: string | null, rank: number} | null} where a time stuck; no lane: to a mark */
  #hint = null;

  /** @param {Timeline} timeline @param {() => number[]} marks they hold as op edges do */
  constructor(timeline, marks) {
    this.timeline = timeline;
    this.marks = marks;
  }

  /** How near an edge attracts the pointer: a few pixels as time. @param {PointerState} [pointer] */
  tolerance(pointer) {
    const { layout, t0, t1 } = this.timeline.scene;
    return ((pointer?.pointerType === "touch" ? FINGER : REACH) * (t1 - t0)) / layout.plotWidth;
  }

  /** The time that is meant.
   * @param {number} t @param {PointerState} pointer @param {RankRange[]} [only] these ranks' ops */
  at(t, pointer, only) {
    this.#hint = pointer.altKey || pointer.ctrlKey ? null : this.#nearest(t, this.tolerance(pointer), only);
    invalidate("overlay");
    return this.#hint ? this.#hint.t : this.#round(t);
  }

  /** To a round number within the pixel, since more digits mean nothing. @param {number} t */
  #round(t) {
    const { layout, t0, t1 } = this.timeline.scene;
    const step = tickStep(t1 - t0, layout.plotWidth);
    return Number((Math.round(t / step) * step).toPrecision(12));
  }

  /** @param {number} t @param {number} tolerance @param {RankRange[]} [only] */
  #nearest(t, tolerance, only) {
    const edge = nearestEdge(this.timeline.lanes, t, tolerance, only);
    const mark = this.marks().reduce((best, each) => (Math.abs(each - t) < Math.abs(best - t) ? each : best), Infinity);
    return Math.abs(mark - t) <= Math.min(tolerance, edge ? Math.abs(edge.t - t) : Infinity)
      ? { t: mark, lane: null, rank: 0 }
      : edge;
  }

  /** The drag ends. */
  end() {
    if (!this.#hint) return;
    this.#hint = null;
    invalidate("overlay");
  }

  busy() {
    return this.#hint !== null;
  }

  /** @param {Scene} scene @param {CanvasRenderingContext2D} ctx @param {number} height */
  draw(scene, ctx, height) {
    const hint = this.#hint;
    if (!hint) return;
    const { layout } = scene;
    const x = xOf(scene, hint.t);
    if (x < layout.plotLeft || x > layout.plotLeft + layout.plotWidth) return;
    ctx.strokeStyle = colour("accent");
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    ctx.moveTo(Math.round(x) + 0.5, layout.axisHeight - 4);
    ctx.lineTo(Math.round(x) + 0.5, Math.min(height, layout.contentHeight));
    ctx.stroke();
    ctx.setLineDash([]);
    const row = layout.groups.find(({ id }) => id === hint.lane)?.rows.find(({ rank }) => rank === hint.rank);
    if (!row) return;
    ctx.fillStyle = colour("accent");
    ctx.fillRect(Math.round(x) - 1, row.y, 3, row.h);
  }
}
