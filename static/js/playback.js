// The playhead: play, pause, step by op, speed, scrub. Time runs in the plan's units, the whole schedule in eight seconds at 1x.
import { invalidate, startTicking, stopTicking } from "./frame.js";

/** @import {Lane} from "./lanes.js" */
/** @typedef {{lanes: () => Lane[], total: () => number, onChange: () => void, onMove: (t: number) => void}} Parts */

const WHOLE = 8000; // ms
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/** @param {Parts} parts */
export function createPlayback({ lanes, total, onChange, onMove }) {
  /** @type {number | null} null: no playhead, all is shown */
  let at = null;
  let playing = false;
  let speed = 1;
  let last = 0;
  let intro = false;

  /** @param {number} now */
  function tick(now) {
    const elapsed = last ? Math.min(100, now - last) : 0;
    last = now;
    at = (at ?? 0) + (elapsed / WHOLE) * speed * total();
    if (at >= total()) {
      stop();
      at = null;
      onChange();
    } else {
      onMove(at);
    }
    invalidate("overlay", "minimap", "figures");
  }

  function stop() {
    if (!playing) return;
    playing = false;
    intro = false;
    stopTicking(tick);
    onChange();
  }

  function play() {
    if (playing) return;
    if (at === null || at >= total()) at = 0;
    playing = true;
    last = 0;
    startTicking(tick);
    onChange();
  }

  /** @param {number | null} t */
  function seek(t) {
    stop();
    at = t === null ? null : Math.min(Math.max(0, t), total());
    onChange();
    invalidate("overlay", "minimap", "figures");
  }

  /** To the next (or the previous) moment at which an op of any rank ends. @param {1 | -1} way */
  function step(way) {
    const from = at ?? (way > 0 ? 0 : total());
    let to = way > 0 ? Infinity : 0;
    for (const lane of lanes()) {
      for (let r = 0; r < lane.schedule.p; r++) {
        const end = nextEnd(lane, r, from, way);
        to = way > 0 ? Math.min(to, end) : Math.max(to, end);
      }
    }
    seek(to === Infinity ? total() : to);
  }

  return {
    at: () => at,
    playing: () => playing,
    speed: () => speed,
    play,
    stop,
    seek,
    step,
    toggle: () => (playing ? stop() : play()),
    /** @param {number} next */
    setSpeed(next) { speed = next; onChange(); },
    /** The opening sweep; the first thing the reader does ends it with everything shown. */
    playIntro() { play(); intro = true; },
    endIntro() {
      if (!intro) return;
      stop();
      seek(null);
    },
  };
}

/** @param {Lane} lane @param {number} rank @param {number} t @param {1 | -1} way */
function nextEnd({ schedule, times }, rank, t, way) {
  const eps = 1e-9 * Math.max(1, t);
  let lo = schedule.offsets[rank];
  let hi = schedule.offsets[rank + 1];
  const first = lo;
  const limit = way > 0 ? t + eps : t - eps;
  while (lo < hi) { // the first op that ends after (or not before) the limit
    const mid = (lo + hi) >>> 1;
    if (way > 0 ? times.end[mid] > limit : times.end[mid] >= limit) hi = mid;
    else lo = mid + 1;
  }
  if (way > 0) return lo < schedule.offsets[rank + 1] ? times.end[lo] : Infinity;
  return lo > first ? times.end[lo - 1] : 0;
}

/** @typedef {ReturnType<typeof createPlayback>} Playback */
