// The find field: ops by text, how many there are, one after the other, and rings around them on the timeline.
import { xOf } from "../draw/axis.ts";
import { strokeHaloed } from "../draw/halo.ts";
import { byId, h, iconButton, setText, show } from "../../ui/dom.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { colour } from "../../ui/palette.ts";
import { firstWhere } from "../../core/first_where.ts";
import { ordinal, readQuery, search, step } from "../../core/timeline/find.ts";
import { t } from "../../core/i18n/language.ts";
import { reveal } from "./reveal.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Found, Hit, Hits, Query, Rows } from "../../core/timeline/find.ts";
import type { Row } from "../../core/timeline/layout.ts";
import type { Selection } from "./selection.ts";
import type { Timeline } from "../timeline.ts";

const UP = "M8 4l5 6H3z";
const DOWN = "M8 12L3 6h10z";
const CLOSE = "M4 3l4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z";
const RING = 7; // px of an op that a ring around it needs; a narrower one gets a bar above it

export class Find {
  timeline: Timeline;
  selection: Selection;
  node: HTMLFormElement;

  #input = h("input", {
    type: "text",
    id: "find-text",
    size: 12,
    placeholder: "2F5",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    "aria-label": t("Find ops by text, such as 2F5"),
    "aria-describedby": "find-status",
  });
  #status = h("output", { id: "find-status", class: "cut find-status", for: "find-text" });
  #query: Query | null = null;
  /** By schedule, for the query of now. */
  #hits = new WeakMap<object, Hits>();

  constructor(timeline: Timeline, selection: Selection) {
    this.timeline = timeline;
    this.selection = selection;
    this.node = h(
      "form",
      { class: "popup find", id: "find", role: "search", hidden: true },
      this.#input,
      this.#status,
      iconButton(UP, t("Previous match (Shift + Enter)"), () => this.#go(-1)),
      iconButton(DOWN, t("Next match (Enter)"), () => this.#go(1)),
      iconButton(CLOSE, t("Close (Esc)"), () => this.close()),
    );
    byId("legend-row").append(this.node);
    this.node.addEventListener("submit", (event) => event.preventDefault());
    this.#input.addEventListener("input", () => this.#typed());
    this.node.addEventListener("keydown", (event) => this.#key(event));
  }

  open() {
    show(this.node, true);
    this.#input.focus();
    this.#input.select();
    this.#typed();
  }

  /** Returns whether there was anything to close. */
  close(): boolean {
    if (this.node.hidden) return false;
    const within = this.node.contains(document.activeElement);
    show(this.node, false);
    this.#query = null;
    if (within) this.timeline.plot.focus();
    invalidate("overlay");
    return true;
  }

  #key(event: KeyboardEvent) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.#input) this.#go(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #typed() {
    this.#query = readQuery(this.#input.value);
    this.#hits = new WeakMap();
    this.#say();
    invalidate("overlay");
  }

  #hitsIn({ schedule }: Lane) {
    let found = this.#hits.get(schedule);
    if (!found) {
      found = search(schedule, this.#query ?? { stage: -1, letter: "F", micro: null });
      this.#hits.set(schedule, found);
    }
    return found;
  }

  #found(): Found[] {
    return this.timeline.lanes.map((lane) => ({ id: lane.id, times: lane.times, hits: this.#hitsIn(lane) }));
  }

  /** The selected op as a place among the hits. */
  #here(): Hit | null {
    const trace = this.selection.current();
    if (!trace?.op) return null;
    const { lane, op } = trace;
    return {
      lane: this.timeline.lanes.findIndex(({ id }) => id === lane.id),
      row: 2 * op.rank + (op.i >= lane.schedule.count ? 1 : 0),
      i: op.i,
      start: lane.times.start[op.i],
    };
  }

  /** How many, and which of them is selected; or what to type. */
  #say() {
    const typed = this.#input.value.trim();
    this.#input.setAttribute("aria-invalid", String(typed !== "" && !this.#query));
    if (!this.#query) {
      setText(this.#status, typed ? t("type an op: 2F5, or F5, 2F, 5") : t("2F5, or F5, 2F, 5"));
      return;
    }
    const found = this.#found();
    const n = found.reduce((sum, { hits }) => sum + hits.count, 0);
    const here = this.#here();
    const at = here && n && this.#isHit(here) ? ordinal(found, here) + 1 : 0;
    setText(
      this.#status,
      !n ? t("no such op") : at ? t("{at} of {n}", { at, n }) : n === 1 ? t("1 match") : t("{n} matches", { n }),
    );
  }

  #isHit({ lane, row, i }: Hit) {
    const { ops, copies } = this.#hitsIn(this.timeline.lanes[lane]);
    const rows = row % 2 ? copies : ops;
    const n = rows ? indexFrom(rows, row >> 1, i, (each) => each) : -1;
    return rows !== null && n < rows.offsets[(row >> 1) + 1] && rows.at[n] === i;
  }

  #go(way: 1 | -1) {
    if (!this.#query) return;
    const from = this.#here() ?? { lane: -1, row: -1, i: -1, start: this.timeline.visible().t0 };
    const hit = step(this.#found(), from, way);
    if (hit) {
      const lane = this.timeline.lanes[hit.lane];
      this.selection.choose(lane, hit.i);
      reveal(this.timeline, this.selection.current(), true);
    }
    this.#say();
  }

  busy() {
    return !this.node.hidden && this.#query !== null;
  }

  draw(scene: Scene, ctx: CanvasRenderingContext2D, height: number) {
    ctx.beginPath();
    const bars = new Path2D();
    scene.lanes.forEach((lane, at) => {
      const { ops, copies } = this.#hitsIn(lane);
      for (const row of scene.layout.groups[at]?.rows ?? []) {
        if (row.y > height || row.y + row.h < scene.layout.axisHeight) continue;
        ringRow(scene, ctx, bars, ops, lane, row, row.y, row.h);
        if (copies && row.copyH) ringRow(scene, ctx, bars, copies, lane, row, row.copyY, row.copyH);
      }
    });
    strokeHaloed(ctx, () => ctx.stroke(), { ink: colour("mark-find"), width: 2.5 });
    ctx.fillStyle = colour("mark-find");
    ctx.fill(bars);
  }

  /** The lanes are others now, or the selected op is. */
  sync() {
    if (this.busy()) this.#say();
  }
}

/** The first of a row's hits whose value reaches a bound. */
const indexFrom = ({ at, offsets }: Rows, rank: number, bound: number, value: (i: number) => number) =>
  firstWhere(offsets[rank], offsets[rank + 1], (n) => value(at[n]) >= bound);

/**
 * Rings around the hits of a row that are wide enough; the others join to bars above the row, so that the cost is one
 * of pixels and not of hits.
 */
function ringRow(
  scene: Scene,
  ctx: CanvasRenderingContext2D,
  bars: Path2D,
  rows: Rows,
  { times }: Lane,
  { rank }: Row,
  y: number,
  tall: number,
) {
  const { layout, t0, t1 } = scene;
  const [left, right] = [layout.plotLeft, layout.plotLeft + layout.plotWidth];
  let n = indexFrom(rows, rank, t0, (i) => times.end[i]);
  while (n < rows.offsets[rank + 1]) {
    const i = rows.at[n];
    if (!(times.start[i] < t1)) return;
    const a = Math.max(left, xOf(scene, times.start[i]));
    const b = Math.min(right, xOf(scene, times.end[i]));
    if (b - a >= RING) {
      ctx.rect(a - 0.5, y - 0.5, b - a, tall + 1);
      n++;
      continue;
    }
    // Everything that begins within the next pixel belongs to this bar.
    bars.rect(a, y, Math.max(2, b - a), Math.min(4, tall));
    const beyond = t0 + ((Math.max(a + 1, b) - left) / layout.plotWidth) * (t1 - t0);
    n = Math.max(
      n + 1,
      indexFrom(rows, rank, beyond, (k) => times.end[k]),
    );
  }
}
