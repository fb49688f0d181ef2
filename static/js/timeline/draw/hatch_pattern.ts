// Hatching of the kinds of op, for eyes and projectors that colours do not reach: each kind has lines of its own way.
import { context, h } from "../../ui/dom.ts";
import { boxes, inset } from "./boxes.ts";
import { HATCHES, TILE } from "../../core/drawing/hatches.ts";

const LEAST = 6; // px of an op's width and height; below that lines are noise
const STRENGTH = 0.42;

const patterns: Map<string, CanvasPattern | null> = new Map();

/** Does the reader want it? */
export const hatched = () => document.documentElement.dataset.hatch === "1";

/** ink: of the lines. */
export function kindPattern(kind: number, ink: string, dpr: number) {
  const path = HATCHES[kind];
  if (!path) return null;
  const key = `${kind} ${ink} ${dpr}`;
  let found = patterns.get(key);
  if (found === undefined) {
    const size = Math.round(TILE * dpr);
    const tile = h("canvas", { width: size, height: size });
    const ctx = context(tile);
    ctx.scale(size / TILE, size / TILE);
    ctx.globalAlpha = STRENGTH;
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1;
    ctx.stroke(new Path2D(path));
    found = ctx.createPattern(tile, "repeat");
    patterns.set(key, found);
  }
  return found;
}

/** Lines over boxes of one kind that are filled already. */
export function paintHatch(
  ctx: CanvasRenderingContext2D,
  from: number,
  to: number, // of the boxes' order
  height: number,
  kind: number,
  ink: string,
  dpr: number,
) {
  const pattern = height >= LEAST ? kindPattern(kind, ink, dpr) : null;
  if (!pattern) return;
  ctx.save();
  ctx.scale(1 / dpr, 1 / dpr); // the pattern's tile is in device pixels
  ctx.fillStyle = pattern;
  for (let n = from; n < to; n++) {
    const b = boxes.order[n];
    if (boxes.w[b] >= LEAST) ctx.fillRect(boxes.x[b] * dpr, boxes.y[b] * dpr, inset(boxes.w[b]) * dpr, height * dpr);
  }
  ctx.restore();
}
