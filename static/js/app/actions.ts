// What the keys do to the timeline, the playhead and the selection.
import { pan, zoomTo, type View } from "../core/timeline/viewport.ts";
import { reveal } from "../timeline/interact/reveal.ts";
import type { Playback } from "../timeline/interact/playback.ts";
import type { Selection } from "../timeline/interact/selection.ts";
import type { Store } from "../data/store.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Tools } from "../timeline/interact/tools.ts";

const ZOOM = 1.35;
const PAN = 0.15; // of what is in sight
const PAGE = 0.8; // of the ranks in sight

export function createActions(
  store: Store,
  timeline: Timeline,
  playback: Playback,
  selection: Selection,
  tools: Tools,
  help: () => void,
  strips: () => void,
) {
  function panBy(part: number) {
    const view = timeline.visible();
    timeline.look(pan(view, part * (view.t1 - view.t0), timeline.total()));
  }

  /** The window around the area, else around the selected op. */
  function around(): View | null {
    const area = tools.area.current();
    if (area) return zoomTo(area.t0, area.t1, timeline.total());
    const trace = selection.current();
    if (!trace?.op) return null;
    const start = trace.lane.times.start[trace.op.i];
    const end = trace.lane.times.end[trace.op.i];
    return end > start ? zoomTo(start - 4 * (end - start), end + 4 * (end - start), timeline.total()) : null;
  }

  /** What is selected first; all of it when that is in sight already. */
  function fit() {
    const { t0, t1 } = timeline.visible();
    const view = around();
    const there = view && Math.abs(view.t0 - t0) + Math.abs(view.t1 - t1) <= 1e-6 * timeline.total();
    timeline.look(view && !there ? view : { t0: 0, t1: timeline.total() });
  }

  /** What was put over the timeline goes first, then the selection, then the playhead. */
  function clear() {
    if (store.get().view.tab === "keys") store.setView({ tab: null });
    else if (tools.clear()) return;
    else if (!selection.clear()) playback.seek(null);
  }

  const then = (act: () => void) => () => {
    act();
    reveal(timeline, selection.current());
  };
  const left = () => timeline.visible().t0;
  return {
    ...tools,
    zoomIn: () => timeline.zoom(ZOOM),
    zoomOut: () => timeline.zoom(1 / ZOOM),
    panLeft: () => panBy(-PAN),
    panRight: () => panBy(PAN),
    pageUp: () => timeline.scrollBy(-PAGE * timeline.plot.clientHeight),
    pageDown: () => timeline.scrollBy(PAGE * timeline.plot.clientHeight),
    fit,
    next: then(() => selection.step(1, left())),
    previous: then(() => selection.step(-1, left())),
    up: then(() => selection.climb(-1, left())),
    down: then(() => selection.climb(1, left())),
    play: () => playback.toggle(),
    stepBack: () => playback.step(-1),
    stepOn: () => playback.step(1),
    enter: () => (timeline.hover ? selection.select(timeline.hover) : selection.pinIdleBefore()),
    clear,
    undo: store.undo,
    redo: store.redo,
    help,
    strips,
  };
}
