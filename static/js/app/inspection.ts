// What tests and benchmarks read of the page: `window.bubbleline`, read only.
import { boxOf } from "../timeline/draw/axis.ts";
import { samples } from "../ui/latency.ts";
import { laneOf } from "../data/lanes.ts";
import { sumOfLateStarts } from "../core/measured/late_starts.ts";
import { find } from "../core/schedule/ops.ts";
import type { Plans } from "../data/plans.ts";
import type { Playback } from "../timeline/interact/playback.ts";
import type { Store } from "../data/store.ts";
import type { Timeline } from "../timeline/timeline.ts";

export function exposeForTests({
  store,
  plans,
  timeline,
  playback,
  runs,
}: {
  store: Store;
  plans: Plans;
  timeline: Timeline;
  playback: Playback;
  runs?: { run: { status: string } | null };
}) {
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

  /** The box of an op, in pixels of the page. text: "2F0". */
  function box(lane: string, text: string) {
    const found = laneOf(timeline.lanes, lane);
    const op = found && find(found.schedule, text);
    const place = op && boxOf(timeline.scene, lane, op.rank, op.i);
    if (!place) return null;
    const origin = timeline.plot.getBoundingClientRect();
    return { x: origin.left + place.x, y: origin.top + place.y, w: place.w, h: place.h };
  }

  /** The place of a moment on a rank, in pixels of the page: the middle of its row, or the foot of its memory strip. */
  function point(lane: string, rank: number, t: number, part: "ops" | "strip" = "ops") {
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
