// What tests and benchmarks read of the page: `window.bubbleline`, read only.
import { boxOf } from "../timeline/draw/axis.js";
import { samples } from "../ui/latency.js";
import { laneOf } from "../data/lanes.js";
import { sumOfLateStarts } from "../core/measured/late_starts.js";
import { find } from "../core/schedule/ops.js";

/** @import {Plans} from "../data/plans.js" */
/** @import {Playback} from "../timeline/interact/playback.js" */
/** @import {Store} from "../data/store.js" */
/** @import {Timeline} from "../timeline/timeline.js" */

/**
 * @param {{store: Store, plans: Plans, timeline: Timeline, playback: Playback, runs?: {run: {status: string} | null}}}
 *   parts
 */
export function exposeForTests({ store, plans, timeline, playback, runs }) {
  function state() {
    const { spec, others, view } = store.get();
    const shown = plans.onScreen().map((plan) => ({
      id: plan.id,
      asked: plan.asked,
      shown: plan.shown,
      error: plan.error,
      offline: plan.offline,
      stale: plan.shown !== plan.asked,
      figures: plan.figures,
      peak: plan.peak,
      memory: plan.memory,
    }));
    const lanes = timeline.lanes.map((lane) => ({
      id: lane.id,
      ops: lane.schedule.count,
      end: lane.end,
      live: lane.live,
      details: Boolean(lane.details),
      lateStarts: sumOfLateStarts(lane.times, lane.noted, lane.schedule.count),
    }));
    return {
      spec,
      others,
      view,
      plans: shown,
      lanes,
      window: timeline.visible(),
      total: timeline.total(),
      at: playback.at,
      playing: playback.playing,
      hover: timeline.hover?.op?.i ?? null,
      run: runs?.run?.status ?? null,
    };
  }

  /** The box of an op, in pixels of the page. @param {string} lane @param {string} text "2F0" */
  function box(lane, text) {
    const found = laneOf(timeline.lanes, lane);
    const op = found && find(found.schedule, text);
    const place = op && boxOf(timeline.scene, lane, op.rank, op.i);
    if (!place) return null;
    const origin = timeline.plot.getBoundingClientRect();
    return { x: origin.left + place.x, y: origin.top + place.y, w: place.w, h: place.h };
  }

  /**
   * The place of a moment on a rank, in pixels of the page: the middle of its row, or the foot of its memory strip.
   * @param {string} lane @param {number} rank @param {number} t @param {"ops" | "strip"} [part]
   */
  function point(lane, rank, t, part = "ops") {
    const { layout, t0, t1 } = timeline.scene;
    const row = layout.groups.find((group) => group.id === lane)?.rows.find((each) => each.rank === rank);
    const origin = timeline.plot.getBoundingClientRect();
    return row
      ? {
          x: origin.left + layout.plotLeft + ((t - t0) / (t1 - t0)) * layout.plotWidth,
          y: origin.top + (part === "ops" ? row.y + row.h / 2 : row.stripY + row.stripH - 1.5),
          h: part === "ops" ? row.h : row.stripH,
        }
      : null;
  }

  Object.defineProperty(window, "bubbleline", { value: Object.freeze({ state, box, point, samples }) });
}
