// Paints a cube: one list of shapes and texts, from which a canvas or an SVG is drawn. Knows colours, no page.
import { colour, paintsFor } from "../../ui/palette.ts";
import { SHADES } from "../../core/timeline/bins.ts";
import { dotAt, floorOf, planeAt, sidesOf } from "../../core/drawing/cube.ts";
import { t } from "../../core/i18n/language.ts";
import { LETTERS } from "../../core/schedule/ops.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import type { Box, Cube, Dot, Point, Project, View } from "../../core/drawing/cube.ts";

type Scene = {
  cube: Cube;
  order: (Box | Dot)[];
  view: View;
  at: number | null;
  over: Box | null;
  width: number;
  height: number;
  chunks: number;
  project: Project;
};
type Shape = {
  points?: Point[];
  dot?: Point;
  r?: number;
  fill?: string;
  alpha?: number;
  stroke?: string;
  width?: number;
  dash?: string;
  open?: boolean;
  text?: string;
  at?: Point;
  anchor?: "start" | "middle" | "end";
  size?: number;
};

const DOT = 2.4; // px
const IDLE = 0.7; // opacity of idle time on the floor
const MOMENT = 1 / 60; // of the whole time that a message without a hop is seen
const EDGED = 4; // px of a front that has room for its edges
const ROOM = 11; // px of a front that has room for its letter
const FONT = "system-ui, sans-serif";

/** What is painted, in order. */
function shapesOf(scene: Scene): Shape[] {
  const { order, view, at, project, cube } = scene;
  const shapes = [...frameOf(scene)];
  for (const idle of cube.idle)
    if (idle.start < (at ?? Infinity)) {
      const seen = { ...idle, end: Math.min(idle.end, at ?? Infinity) };
      shapes.push({ points: floorOf(project, seen), fill: colour("plot-idle"), alpha: IDLE });
    }
  const plane = at === null ? [] : planeShapes(scene, at);
  // Past time is before the plane when seen from its right, and behind it when seen from its left.
  if (view.turn < 0) shapes.push(...plane);
  const until = at ?? Infinity;
  for (const item of order) {
    if ("goal" in item) {
      const spot = dotAt(project, item, at, cube.total * MOMENT);
      if (spot) shapes.push({ dot: spot, r: DOT, fill: colour("k-c"), stroke: colour("ink"), width: 0.5 });
    } else if (item.start < until) shapes.push(...boxShapes(scene, item, until));
  }
  if (view.turn >= 0) shapes.push(...plane);
  return [...shapes, ...cubeLabels(scene)];
}

function boxShapes({ view, project, chunks, over, at }: Scene, box: Box, until: number): Shape[] {
  const paints = paintsFor(chunks);
  const cls = 1 + box.kind * SHADES + (box.chunk % SHADES);
  const fill = paints.fill[cls];
  const running = at !== null && box.end > at;
  const marked = box === over;
  const sides = sidesOf(project, view, box, until);
  const [a, b, c] = sides[2].points;
  const fine = Math.abs(b[0] - a[0]) < EDGED; // edges of so small a box would be all of it
  const line =
    marked || running
      ? { stroke: colour("ink"), width: marked ? 1.8 : 1 }
      : fine
        ? {}
        : { stroke: paints.edge[cls], width: 0.4 };
  const shapes: Shape[] = sides.map(({ face, points }) => ({
    points,
    fill: face === "front" ? fill : face === "top" ? lighter(fill) : paints.edge[cls],
    ...line,
  }));
  if (Math.hypot(b[0] - a[0], b[1] - a[1]) >= ROOM && Math.abs(c[1] - b[1]) >= ROOM) {
    shapes.push({
      text: LETTERS[box.kind],
      at: [(a[0] + c[0]) / 2, (a[1] + c[1]) / 2],
      anchor: "middle",
      size: 10,
      fill: paints.ink[cls],
    });
  }
  return shapes;
}

const lightened = new Map<string, string>();

/** css: "rgb(1, 2, 3)". */
function lighter(css: string) {
  let found = lightened.get(css);
  if (!found) {
    found = `rgb(${(css.match(/\d+/g) ?? []).map((x) => Math.round(Number(x) + (255 - Number(x)) * 0.32)).join(", ")})`;
    lightened.set(css, found);
  }
  return found;
}

/** The floor and the walls behind. */
function frameOf({ cube: { stages, micros, total }, project, view }: Scene): Shape[] {
  const x = view.turn >= 0 ? 0 : total; // the wall that is behind
  const floor = [project(0, 0, 0), project(total, 0, 0), project(total, stages, 0), project(0, stages, 0)];
  const back = [project(0, 0, 0), project(total, 0, 0), project(total, 0, micros), project(0, 0, micros)];
  const side = [project(x, 0, 0), project(x, stages, 0), project(x, stages, micros), project(x, 0, micros)];
  const line = { stroke: colour("line"), width: 1 };
  const shapes = [floor, back, side].map((points) => ({ points, fill: colour("plot-row"), ...line }));
  const lanes = Array.from({ length: Math.min(64, stages - 1) }, (_, k) => ({
    points: [project(0, k + 1, 0), project(total, k + 1, 0)],
    open: true,
    ...line,
  }));
  return [...shapes, ...(stages <= 64 ? lanes : [])];
}

const planeShapes = ({ project, cube }: Scene, at: number): Shape[] => [
  { points: planeAt(project, cube, at), fill: colour("accent"), alpha: 0.16 },
  { points: planeAt(project, cube, at), stroke: colour("accent"), width: 1.5 },
];

/** The axes' names and ends, along the edges that are nearest. */
function cubeLabels({ cube: { stages, micros, total }, project, view, at }: Scene): Shape[] {
  const near = view.turn >= 0 ? 0 : total;
  const far = total - near;
  const out = view.turn >= 0 ? 1 : -1;
  const size = 11;
  const fill = colour("ink-3");
  const word = (
    text: string,
    [x, y]: Point,
    dx: number,
    dy: number,
    anchor: "start" | "middle" | "end",
    strong?: boolean,
  ): Shape => ({
    text,
    at: [x + dx, y + dy],
    anchor,
    size,
    fill: strong ? colour("plot-ink") : fill,
  });
  const beside = out > 0 ? "start" : "end";
  const before = out > 0 ? "end" : "start";
  const words = [
    word("0", project(0, stages, 0), 0, 14, "middle"),
    word(formatNumber(Number(total.toPrecision(4))), project(total, stages, 0), 0, 14, "middle"),
    word(t("time, in the unit of the costs"), project(total / 2, stages, 0), 0, 26, "middle", true),
    word("0", project(far, 0.5, 0), 8 * out, 4, beside),
    word(String(stages - 1), project(far, stages - 0.5, 0), 8 * out, 4, beside),
    word(t("stage"), project(far, stages / 2, 0), 12 * out, 12, beside, true),
    word("0", project(near, stages, 0.5), -8 * out, 4, before),
    word(String(micros - 1), project(near, stages, micros - 0.5), -8 * out, 4, before),
    word(t("micro-batch"), project(near, stages, micros), -8 * out, -12, view.turn >= 0 ? "start" : "end", true),
  ];
  if (at !== null)
    words.push(word(`t ${formatNumber(Number(at.toPrecision(4)))}`, project(at, 0, micros), 0, -8, "middle", true));
  return words;
}

export function paintCube(ctx: CanvasRenderingContext2D, scene: Scene) {
  ctx.lineJoin = "round";
  for (const shape of shapesOf(scene)) {
    const { points, dot, fill, stroke, text } = shape;
    ctx.globalAlpha = shape.alpha ?? 1;
    if (text !== undefined && shape.at) {
      ctx.font = `${shape.size}px ${FONT}`;
      ctx.textAlign = shape.anchor === "middle" ? "center" : (shape.anchor ?? "start");
      ctx.textBaseline = "middle";
      ctx.fillStyle = fill ?? "";
      ctx.fillText(text, ...shape.at);
      continue;
    }
    ctx.beginPath();
    if (dot) ctx.arc(dot[0], dot[1], shape.r ?? DOT, 0, 2 * Math.PI);
    else points?.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    if (points && !shape.open) ctx.closePath();
    if (fill) {
      ctx.fillStyle = fill;
      ctx.fill();
    }
    if (stroke) {
      ctx.strokeStyle = stroke;
      ctx.lineWidth = shape.width ?? 1;
      ctx.stroke();
    }
  }
  ctx.globalAlpha = 1;
}

/** The same as a picture of lines. */
export function svgCube(scene: Scene, title: string) {
  const { width, height } = scene;
  const parts = shapesOf(scene).map(svgOf);
  const head = `<text x="16" y="20" font-size="14" font-weight="600" fill="${colour("ink")}">${escaped(title)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${FONT}" stroke-linejoin="round">` +
    `<rect width="${width}" height="${height}" fill="${colour("surface")}"/>${parts.join("")}${head}</svg>`
  );
}

function svgOf({ points, dot, r, fill, alpha, stroke, width, open, text, at, anchor, size }: Shape) {
  const opacity = alpha ? ` fill-opacity="${alpha}"` : "";
  const line = stroke ? ` stroke="${stroke}" stroke-width="${width ?? 1}"` : "";
  const paint = `fill="${fill ?? "none"}"${opacity}${line}`;
  if (text !== undefined && at)
    return (
      `<text x="${px(at[0])}" y="${px(at[1])}" font-size="${size}" text-anchor="${anchor}" ` +
      `dominant-baseline="central" ${paint}>${escaped(text)}</text>`
    );
  if (dot) return `<circle cx="${px(dot[0])}" cy="${px(dot[1])}" r="${r}" ${paint}/>`;
  const corners = (points ?? []).map(([x, y]) => `${px(x)},${px(y)}`).join(" ");
  return `<${open ? "polyline" : "polygon"} points="${corners}" ${paint}/>`;
}

const px = (x: number) => Number(x.toFixed(1));

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
