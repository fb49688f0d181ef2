// The schedule as a cube, drawn by the page itself on a plain canvas, so that it needs no WebGL: drag or the arrow keys
// turn
// it, and the timeline's playhead is a plane in it. Sends no requests.
import { font } from "../../timeline/draw/axis.ts";
import { paintCube, svgCube } from "./cube_paint.ts";
import { context, h } from "../../ui/dom.ts";
import { colour } from "../../ui/palette.ts";
import {
  PLAIN,
  covers,
  cubeOf,
  microNumber,
  paintOrder,
  projection,
  roomFor,
  sidesOf,
  turned,
  type Box,
  type Cube,
  type Dot,
  type View,
} from "../../core/drawing/cube.ts";
import { t } from "../../core/i18n/language.ts";
import { opText } from "../../core/schedule/ops.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import type { Plan } from "../../data/plan.ts";
import type { Schedule, Times } from "../../core/schedule/types.ts";
import type { Rows } from "../../core/drawing/chart_points.ts";

type Acts = { tell: (text: string | null) => void; select: (op: string) => void };

const STEP = 0.08; // radians of a key
const DRAG = 0.008; // radians of a pixel
const NEAR = 4; // px that a click may move
const SHARP = 3; // pixels of a PNG for each of the page's
export const PAD = 44; // px around for the names of the axes

export class CubeView {
  acts: Acts;

  #canvas = h("canvas", { "aria-hidden": "true" });
  node = h(
    "div.charts-cube",
    {
      tabindex: 0,
      role: "application",
      "aria-roledescription": t("cube"),
      hidden: true,
      "aria-label": t(
        "The schedule as a cube: time to the right, stages into the depth, micro-batches upward. Arrow keys turn " +
          "it. The table has every op.",
      ),
    },
    this.#canvas,
  );
  #cube: Cube | null = null;
  #schedule: Schedule | null = null;
  #times: Times | null = null;
  #order: (Box | Dot)[] = [];
  #inTime: Box[] | null = null;
  #view: View = PLAIN;
  #at: number | null = null;
  #over: Box | null = null;
  #size = { width: 0, height: 0 };
  #asked = 0;

  constructor(acts: Acts) {
    this.acts = acts;
    this.node.addEventListener("keydown", (event) => this.#onKey(event));
    this.#listen();
  }

  /** What it shows from now on. plan: whose times are known; returns whether it is new. */
  show({ schedule, times }: Plan, hop: number): boolean {
    if (!schedule || !times || (schedule === this.#schedule && times === this.#times)) return false;
    this.#schedule = schedule;
    this.#times = times;
    this.#cube = roomFor(schedule) ? cubeOf(schedule, times, hop) : null;
    this.#order = this.#cube ? paintOrder(this.#cube, this.#view) : [];
    this.#over = null;
    this.#inTime = null;
    this.redraw();
    return true;
  }

  get cube() {
    return this.#cube;
  }

  resize(width: number, height: number) {
    this.#size = { width, height };
    this.redraw();
  }

  /** The plane follows the playhead of the timeline. */
  playhead(at: number | null) {
    if (at === this.#at) return;
    this.#at = at;
    this.redraw();
  }

  /** In the next frame, once. */
  redraw() {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#paint();
    });
  }

  #paint() {
    const { width, height } = this.#size;
    const canvas = this.#canvas;
    if (!this.#cube || !this.#schedule || this.node.hidden || !width) return;
    const dpr = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * dpr) || canvas.height !== Math.round(height * dpr)) {
      canvas.width = Math.round(width * dpr);
      canvas.height = Math.round(height * dpr);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const ctx = context(canvas);
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.clearRect(0, 0, width, height);
    paintCube(ctx, this.#scene(width, height));
  }

  #scene(width: number, height: number) {
    const cube = this.#cube as Cube;
    return {
      cube,
      order: this.#order,
      view: this.#view,
      at: this.#at,
      over: this.#over,
      width,
      height,
      chunks: (this.#schedule as Schedule).chunks,
      project: projection(cube, this.#view, width, height, PAD),
    };
  }

  #listen() {
    const { node } = this;
    let from = null as { x: number; y: number; moved: number } | null;
    node.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, moved: 0 };
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      if (!from) {
        this.#point(event);
        return;
      }
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      from = { x: event.clientX, y: event.clientY, moved: from.moved + Math.abs(x) + Math.abs(y) };
      this.#turn(-x * DRAG, y * DRAG);
    });
    node.addEventListener("pointerup", (event) => {
      const still = from !== null && from.moved <= NEAR;
      from = null;
      if (!still) return;
      this.#point(event);
      if (this.#over) this.acts.select(this.#nameOf(this.#over));
    });
    node.addEventListener("pointercancel", () => {
      from = null;
    });
    node.addEventListener("pointerleave", () => this.#tell(null));
  }

  #onKey(event: KeyboardEvent) {
    const step = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
    if (step) this.#turn(step[0], step[1]);
    else if (event.key === "Home") this.#turn(PLAIN.turn - this.#view.turn, PLAIN.tilt - this.#view.tilt);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #turn(turn: number, tilt: number) {
    const before = this.#view;
    this.#view = turned(before, turn, tilt);
    if (this.#cube && before.turn >= 0 !== this.#view.turn >= 0) this.#order = paintOrder(this.#cube, this.#view);
    this.redraw();
  }

  /** The nearest box under the pointer: the one painted last. */
  #point(event: PointerEvent) {
    const { width, height } = this.#size;
    if (!this.#cube || !width) return;
    const rect = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    const project = projection(this.#cube, this.#view, width, height, PAD);
    const until = this.#at ?? Infinity;
    let found = null;
    for (let k = this.#order.length - 1; k >= 0 && !found; k--) {
      const box = this.#order[k];
      if (
        !("goal" in box) &&
        box.start < until &&
        sidesOf(project, this.#view, box, until).some((side) => covers(side, x, y))
      )
        found = box;
    }
    this.#tell(found as Box | null);
  }

  #tell(box: Box | null) {
    if (box === this.#over) return;
    this.#over = box;
    this.node.classList.toggle("is-over", box !== null);
    this.acts.tell(
      box &&
        t("{op}: stage {stage}, micro-batch {micro}, rank {rank}, from {start} to {end}.", {
          op: this.#opOf(box),
          stage: box.stage,
          micro: microNumber(this.#schedule as Schedule, box),
          rank: box.rank,
          start: formatNumber(box.start),
          end: formatNumber(box.end),
        }),
    );
    this.redraw();
  }

  #opOf = (box: Box) => opText(this.#schedule as Schedule, box.i);

  /** As a link names it. */
  #nameOf = (box: Box) => `${this.#opOf(box)}@${box.rank}`;

  /** Point at an op, as the pointer would. at: its row in the table. */
  point(at: number | null) {
    this.#over = at === null || !this.#cube ? null : this.#listed()[at];
    this.redraw();
  }

  /** Ops in the order of time. */
  #listed() {
    this.#inTime ??= [...(this.#cube as Cube).boxes].sort(
      (a, b) => a.start - b.start || a.rank - b.rank || a.micro - b.micro,
    );
    return this.#inTime;
  }

  /** at: its row in the table. */
  nameAt(at: number) {
    return this.#nameOf(this.#listed()[at]);
  }

  /** Every op that is drawn. */
  rows(): Rows {
    const schedule = this.#schedule as Schedule;
    const rows = this.#cube
      ? this.#listed().map((box) => ({
          cells: [this.#opOf(box), box.rank, box.stage, microNumber(schedule, box), box.start, box.end],
          lines: [],
          change: {},
          mark: "",
        }))
      : [];
    return {
      columns: [
        [t("op"), ""],
        [t("rank"), ""],
        [t("stage"), ""],
        [t("micro-batch"), ""],
        [t("start"), t("unit of the costs")],
        [t("end"), t("unit of the costs")],
      ],
      rows,
      notes: this.notes(),
    };
  }

  /** How to read it. */
  notes() {
    const cube = this.#cube;
    const schedule = this.#schedule as Schedule;
    if (!cube) return [];
    const parts = [
      t(
        "Every box is an op: time to the right, stages into the depth, micro-batches upward. Grey on the floor is " +
          "idle time.",
      ),
      ...(cube.dots.length ? [t("A dot is a message from stage to stage.")] : []),
      t(
        "Drag or use the arrow keys to turn it; play the timeline and its moment sweeps through as a plane. A " +
          "click selects the op.",
      ),
    ];
    if (cube.micros < cube.all) {
      const counts = { shown: cube.micros, all: cube.all };
      parts.push(
        schedule.placement.streams > 1
          ? t(
              "{shown} of {all} micro-batches are drawn, the first of each direction: more ops could not be told " +
                "apart.",
              counts,
            )
          : t("{shown} of {all} micro-batches are drawn, the first: more ops could not be told apart.", counts),
      );
    }
    return parts;
  }

  picture(form: "svg" | "png", title: string): Promise<Blob | null> {
    const { width, height } = this.#size;
    if (form === "svg")
      return Promise.resolve(new Blob([svgCube(this.#scene(width, height), title)], { type: "image/svg+xml" }));
    const canvas = h("canvas", { width: width * SHARP, height: height * SHARP });
    const ctx = context(canvas);
    ctx.scale(SHARP, SHARP);
    ctx.fillStyle = colour("surface");
    ctx.fillRect(0, 0, width, height);
    paintCube(ctx, this.#scene(width, height));
    ctx.fillStyle = colour("ink");
    ctx.font = `600 ${font(14)}`;
    ctx.textAlign = "left";
    ctx.fillText(title, 16, 20);
    return new Promise((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
  }
}
