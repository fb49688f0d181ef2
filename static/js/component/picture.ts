// The timeline of <bubble-line> on two canvases: the ops, and over them the playhead and what is under the pointer.
import { arrange, type Lane, type Scene } from "../data/lanes.ts";
import { boxOf, drawAxis, drawGrid, drawRanks, timeAt } from "../timeline/draw/axis.ts";
import { paintLabelsAhead, paintOps } from "../timeline/draw/ops.ts";
import { drawPlayhead } from "../timeline/draw/overlay.ts";
import { begin, resize, surface, zoomOf } from "../ui/canvas.ts";
import { h } from "../ui/dom.ts";
import { colour, readPalette } from "../ui/palette.ts";
import { hit } from "../core/timeline/layout.ts";

type Place = { rank: number; t: number };
export type Mark = {
  rank: number;
  i: number; // an op, or -1 for idle time
  from: number;
  to: number;
};

/** The picture whose colours the palette has: elements of a page may differ in their themes. */
let painter: Picture | null = null;
/** As many rows as a group's title takes in the page: here it is above the plot. */
const NO_TITLE = 28;

export class Picture {
  plot: HTMLElement;
  frame: HTMLElement;

  #base = surface(h("canvas"), { alpha: false });
  #over = surface(h("canvas"));
  #lane: Lane | null = null;
  #zoom = 1;
  scene: Scene = { layout: arrange([], 1, 1, false), lanes: [], t0: 0, t1: 1, full: 0 };

  /** frame: whose colours it takes. */
  constructor(plot: HTMLElement, frame: HTMLElement) {
    this.plot = plot;
    this.frame = frame;
    plot.append(this.#base.node, this.#over.node);
  }

  show(lane: Lane) {
    this.#lane = lane;
  }

  /** The colours have changed. */
  recolour() {
    if (painter === this) painter = null;
  }

  #takePalette() {
    if (painter === this) return;
    readPalette(this.frame);
    painter = this;
  }

  draw() {
    const lane = this.#lane;
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!lane || !width || !height) return;
    this.#takePalette();
    this.#zoom = zoomOf(this.plot);
    resize(this.#base, width, height, this.#zoom);
    const layout = moveUp(arrange([lane], width, height + NO_TITLE, false), NO_TITLE);
    this.scene = { layout, lanes: [lane], t0: 0, t1: lane.end || 1, full: 0 };
    const ctx = begin(this.#base);
    ctx.fillStyle = colour("surface");
    ctx.fillRect(0, 0, width, height);
    drawGrid(this.scene, ctx, height);
    paintOps(this.scene, ctx, this.#base.dpr);
    drawRanks(this.scene, ctx);
    drawAxis(this.scene, ctx, width);
  }

  /** at: the playhead; mark: what is outlined. */
  drawOver(at: number | null, mark: Mark | null) {
    this.#takePalette();
    resize(this.#over, this.#base.width, this.#base.height, this.#zoom);
    const ctx = begin(this.#over);
    drawPlayhead(this.scene, ctx, at, this.#over.height);
    if (at !== null && at < this.scene.t1) paintLabelsAhead(this.scene, ctx, this.#base.dpr, at);
    const box = mark && this.boxOf(mark);
    if (!box) return;
    ctx.strokeStyle = colour("mark-here");
    ctx.lineWidth = 2;
    if (mark.i < 0) ctx.setLineDash([4, 3]);
    ctx.strokeRect(box.x + 1, box.y + 1, Math.max(1, box.w - 2), Math.max(1, box.h - 2));
    ctx.setLineDash([]);
  }

  boxOf({ rank, i, from, to }: Mark) {
    if (i >= 0) return boxOf(this.scene, this.scene.lanes[0].id, rank, i);
    const { layout, t0, t1 } = this.scene;
    const row = layout.groups[0]?.rows.find((each) => each.rank === rank);
    const k = layout.plotWidth / (t1 - t0);
    return row ? { x: layout.plotLeft + from * k, y: row.y, w: (to - from) * k, h: row.h } : null;
  }

  placeAt(x: number, y: number): Place | null {
    const found = hit(this.scene.layout, x, y);
    return found?.inPlot ? { rank: found.rank, t: timeAt(this.scene, x) } : null;
  }
}

const moveUp = (layout: ReturnType<typeof arrange>, by: number) => ({
  ...layout,
  contentHeight: layout.contentHeight - by,
  groups: layout.groups.map((group) => ({
    ...group,
    height: group.height - by,
    rows: group.rows.map((row) => ({
      ...row,
      y: row.y - by,
      stripY: row.stripY - by,
      copyY: row.copyY - by,
      commY: row.commY - by,
    })),
  })),
});
