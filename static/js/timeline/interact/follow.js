// Moves the window along with the playhead or with a live run's last op, until the reader moves it: then never again.
import { clamp } from "../../core/timeline/viewport.js";

/** @import {Timeline} from "../timeline.js" */
/** @import {Lane} from "../../data/lanes.js" */

const AHEAD = 0.85; // where in the window the followed moment may stand at most

/** @param {Timeline} timeline */
export function createFollow(timeline) {
  /** @param {number} t */
  function keep(t) {
    const { t0, t1 } = timeline.visible();
    const span = t1 - t0;
    if (span >= timeline.total() * 0.999 || timeline.moved) return;
    if (t >= t0 && t <= t0 + span * AHEAD) return;
    const from = t - span * (t > t1 ? 0.15 : AHEAD);
    timeline.follow(clamp({ t0: from, t1: from + span }, timeline.total()));
  }

  return {
    playhead: keep,
    /** @param {Lane | null} lane */
    tail(lane) {
      if (lane?.live) keep(lane.end);
    },
  };
}
