// What the keys do to the timeline, the playhead and the selection.
import { pan, zoomTo } from "./pure/viewport.js";

/** @import {Playback} from "./playback.js" */
/** @import {Selection} from "./selection.js" */
/** @import {Store} from "./store.js" */
/** @import {Timeline} from "./timeline.js" */

const ZOOM = 1.35;
const PAN = 0.15; // of what is in sight

/** @param {Store} store @param {Timeline} timeline @param {Playback} playback @param {Selection} selection @param {() => void} help
 * @param {() => void} strips */
export function createActions(store, timeline, playback, selection, help, strips) {
  /** @param {number} part */
  function panBy(part) {
    const view = timeline.visible();
    timeline.look(pan(view, part * (view.t1 - view.t0), timeline.total()));
  }

  /** A window around the selected op first; all of it when that is in sight already. */
  function fit() {
    const { t0, t1 } = timeline.visible();
    const trace = selection.current();
    if (trace?.op) {
      const start = trace.lane.times.start[trace.op.i];
      const end = trace.lane.times.end[trace.op.i];
      const around = zoomTo(start - 4 * (end - start), end + 4 * (end - start), timeline.total());
      if (Math.abs(around.t0 - t0) + Math.abs(around.t1 - t1) > 1e-6 * timeline.total()) { timeline.look(around); return; }
    }
    timeline.look({ t0: 0, t1: timeline.total() });
  }

  /** Keep the selected op in sight after a step. */
  function reveal() {
    const trace = selection.current();
    if (!trace?.op) return;
    const view = timeline.visible();
    const start = trace.lane.times.start[trace.op.i];
    const end = trace.lane.times.end[trace.op.i];
    if (start >= view.t0 && end <= view.t1) return;
    timeline.look(pan(view, (start + end) / 2 - (view.t0 + view.t1) / 2, timeline.total()));
  }

  /** @param {() => void} act */
  const then = (act) => () => { act(); reveal(); };
  const left = () => timeline.visible().t0;
  return {
    zoomIn: () => timeline.zoom(ZOOM),
    zoomOut: () => timeline.zoom(1 / ZOOM),
    panLeft: () => panBy(-PAN),
    panRight: () => panBy(PAN),
    fit,
    next: then(() => selection.step(1, left())),
    previous: then(() => selection.step(-1, left())),
    up: then(() => selection.climb(-1, left())),
    down: then(() => selection.climb(1, left())),
    play: () => playback.toggle(),
    stepBack: () => playback.step(-1),
    stepOn: () => playback.step(1),
    enter: () => selection.select(timeline.hover),
    clear: () => { if (store.get().view.sel) selection.clear(); else playback.seek(null); },
    help,
    strips,
  };
}
