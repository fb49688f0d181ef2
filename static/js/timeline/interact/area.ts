// The selected area: drawn by shift-drag or a long press, resized by its edges, grown by keys; in the link as
// area=12-30@0-3.
import { timeAt, xOf, type Box } from "../draw/axis.ts";
import { strokeHaloed } from "../draw/halo.ts";
import { createAreaPanel } from "../explain/area_panel.ts";
import { colour } from "../../ui/palette.ts";
import { areaText, readArea, rankRanges, upright, type Area, type Place } from "../../core/timeline/area.ts";
import { nearestRow } from "../../core/timeline/layout.ts";
import { edgeOfRow } from "../../core/timeline/edges.ts";
import { zoomTo } from "../../core/timeline/viewport.ts";
import type { Scene } from "../../data/lanes.ts";
import type { PointerState, Snap } from "./snap.ts";
import type { Store } from "../../data/store.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";

type Point = { x: number; y: number };
export type Edge = "t0" | "t1" | "top" | "foot";

export class AreaTool {
  store: Store;
  timeline: Timeline;
  snap: Snap;
  panel: ReturnType<typeof createAreaPanel>;

  #read: { text: string | null; area: Area | null } = { text: null, area: null };
  /** Where the pointer went down: the far corner while it drags. */
  #corner: { t: number; place: Place } | null = null;
  /** What the keys grow from, and the edges they move. */
  #grown: { t0: number; t1: number; t: number; from: Place; to: Place; text: string | null } | null = null;

  constructor(store: Store, timeline: Timeline, snap: Snap) {
    this.store = store;
    this.timeline = timeline;
    this.snap = snap;
    this.panel = createAreaPanel(timeline.plot, { clear: () => this.set(null), zoom: () => this.fit() });
  }

  /** The area, where its ranks are on the screen. */
  current(): Area | null {
    const text = this.store.get().view.area;
    if (text !== this.#read.text) this.#read = { text, area: text ? readArea(text) : null };
    const { area } = this.#read;
    return area && rankRanges(area, this.#groups()).length ? area : null;
  }

  #groups() {
    return this.timeline.lanes.map(({ id, schedule }) => ({ id, p: schedule.p }));
  }

  set(area: Area | null) {
    const text = area && area.t1 > area.t0 ? areaText(area) : null;
    if (text === this.store.get().view.area) return;
    this.store.setView({ area: text && readArea(text) ? text : null });
  }

  /** Announce the contents of the area once a gesture is over. */
  say() {
    const area = this.current();
    if (area) this.panel.say(area, this.timeline.lanes);
  }

  /** A place on the timeline that the pointer means, its time at an op's edge if one is near. other: the far corner. */
  #place(at: Point, pointer: PointerState, other?: Place) {
    const { scene } = this.timeline;
    const { layout } = scene;
    const place = nearestRow(layout, at.y);
    if (!place) return null;
    const x = Math.min(layout.plotLeft + layout.plotWidth, Math.max(layout.plotLeft, at.x));
    const among = rankRanges({ t0: 0, t1: 0, from: other ?? place, to: place }, this.#groups());
    const t = this.snap.at(timeAt(scene, x), pointer, among);
    return { t: Math.max(0, t), place };
  }

  /** A drag begins. */
  begin(at: Point, pointer: PointerState) {
    this.#corner = this.#place(at, pointer);
  }

  /** A long press begins with the op, or the bubble, under the finger. */
  beginWith(trace: Trace | null, at: Point, pointer: PointerState) {
    this.begin(at, pointer);
    const span = spanOf(trace);
    if (!trace || !span) return;
    const place = { lane: trace.lane.id, rank: trace.rank };
    this.#corner = { t: span.t0, place };
    this.set({ ...span, from: place, to: place });
  }

  drag(at: Point, pointer: PointerState) {
    const from = this.#corner;
    const to = from && this.#place(at, pointer, from.place);
    if (!from || !to) return;
    this.set({ t0: Math.min(from.t, to.t), t1: Math.max(from.t, to.t), from: from.place, to: to.place });
  }

  /** Shift and a click: from the selected op to this one. */
  between(first: Trace | null, second: Trace | null) {
    const span = spanOf(second);
    if (!second || !span) return;
    const start = spanOf(first) ?? span;
    const near = first ?? second;
    this.set({
      t0: Math.min(start.t0, span.t0),
      t1: Math.max(start.t1, span.t1),
      from: { lane: near.lane.id, rank: near.rank },
      to: { lane: second.lane.id, rank: second.rank },
    });
    this.say();
  }

  /** The edge at a point, to be dragged. tolerance: px. */
  edgeAt(at: Point, tolerance: number): Edge | null {
    const area = this.current();
    if (!area) return null;
    const boxes = boxesOf(this.timeline.scene, area, this.#groups());
    const within = boxes.find(({ y, h }) => at.y >= y - tolerance && at.y <= y + h + tolerance);
    if (!within) return null;
    const { layout } = this.timeline.scene;
    const sides = [
      ["t0", xOf(this.timeline.scene, area.t0)],
      ["t1", xOf(this.timeline.scene, area.t1)],
    ] as [Edge, number][];
    const seen = sides.filter(
      ([, x]) =>
        x >= layout.plotLeft - 1 && x <= layout.plotLeft + layout.plotWidth + 1 && Math.abs(at.x - x) <= tolerance,
    );
    if (seen.length) return seen.sort((a, b) => Math.abs(at.x - a[1]) - Math.abs(at.x - b[1]))[0][0];
    if (at.x < within.x || at.x > within.x + within.w) return null;
    if (Math.abs(at.y - boxes[0].y) <= tolerance) return "top";
    const last = boxes[boxes.length - 1];
    return Math.abs(at.y - last.y - last.h) <= tolerance ? "foot" : null;
  }

  /** Move an edge to the pointer; past the other one it becomes that. */
  pull(edge: Edge, at: Point, pointer: PointerState): Edge {
    const now = this.current();
    if (!now) return edge;
    const area = upright(now, this.#groups());
    const to = this.#place(
      at,
      edge === "top" || edge === "foot" ? { ...pointer, altKey: true } : pointer,
      edge === "top" ? area.to : area.from,
    );
    if (!to) return edge;
    if (edge === "top") this.set({ ...area, from: to.place });
    else if (edge === "foot") this.set({ ...area, to: to.place });
    else {
      const fixed = edge === "t0" ? area.t1 : area.t0;
      this.set({ ...area, t0: Math.min(fixed, to.t), t1: Math.max(fixed, to.t) });
      return to.t < fixed ? "t0" : "t1";
    }
    return edge;
  }

  /** The drag is over. */
  end() {
    this.#corner = null;
    this.snap.end();
    this.say();
  }

  /**
   * By keys: the moving edge to the next op edge of its rank, or to the next rank. From the selected op where there is
   * no area.
   */
  extend(dt: -1 | 0 | 1, dr: -1 | 0 | 1, selected: Trace | null) {
    const now = this.current();
    if (!this.#grown || this.#grown.text !== (now ? this.store.get().view.area : null))
      this.#grown = this.#startOf(now, selected);
    const grown = this.#grown;
    if (!grown) return;
    if (dr) grown.to = this.#climb(grown.to, dr);
    const lane = this.timeline.lanes.find(({ id }) => id === grown.to.lane);
    if (dt && lane) {
      const from = grown.t > grown.t0 && grown.t < grown.t1 ? (dt > 0 ? grown.t1 : grown.t0) : grown.t;
      const edge = edgeOfRow(lane.schedule.offsets, lane.times, grown.to.rank, from, dt);
      grown.t = Number.isFinite(edge) ? edge : from;
    }
    this.set({ t0: Math.min(grown.t0, grown.t), t1: Math.max(grown.t1, grown.t), from: grown.from, to: grown.to });
    grown.text = this.store.get().view.area;
    this.timeline.showRank(grown.to.lane, grown.to.rank);
    this.say();
  }

  #startOf(area: Area | null, selected: Trace | null) {
    if (area) return { t0: area.t0, t1: area.t0, t: area.t1, from: area.from, to: area.to, text: null };
    const span = spanOf(selected);
    if (!selected || !span) return null;
    const place = { lane: selected.lane.id, rank: selected.rank };
    return { ...span, t: span.t0 / 2 + span.t1 / 2, from: place, to: place, text: null };
  }

  /** The place above or below, in the next lane group too. */
  #climb({ lane, rank }: Place, way: -1 | 1): Place {
    const groups = this.#groups();
    const at = groups.findIndex(({ id }) => id === lane);
    if (rank + way >= 0 && rank + way < groups[at].p) return { lane, rank: rank + way };
    const next = groups[at + way];
    return next ? { lane: next.id, rank: way > 0 ? 0 : next.p - 1 } : { lane, rank };
  }

  /** Zoom to it. */
  fit() {
    const area = this.current();
    if (area) this.timeline.look(zoomTo(area.t0, area.t1, this.timeline.total()));
  }

  busy() {
    return this.current() !== null || this.panel.open();
  }

  draw(scene: Scene, ctx: CanvasRenderingContext2D) {
    const area = this.current();
    const boxes = area ? boxesOf(scene, area, this.#groups()) : [];
    for (const box of boxes) drawBox(ctx, box, scene);
    if (boxes.length) drawSpan(ctx, boxes[0], scene);
    this.panel.show(area, scene.lanes, boxes, this.#corner !== null);
  }
}

/** How long a traced op or bubble lasts. */
function spanOf(trace: Trace | null) {
  if (trace?.op) return { t0: trace.lane.times.start[trace.op.i], t1: trace.lane.times.end[trace.op.i] };
  return trace?.idle ? { t0: trace.idle.from, t1: trace.idle.to } : null;
}

/**
 * An area on the screen: a box for each run of its rows, since pinned ranks stand elsewhere. Returns cut to the plot,
 * none where it is out of sight.
 */
function boxesOf(scene: Scene, area: Area, groups: { id: string; p: number }[]): Box[] {
  const { layout } = scene;
  const [left, right] = [layout.plotLeft, layout.plotLeft + layout.plotWidth];
  const x = Math.max(left, xOf(scene, area.t0));
  const w = Math.min(right, xOf(scene, area.t1)) - x;
  if (!(w >= 0)) return [];
  const boxes: Box[] = [];
  for (const { lane, first, last } of rankRanges(area, groups)) {
    let run: Box | null = null;
    for (const row of layout.groups.find(({ id }) => id === lane)?.rows ?? []) {
      const foot = row.commY + row.commH;
      if (row.rank < first || row.rank > last) run = null;
      else if (run) run.h = foot - run.y;
      else boxes.push((run = { x, y: row.stripY, w: Math.max(1, w), h: foot - row.stripY }));
    }
  }
  return boxes;
}

function drawBox(ctx: CanvasRenderingContext2D, { x, y, w, h }: Box, { layout }: Scene) {
  ctx.globalAlpha = 0.07;
  ctx.fillStyle = colour("accent");
  ctx.fillRect(x, y, w, h);
  ctx.globalAlpha = 1;
  strokeHaloed(ctx, () => ctx.strokeRect(x, y, w, h), { ink: colour("accent"), width: 2 });
  const tall = Math.min(22, h - 8);
  if (tall < 6 || w < 24) return;
  for (const side of [x, x + w]) {
    if (side <= layout.plotLeft || side >= layout.plotLeft + layout.plotWidth) continue; // that edge is elsewhere
    ctx.fillStyle = colour("surface");
    ctx.fillRect(side - 4, y + (h - tall) / 2 - 1, 8, tall + 2);
    ctx.fillStyle = colour("accent");
    ctx.fillRect(side - 3, y + (h - tall) / 2, 6, tall);
  }
}

/** Its stretch of time, on the axis. */
function drawSpan(ctx: CanvasRenderingContext2D, { x, w }: Box, { layout }: Scene) {
  ctx.fillStyle = colour("accent");
  ctx.fillRect(x, layout.axisHeight - 5, w, 3);
}
