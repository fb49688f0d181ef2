// Moves the window along with the playhead or with a live run's last op, until the reader moves it: then never again.
import { clamp } from "../../core/timeline/viewport.ts";
import type { Timeline } from "../timeline.ts";
import type { Lane } from "../../data/lanes.ts";

const AHEAD = 0.85; // where in the window the followed moment may stand at most

export function createFollow(timeline: Timeline) {
  function keep(t: number) {
    const { t0, t1 } = timeline.visible();
    const span = t1 - t0;
    if (span >= timeline.total() * 0.999 || timeline.moved) return;
    if (t >= t0 && t <= t0 + span * AHEAD) return;
    const from = t - span * (t > t1 ? 0.15 : AHEAD);
    timeline.follow(clamp({ t0: from, t1: from + span }, timeline.total()));
  }

  return {
    playhead: keep,
    tail(lane: Lane | null) {
      if (lane?.live) keep(lane.end);
    },
  };
}
