// What the pages of students show, drawn small: those in view alone, a few a frame, and each different one once.
import { keyOf, type Drawn, type Seen, type View, type Views } from "./views.ts";
import { onRecolour } from "../../ui/appearance.ts";
import { context, h, setText } from "../../ui/dom.ts";
import { colour, paintsFor } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { classTable } from "../../core/timeline/bins.ts";

type Cell = { canvas: HTMLCanvasElement; label: HTMLElement; view: View | null; shown: string };

export const [WIDE, HIGH] = [168, 44]; // px
const FRAME_MS = 6; // of a frame that draws
const AROUND = "240px"; // also those that a short scroll brings
const MOST_KEPT = 150; // pictures

export class Thumbnails {
  views: Views;

  #cells = new Map<Element, Cell>();
  #seen = new Set<Element>();
  #queue = new Set<Element>();
  #pictures = new Map<string, HTMLCanvasElement>();
  #waits = false; // a frame is to draw
  #observer: IntersectionObserver;

  /** root: what scrolls them, null for the page. */
  constructor(views: Views, root: HTMLElement | null) {
    this.views = views;
    this.#observer = new IntersectionObserver((entries) => this.#onSight(entries), { root, rootMargin: AROUND });
    onRecolour(() => {
      this.#pictures.clear();
      for (const [node, cell] of this.#cells) {
        cell.shown = "";
        this.#want(node);
      }
    });
  }

  /** A new cell: a canvas over a line of words. */
  create(): HTMLElement {
    const canvas = h("canvas", { width: 1, height: 1, "aria-hidden": "true" });
    const label = h("span.thumb-label.cut");
    const node = h("div.thumb", canvas, label);
    this.#cells.set(node, { canvas, label, view: null, shown: "" });
    this.#observer.observe(node);
    return node;
  }

  show(node: HTMLElement, view: View | null) {
    const cell = this.#cells.get(node);
    if (!cell) return;
    cell.view = view;
    this.#want(node);
  }

  forget(node: HTMLElement) {
    this.#observer.unobserve(node);
    this.#cells.delete(node);
    this.#seen.delete(node);
    this.#queue.delete(node);
  }

  #onSight(entries: IntersectionObserverEntry[]) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.#seen.add(target);
      else this.#seen.delete(target);
      this.#want(target);
    }
  }

  #want(node: Element) {
    if (!this.#seen.has(node)) return;
    this.#queue.add(node);
    this.#soon();
  }

  #draw() {
    this.#waits = false;
    const begun = performance.now();
    for (const node of this.#queue) {
      if (performance.now() - begun > FRAME_MS) break;
      this.#queue.delete(node);
      const cell = this.#cells.get(node);
      if (cell && this.#seen.has(node)) void this.#fill(cell);
    }
    if (this.#queue.size) this.#soon();
  }

  #soon() {
    if (this.#waits) return;
    this.#waits = true;
    requestAnimationFrame(() => this.#draw());
  }

  async #fill(cell: Cell) {
    const { view, canvas, label } = cell;
    const seen = view && this.views.read(view);
    setText(label, seen ? seen.label : t("nothing yet"));
    label.title = label.textContent ?? "";
    canvas.hidden = !seen?.specs.length;
    if (!seen?.specs.length) return;
    const key = keyOf(seen);
    const shown = `${key} ${seen.at}`;
    if (cell.shown === shown) return;
    cell.shown = shown;
    const picture = this.#pictures.get(key) ?? (await this.#paint(key, seen));
    if (cell.shown !== shown) return; // another one has come meanwhile
    if (typeof picture === "string") {
      canvas.hidden = true;
      label.title = picture;
      return;
    }
    [canvas.width, canvas.height] = [picture.width, picture.height];
    const ctx = context(canvas);
    ctx.drawImage(picture, 0, 0);
    const end = Number(picture.dataset.end);
    if (seen.at === null || !(end > 0)) return;
    ctx.fillStyle = colour("mark-head");
    ctx.fillRect(Math.min(1, seen.at / end) * (picture.width - 2), 0, 2, picture.height);
  }

  /** Returns why where it cannot be drawn. */
  async #paint(key: string, seen: Seen) {
    const drawn = await this.views.drawn(seen);
    if (drawn.problem) return drawn.problem;
    const picture = paintLanes(drawn, WIDE, HIGH);
    this.#pictures.set(key, picture);
    const [oldest] = this.#pictures.keys();
    if (this.#pictures.size > MOST_KEPT) this.#pictures.delete(oldest);
    return picture;
  }
}

/** Schedules one below the other on one axis, in a canvas of its own. */
export function paintLanes({ lanes, end }: Drawn, wide: number, high: number) {
  const dpr = Math.min(2, window.devicePixelRatio || 1);
  const canvas = h("canvas", { width: Math.round(wide * dpr), height: Math.round(high * dpr), "data-end": end });
  const ctx = context(canvas);
  const gap = 3 * dpr;
  const tall = (canvas.height - gap * (lanes.length - 1)) / (lanes.length || 1);
  lanes.forEach((lane, at) => paintLane(ctx, lane, at * (tall + gap), tall, canvas.width / (end || 1)));
  return canvas;
}

/** k: pixels of a unit of time. */
function paintLane(
  ctx: CanvasRenderingContext2D,
  { schedule, times }: Drawn["lanes"][0],
  top: number,
  tall: number,
  k: number,
) {
  const { p, chunks, codes, offsets } = schedule;
  const { fill } = paintsFor(chunks);
  const classes = classTable(chunks);
  const rows = Math.min(p, Math.max(1, Math.floor(tall / 2))); // of many ranks some, evenly
  const row = tall / rows;
  for (let at = 0; at < rows; at++) {
    const r = rows === p ? at : Math.floor((at * p) / rows);
    const y = Math.round(top + at * row);
    const height = Math.max(1, Math.round(top + (at + 1) * row) - y - (row >= 5 ? 1 : 0));
    ctx.fillStyle = colour("plot-idle");
    ctx.fillRect(0, y, ctx.canvas.width, height);
    let painted = -1;
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const [from, to] = [times.start[i] * k, times.end[i] * k];
      if (!(to - painted >= 0.5) || !Number.isFinite(to)) continue; // in the pixels of the one before
      ctx.fillStyle = fill[classes[codes[i]]];
      ctx.fillRect(from, y, Math.max(0.75, to - from - (to - from > 4 ? 1 : 0)), height);
      painted = to;
    }
  }
}
