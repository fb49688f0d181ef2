// What the colours and the bars mean, for the kinds on the screen. The swatches are drawn as the timeline draws ops.
import { byId, context, h, replace } from "./dom.js";
import { colour, hatchPattern, paintsFor } from "./palette.js";
import { SHADES } from "./pure/bins.js";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, kindOf } from "./pure/ops.js";

/** @import {Lane} from "./lanes.js" */

const NAMES = ["F forward", "I input gradient", "W weight gradient", "B full backward = I + W", "F and B overlapped"];
let shown = "";

/** @type {WeakMap<Lane["schedule"], number[]>} */
const kindsIn = new WeakMap();

/** @param {Lane["schedule"]} schedule */
function kindsOf(schedule) {
  let found = kindsIn.get(schedule);
  if (!found) {
    const seen = new Uint8Array(256);
    for (let i = 0; i < schedule.count; i++) seen[schedule.codes[i]] = 1;
    const kinds = [KIND_F, KIND_I, KIND_W, KIND_B, KIND_PAIR];
    found = kinds.filter((kind) => seen.some((is, code) => is && kindOf(code, schedule.chunks) === kind));
    kindsIn.set(schedule, found);
  }
  return found;
}

/** @param {Lane[]} lanes @param {boolean} [again] colours changed */
export function drawLegend(lanes, again) {
  const kinds = new Set(lanes.flatMap((lane) => kindsOf(lane.schedule)));
  const chunks = Math.max(1, ...lanes.map((lane) => lane.schedule.chunks));
  const comm = lanes.some((lane) => lane.costs.comm > 0);
  const both = lanes.some((lane) => lane.schedule.placement.kind === "bidirectional");
  const key = [...kinds].sort().join() + chunks + comm + both;
  if (key === shown && !again) return;
  shown = key;
  const parts = [KIND_F, KIND_I, KIND_W, KIND_B, KIND_PAIR].filter((kind) => kinds.has(kind)).map((kind) => h("span", {}, swatch(kind), NAMES[kind]));
  if (comm) parts.push(h("span", {}, swatch(-2), "message in flight"));
  parts.push(h("span", {}, swatch(-1), "bubble"));
  if (chunks > 1) parts.push(h("span", {}, both ? "lighter: the other direction" : "lighter: later chunk"));
  replace(byId("legend"), ...parts);
}

/** @param {number} kind -1 bubble, -2 message */
function swatch(kind) {
  const node = h("canvas", { width: 44, height: 24, "aria-hidden": "true" });
  const ctx = context(node);
  if (kind < 0) {
    ctx.fillStyle = hatchPattern(2) ?? colour("plot-row");
    ctx.fillRect(0, 0, 44, 24);
    ctx.fillStyle = colour("k-c");
    if (kind === -2) ctx.fillRect(0, 8, 44, 8);
    return node;
  }
  const cls = 1 + kind * SHADES;
  const { fill, edge, top } = paintsFor(kind === KIND_PAIR ? 2 : 1);
  ctx.fillStyle = fill[cls];
  ctx.fillRect(0, 0, 44, 24);
  ctx.fillStyle = edge[cls];
  if (kind === KIND_I || kind === KIND_B) ctx.fillRect(0, 19, 44, 5);
  if (kind === KIND_W || kind === KIND_B) ctx.fillRect(0, 0, 44, 5);
  if (kind === KIND_PAIR) {
    const c = top[cls];
    ctx.fillStyle = `rgb(${c & 255}, ${(c >> 8) & 255}, ${(c >> 16) & 255})`;
    ctx.beginPath();
    ctx.moveTo(0, 0);
    ctx.lineTo(44, 0);
    ctx.lineTo(0, 24);
    ctx.fill();
  }
  return node;
}
