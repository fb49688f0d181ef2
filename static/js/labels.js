// The text pass: the micro-batch inside an op that is wide enough, with its kind when wider still.
import { paintsFor } from "./palette.js";
import { KIND_PAIR, chunkOf, globalMicro, kindOf, pairChunks } from "./pure/ops.js";
import { boxes } from "./paint.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Micros} from "./pure/ops.js" */

const LETTERS = "FIWB";
/** @type {string[][]} numbers as text by kind (the last without a letter), so that no frame makes strings */
const TEXT = [[], [], [], [], []];

/** @param {number} kind @param {number} k */
function text(kind, k) {
  return (TEXT[kind][k] ??= kind < 4 ? LETTERS[kind] + k : String(k));
}

/** @param {CanvasRenderingContext2D} ctx @param {Lane} lane @param {number} height @param {Micros} micros */
export function drawLabels(ctx, { schedule }, height, micros) {
  if (height < 11) return;
  const size = Math.min(13, Math.max(9, Math.floor(height * 0.5)));
  const digit = size * 0.64;
  const { chunks, codes } = schedule;
  const { ink } = paintsFor(chunks);
  ctx.font = `500 ${size}px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let n = 0; n < boxes.n; n++) {
    const b = boxes.order[n];
    if (boxes.w[b] < digit + 3) continue;
    const i = boxes.op[b];
    const code = codes[i];
    const kind = kindOf(code, chunks);
    const micro = globalMicro(schedule, boxes.slot[b] + chunkOf(code, chunks), micros.first[i]);
    ctx.fillStyle = ink[boxes.cls[b]];
    const x = boxes.x[b] + (boxes.w[b] - 1) / 2;
    const y = boxes.y[b] + height / 2 + 0.5;
    if (kind === KIND_PAIR) {
      drawPair(ctx, b, height, digit, micro, pairBackward(schedule, b, micros));
      continue;
    }
    const digits = micro < 10 ? 1 : micro < 100 ? 2 : micro < 1000 ? 3 : 4;
    if (boxes.w[b] >= digit * (digits + 1) + 12) ctx.fillText(text(kind, micro), x, y);
    else if (boxes.w[b] >= digit * digits + 3) ctx.fillText(text(4, micro), x, y);
  }
}

/** @param {Lane["schedule"]} schedule @param {number} b @param {Micros} micros */
function pairBackward(schedule, b, micros) {
  const i = boxes.op[b];
  const chunk = pairChunks(schedule.codes[i], schedule.chunks)[1];
  return globalMicro(schedule, boxes.slot[b] + chunk, micros.second ? micros.second[i] : 0);
}

/** Forward's number above left, backward's below right of the diagonal. */
/** @param {CanvasRenderingContext2D} ctx @param {number} b @param {number} height @param {number} digit
 *  @param {number} forward @param {number} backward */
function drawPair(ctx, b, height, digit, forward, backward) {
  const wide = digit * (String(forward).length + String(backward).length) + 10;
  if (boxes.w[b] < wide) return;
  const y = boxes.y[b] + height / 2 + 0.5;
  ctx.fillStyle = "#ffffff";
  ctx.fillText(text(4, forward), boxes.x[b] + boxes.w[b] * 0.24, y - height * 0.12);
  ctx.fillText(text(4, backward), boxes.x[b] + boxes.w[b] * 0.74, y + height * 0.12);
}
