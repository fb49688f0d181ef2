// The text pass: the micro-batch inside an op that is wide enough, with its kind when wider still.
import { RECTANGLES, boxes } from "./boxes.ts";
import { leastType } from "./axis.ts";
import { paintsFor } from "../../ui/palette.ts";
import { KIND_PAIR, LETTERS, chunkOf, globalMicro, kindOf, pairChunks, type Micros } from "../../core/schedule/ops.ts";
import type { Lane } from "../../data/lanes.ts";

/** Numbers as text by kind (under a pair's without a letter), so that no frame makes strings. */
const TEXT: string[][] = Array.from(LETTERS, () => []);
const BARE = KIND_PAIR;

const done = new Uint8Array(RECTANGLES);

function text(kind: number, k: number) {
  return (TEXT[kind][k] ??= kind === BARE ? String(k) : LETTERS[kind] + k);
}

const SMALLER = [10, 9];
export const LEAST_LABELLED = 11; // px of a row
const DIGIT = 0.62; // of the size of the font
const BESIDE = 12; // px beside a label with a letter

const spent = new Float64Array(LETTERS.length); // by kind: the time of its ops in sight, and their number
const counted = new Int32Array(LETTERS.length);

/** Labels in a size that suits the lane; ops too narrow for that get a smaller one, in passes of their own. */
export function drawLabels(
  ctx: CanvasRenderingContext2D,
  lane: Lane,
  height: number,
  micros: Micros,
  perTime: number, // pixels of a unit of time
  inkOf: ((box: number) => string) | null = null, // of a box, where it is not the one of its kind
  ahead = false, // whether they are over the veil ahead of the playhead
) {
  if (height < LEAST_LABELLED) return;
  const least = leastType();
  const size = Math.min(13, Math.max(9, least, Math.floor(height * 0.5)));
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  done.fill(0, 0, boxes.n);
  const lettered = withLetters(lane, size * DIGIT, perTime);
  for (const each of [size, ...SMALLER.filter((small) => small < size && small >= least)]) {
    ctx.font = `500 ${each}px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif`;
    drawPass(ctx, lane, height, micros, each * DIGIT, lettered, inkOf, ahead);
  }
}

/**
 * Whether the numbers of a lane have their kind's letter: all or none, by the kind whose ops are the shortest, without
 * those that have no room for any label. An op's whole length counts, also beyond the edge of the window.
 */
function withLetters({ schedule, times }: Lane, digit: number, perTime: number) {
  const wide = digit * String(schedule.m - 1).length;
  spent.fill(0);
  counted.fill(0);
  for (let b = 0; b < boxes.n; b++) {
    const i = boxes.op[b];
    const kind = kindOf(schedule.codes[i], schedule.chunks);
    if (kind === KIND_PAIR) continue;
    spent[kind] += times.end[i] - times.start[i];
    counted[kind]++;
  }
  let least = Infinity;
  for (let kind = 0; kind < spent.length; kind++) {
    const room = (spent[kind] / counted[kind]) * perTime; // NaN without ops
    if (room >= wide + 2) least = Math.min(least, room);
  }
  return least >= wide + digit + BESIDE;
}

function drawPass(
  ctx: CanvasRenderingContext2D,
  { schedule }: Lane,
  height: number,
  micros: Micros,
  digit: number,
  lettered: boolean,
  inkOf: ((box: number) => string) | null,
  ahead: boolean,
) {
  const { chunks, codes, m } = schedule;
  const paints = paintsFor(chunks);
  const { ink, inkUp } = ahead ? paints.ahead : paints;
  const wide = digit * String(m - 1).length; // of the largest number, so that ops of one length are labelled alike
  for (let n = 0; n < boxes.n; n++) {
    const b = boxes.order[n];
    if (done[b] || boxes.room[b] < digit + 2) continue;
    const code = codes[boxes.op[b]];
    const kind = kindOf(code, chunks);
    const micro = globalMicro(schedule, boxes.slot[b] + chunkOf(code, chunks), micros.first[boxes.op[b]]);
    ctx.fillStyle = inkOf ? inkOf(b) : ink[boxes.cls[b]];
    if (kind === KIND_PAIR) {
      done[b] = drawPair(ctx, b, height, wide, micro, pairBackward(schedule, b, micros), inkOf ? null : inkUp);
      continue;
    }
    if (boxes.room[b] < wide + 2 + (lettered ? digit : 0)) continue;
    ctx.fillText(text(lettered ? kind : BARE, micro), boxes.x[b] + (boxes.w[b] - 1) / 2, boxes.y[b] + height / 2 + 0.5);
    done[b] = 1;
  }
}

function pairBackward(schedule: Lane["schedule"], b: number, micros: Micros) {
  const i = boxes.op[b];
  const chunk = pairChunks(schedule.codes[i], schedule.chunks)[1];
  return globalMicro(schedule, boxes.slot[b] + chunk, micros.second ? micros.second[i] : 0);
}

/** Forward's number above left, backward's below right of the diagonal; 0 when there is no room. */
function drawPair(
  ctx: CanvasRenderingContext2D,
  b: number,
  height: number,
  wide: number,
  forward: number,
  backward: number,
  inkUp: string[] | null, // of text on the upper half, by class, where it is not that of the lower
) {
  if (boxes.room[b] < (height < 26 ? 2 * wide : 1.4 * wide) + 8) return 0;
  const y = boxes.y[b] + height / 2 + 0.5;
  ctx.fillText(text(BARE, backward), boxes.x[b] + boxes.w[b] * 0.74, y + height * 0.2);
  if (inkUp) ctx.fillStyle = inkUp[boxes.cls[b]];
  ctx.fillText(text(BARE, forward), boxes.x[b] + boxes.w[b] * 0.26, y - height * 0.2);
  return 1;
}
