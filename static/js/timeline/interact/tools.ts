// Timeline tools: area, marks, find, pins and snapping, with their keys and buttons.
import { AreaTool } from "./area.ts";
import { timeAt } from "../draw/axis.ts";
import { placeIn } from "../../ui/canvas.ts";
import { byId, h, iconButton } from "../../ui/dom.ts";
import { announce } from "../../ui/live_region.ts";
import { Find } from "./find.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { Marks } from "./marks.ts";
import { MOST_PINS, pinsText, readPins, togglePin } from "../../core/state/marks.ts";
import { t } from "../../core/i18n/language.ts";
import { hit } from "../../core/timeline/layout.ts";
import { Snap } from "./snap.ts";
import type { Playback } from "./playback.ts";
import type { Selection } from "./selection.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../timeline.ts";

export type Tools = ReturnType<typeof createTools>;

const GLASS = "M7 2a5 5 0 0 1 4 8l3.5 3.5-1.2 1.2L9.8 11A5 5 0 1 1 7 2zm0 1.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8z";
const FLAG = "M3 2h1.6v12H3zM5.6 2.6H13l-2.2 2.7L13 8H5.6z";

export function createTools(
  store: Store,
  timeline: Timeline,
  selection: Selection,
  playback: Playback,
  toast: (text: string) => void,
) {
  const marks = new Marks(store, timeline, toast);
  const snap = new Snap(timeline, () => marks.list());
  const area = new AreaTool(store, timeline, snap);
  const find = new Find(timeline, selection);
  const pins = createPins(store, toast);
  timeline.layers.push(find, marks, area, snap);
  const pointer = freshPointer(timeline.plot);

  /** Where a mark is meant: under a pointer that just moved, else the selected op's start, else the playhead. */
  function meant() {
    const at = pointer();
    if (at && at.x >= timeline.scene.layout.plotLeft) return timeUnder(timeline, snap, at);
    const trace = selection.current();
    if (trace?.op) return trace.lane.times.start[trace.op.i];
    return playback.at ?? area.current()?.t0 ?? null;
  }

  function mark() {
    const time = meant();
    if (time === null) toast(t("Point at the timeline, select an op or move the playhead: the mark goes there."));
    else marks.toggle(time, snap.tolerance() / 2);
    invalidate("overlay");
  }

  /** The rank of the selected op, else the one under the pointer. */
  function pin() {
    const trace = selection.current() ?? timeline.hover;
    if (trace) pins.toggle(trace.lane.id, trace.rank);
    else toast(t("Select an op, or click a rank's number: that rank is pinned."));
  }

  const grow = (dt: -1 | 0 | 1, dr: -1 | 0 | 1) => {
    if (area.current() || selection.current()?.op) area.extend(dt, dr, selection.current());
    else toast(t("Select an op first; Shift and the arrows then grow an area from it."));
  };

  addButtons([
    { name: t("Find ops"), key: "/", path: GLASS, act: () => (find.close() ? undefined : find.open()) },
    { name: t("Add or remove a mark"), key: "M", path: FLAG, act: mark },
  ]);

  return {
    area,
    marks,
    snap,
    find,
    pins,
    mark,
    pin,
    openFind: () => find.open(),
    areaLeft: () => grow(-1, 0),
    areaRight: () => grow(1, 0),
    areaUp: () => grow(0, -1),
    areaDown: () => grow(0, 1),
    /** Take away what was drawn over the timeline last, if there is anything. */
    clear() {
      if (find.close()) return true;
      if (!area.current()) return false;
      area.set(null);
      return true;
    },
  };
}

/**
 * Pinned ranks: they come first in their lane group and stay in sight while the others scroll; in the link as pin=0,7.
 */
function createPins(store: Store, toast: (text: string) => void) {
  const current = () => readPins(store.get().view.pin) ?? {};

  return {
    current,
    has: (lane: string, rank: number) => current()[lane]?.includes(rank) ?? false,
    toggle(lane: string, rank: number) {
      const next = togglePin(current(), lane, rank);
      const text = pinsText(next);
      if (text && text.split(",").length > MOST_PINS) {
        toast(t("At most {n} ranks can be pinned.", { n: MOST_PINS }));
        return;
      }
      store.setView({ pin: text });
      announce(
        next[lane].includes(rank)
          ? t("Rank {rank} is pinned on top.", { rank })
          : t("Rank {rank} is no longer pinned.", { rank }),
      );
    },
  };
}

/** The time under the pointer, at an edge of an op of that row if one is near. */
function timeUnder(timeline: Timeline, snap: Snap, { x, y }: { x: number; y: number }) {
  const row = hit(timeline.scene.layout, x, y);
  const only = row ? [{ lane: row.group, first: row.rank, last: row.rank }] : undefined;
  const time = snap.at(timeAt(timeline.scene, x), { altKey: false, ctrlKey: false }, only);
  snap.end();
  return Math.max(0, Math.min(time, timeline.total()));
}

/** The pointer over the plot, while it is what the reader uses: a key takes over until it moves again. */
function freshPointer(plot: HTMLElement) {
  let at: { x: number; y: number } | null = null;
  plot.addEventListener("pointermove", (event) => {
    at = event.pointerType === "touch" ? null : placeIn(plot, event);
  });
  plot.addEventListener("pointerleave", () => {
    at = null;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (/^(Arrow|Enter|Tab|[.,])/.test(key)) at = null;
  });
  return () => at;
}

/** The buttons over the timeline's right end. */
function addButtons(list: { name: string; key: string; path: string; act: () => void }[]) {
  const bar = h("div", { class: "tools", id: "tools", role: "group", "aria-label": t("Timeline tools") });
  for (const { name, key, path, act } of list) bar.append(iconButton(path, name, act, `${name} (${key})`));
  byId("legend-row").append(bar);
}
