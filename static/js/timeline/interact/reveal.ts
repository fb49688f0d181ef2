// Brings an op into sight: its rank by scrolling, its time by a pan, and where it would be a hairline by a zoom.
import { clamp, pan } from "../../core/timeline/viewport.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";

const HAIRLINE = 5; // px
const NEIGHBOURS = 40; // lengths of the op that a window shows after a zoom

/** zoom: where the op is too narrow to be seen. */
export function reveal(timeline: Timeline, trace: Trace | null, zoom = false) {
  timeline.unhover();
  if (!trace?.op) return;
  timeline.showRank(trace.lane.id, trace.rank);
  const view = timeline.visible();
  const span = view.t1 - view.t0;
  const start = trace.lane.times.start[trace.op.i];
  const end = trace.lane.times.end[trace.op.i];
  const middle = (start + end) / 2;
  if (zoom && end > start && ((end - start) / span) * timeline.scene.layout.plotWidth < HAIRLINE) {
    const half = ((end - start) * NEIGHBOURS) / 2;
    timeline.look(clamp({ t0: middle - half, t1: middle + half }, timeline.total()));
  } else if (start < view.t0 || end > view.t1) {
    timeline.look(pan(view, middle - (view.t0 + view.t1) / 2, timeline.total()));
  }
}
