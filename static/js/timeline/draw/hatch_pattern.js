// Hatching of the kinds of op, for eyes and projectors that colours do not reach: each kind has lines of its own way.
import { context, h } from "../../ui/dom.js";
import { boxes, inset } from "./boxes.js";
import { HATCHES, TILE } from "../../core/drawing/hatches.js";

const LEAST = 6; // px of an op's width and height; below that lines are noise
const STRENGTH = 0.42;

/** @type {Map<string, CanvasPattern | null>} */
const patterns = new Map();

/** Does the reader want it? */
export const hatched = () => document.documentElement.dataset.hatch === "1";

/** @param {number} kind @param {string} ink of the lines @param {number} dpr */
export function kindPattern(kind, ink, dpr) {
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

/**
 * Lines over boxes of one kind that are filled already.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} from
 * @param {number} to of the boxes' order
 * @param {number} height
 * @param {number} kind
 * @param {string} ink
 * @param {number} dpr
 */
export function paintHatch(ctx, from, to, height, kind, ink, dpr) {
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
