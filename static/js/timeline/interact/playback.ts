// The playhead: play, pause, step by op, speed, scrub. Time runs in the plan's units, the whole schedule in eight
// seconds at 1x.
import { invalidate, startTicking, stopTicking } from "../../ui/frame_loop.ts";
import { nextEdge } from "../../core/timeline/edges.ts";
import { nearestEdge } from "../../core/timeline/snap.ts";
import type { Lane } from "../../data/lanes.ts";

type Parts = { lanes: () => Lane[]; total: () => number; onChange: () => void; onMove: (t: number) => void };

const WHOLE = 8000; // ms
const LONGEST_FRAME = 100; // ms; after a pause of the browser the playhead goes on where it was
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

export class Playback {
  parts: Parts;

  /** null: no playhead, all is shown. */
  at: number | null = null;
  playing = false;
  speed = 1;
  #last = 0;
  #intro = false;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  #tick = (now: number) => {
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

  seek(t: number | null) {
    this.stop();
    const end = this.parts.lanes().length ? this.parts.total() : Infinity; // a link's moment waits for its schedule
    this.at = t === null ? null : Math.min(Math.max(0, t), end);
    this.parts.onChange();
  }

  /** To the time that is meant: the edge of an op within tolerance, else the time itself. */
  seekNear(t: number, tolerance: number) {
    this.seek(nearestEdge(this.parts.lanes(), t, tolerance)?.t ?? t);
  }

  /** To the next (or the previous) moment at which an op or a copy of any rank starts or ends. */
  step(way: 1 | -1) {
    const from = this.at ?? (way > 0 ? 0 : this.parts.total());
    let to = way > 0 ? Infinity : 0;
    for (const lane of this.parts.lanes()) {
      const edge = nextEdge(lane.schedule, lane.times, from, way);
      to = way > 0 ? Math.min(to, edge) : Math.max(to, edge);
    }
    this.seek(Number.isFinite(to) ? to : this.parts.total());
  }

  setSpeed(speed: number) {
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
