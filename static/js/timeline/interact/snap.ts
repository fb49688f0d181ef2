// Times under the pointer snap to the edges of ops nearby, marked by a thin line. Alt or Ctrl disables snapping.
import { rowOf, xOf } from "../draw/axis.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { colour } from "../../ui/palette.ts";
import { tickStep } from "../../core/timeline/scale.ts";
import { nearestEdge } from "../../core/timeline/snap.ts";
import type { Scene } from "../../data/lanes.ts";
import type { Timeline } from "../timeline.ts";
import type { RankRange } from "../../core/timeline/area.ts";

/** The event of a pointer. */
export type PointerState = { altKey: boolean; ctrlKey: boolean; pointerType?: string };

const REACH = 6; // px
const FINGER = 12;

export class Snap {
  timeline: Timeline;
  marks: () => number[];

  /** Where a time stuck; no lane: to a mark. */
  #hint: { t: number; lane: string | null; rank: number } | null = null;

  /** marks: they hold as op edges do. */
  constructor(timeline: Timeline, marks: () => number[]) {
    this.timeline = timeline;
    this.marks = marks;
  }

  /** How near an edge attracts the pointer: a few pixels as time. */
  tolerance(pointer?: PointerState) {
    const { layout, t0, t1 } = this.timeline.scene;
    return ((pointer?.pointerType === "touch" ? FINGER : REACH) * (t1 - t0)) / layout.plotWidth;
  }

  /** The time that is meant. only: these ranks' ops. */
  at(t: number, pointer: PointerState, only?: RankRange[]) {
    this.#hint = pointer.altKey || pointer.ctrlKey ? null : this.#nearest(t, this.tolerance(pointer), only);
    invalidate("overlay");
    return this.#hint ? this.#hint.t : this.#round(t);
  }

  /** To a round number within the pixel, since more digits mean nothing. */
  #round(t: number) {
    const { layout, t0, t1 } = this.timeline.scene;
    const step = tickStep(t1 - t0, layout.plotWidth);
    return Number((Math.round(t / step) * step).toPrecision(12));
  }

  #nearest(t: number, tolerance: number, only?: RankRange[]) {
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

  draw(scene: Scene, ctx: CanvasRenderingContext2D, height: number) {
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
    const row = rowOf(scene, hint.lane, hint.rank);
    if (!row) return;
    ctx.fillStyle = colour("accent");
    ctx.fillRect(Math.round(x) - 1, row.y, 3, row.h);
  }
}
