// The playhead: play, pause, step by op, speed, scrub. Time runs in the plan's units, the whole schedule in eight seconds at 1x.
import { invalidate, startTicking, stopTicking } from "./frame.js";

/** @import {Lane} from "./lanes.js" */
/** @typedef {{lanes: () => Lane[], total: () => number, onChange: () => void, onMove: (t: number) => void}} Parts */

const WHOLE = 8000; // ms
const LONGEST_FRAME = 100; // ms; after a pause of the browser the playhead goes on where it was
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export class Playback {
  /** @type {number | null} null: no playhead, all is shown */
  at = null;
  playing = false;
  speed = 1;
  #last = 0;
  #intro = false;

  /** @param {Parts} parts */
  constructor(parts) {
    this.parts = parts;
  }

  /** @param {number} now */
  #tick = (now) => {
    const elapsed = this.#last ? Math.min(LONGEST_FRAME, now - this.#last) : 0;
    const total = this.parts.total();
    this.#last = now;
    this.at = (this.at ?? 0) + (elapsed / WHOLE) * this.speed * total;
    if (this.at >= total) {
      this.at = null;
      this.stop();
    } else {
      this.parts.onMove(this.at);
    }
    invalidate("overlay", "minimap", "figures");
  };

  stop() {
    if (!this.playing) return;
    this.playing = false;
    this.#intro = false;
    stopTicking(this.#tick);
    this.parts.onChange();
  }

  play() {
    if (this.playing) return;
    if (this.at === null || this.at >= this.parts.total()) this.at = 0;
    this.playing = true;
    this.#last = 0;
    startTicking(this.#tick);
    this.parts.onChange();
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play();
  }

  /** @param {number | null} t */
  seek(t) {
    this.stop();
    const end = this.parts.lanes().length ? this.parts.total() : Infinity; // a link's moment waits for its schedule
    this.at = t === null ? null : Math.min(Math.max(0, t), end);
    this.parts.onChange();
  }

  /** To the next (or the previous) moment at which an op of any rank ends. @param {1 | -1} way */
  step(way) {
    const from = this.at ?? (way > 0 ? 0 : this.parts.total());
    let to = way > 0 ? Infinity : 0;
    for (const lane of this.parts.lanes()) {
      for (let r = 0; r < lane.schedule.p; r++) {
        const end = nextEnd(lane, r, from, way);
        to = way > 0 ? Math.min(to, end) : Math.max(to, end);
      }
    }
    this.seek(to === Infinity ? this.parts.total() : to);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.parts.onChange();
  }

  /** The opening sweep; the first thing the reader does ends it with everything shown. */
  playIntro() {
    this.play();
    this.#intro = true;
  }

  endIntro() {
    if (this.#intro) this.seek(null);
  }
}

/** @param {Lane} lane @param {number} rank @param {number} t @param {1 | -1} way */
function nextEnd({ schedule, times }, rank, t, way) {
  const eps = 1e-9 * Math.max(1, t);
  const first = schedule.offsets[rank];
  const stop = schedule.offsets[rank + 1];
  const limit = way > 0 ? t + eps : t - eps;
  let lo = first;
  let hi = stop;
  while (lo < hi) { // the first op that ends after (or not before) the limit
    const mid = (lo + hi) >>> 1;
    if (way > 0 ? times.end[mid] > limit : times.end[mid] >= limit) hi = mid;
    else lo = mid + 1;
  }
  if (way > 0) return lo < stop ? times.end[lo] : Infinity;
  return lo > first ? times.end[lo - 1] : 0;
}
