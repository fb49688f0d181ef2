// What the colours and the bars mean, for the kinds on the screen. The swatches are drawn as the timeline draws ops.
import { kindNames, shadeNames } from "../../core/drawing/kind_names.ts";
import { hasRoom } from "../draw/barriers.ts";
import { isDense } from "../draw/boxes.ts";
import { drawArrow } from "../draw/copy_lanes.ts";
import { byId, context, h, replace } from "../../ui/dom.ts";
import { fitHighlightKey } from "./highlight_legend.ts";
import { hatched, kindPattern } from "../draw/hatch_pattern.ts";
import { colour, copyPaints, hatchPattern, latePattern, paintsFor } from "../../ui/palette.ts";
import { SHADES, kindsIn } from "../../core/timeline/bins.ts";
import { OFFLOAD, RELOAD } from "../../core/schedule/copies.ts";
import { KIND_B, KIND_I, KIND_PAIR, KIND_S, KIND_T, KIND_W } from "../../core/schedule/ops.ts";
import { alive } from "../../core/measured/live_memory.ts";
import { formatBytes, formatNumber } from "../../core/i18n/numbers.ts";
import { t } from "../../core/i18n/language.ts";
import type { Scene } from "../../data/lanes.ts";

const [WIDE, TALL] = [44, 24]; // px of a swatch, drawn at half that
let shown = "";

/** again: colours changed. */
export function drawLegend(scene: Scene, again?: boolean) {
  const { lanes } = scene;
  const kinds = new Set(lanes.flatMap((lane) => kindsIn(lane.schedule)));
  const split = kinds.has(KIND_I) || kinds.has(KIND_W);
  const parts = kindNames(split).flatMap((name, kind) => (kinds.has(kind) ? [entry(`k${kind}`, name)] : []));
  if (lanes.some((lane) => lane.kind === "plan" && lane.costs.again !== undefined))
    parts.push(entry("again", t("forward that runs again")));
  if (lanes.some((lane) => lane.costs.comm > 0)) parts.push(entry("message", t("message in flight")));
  parts.push(entry("bubble", t("bubble")));
  if (lanes.some((lane) => lane.noted?.paced)) parts.push(entry("late", t("late start")));
  const barred = lanes.filter((lane) => lane.schedule.barriers > 0);
  if (barred.length)
    parts.push(
      entry(
        "barrier",
        barred.some((lane) => hasRoom(lane, scene))
          ? t("barrier opens: all ranks have done S, or T")
          : t("barriers, once zoomed in: all have done S, T"),
      ),
    ); // about as wide, so that a zoom moves nothing
  parts.push(...copyEntries(scene), ...stripEntries(scene));
  const [ops, rows] = [
    lanes.reduce((sum, lane) => sum + lane.schedule.count, 0),
    lanes.reduce((sum, lane) => sum + lane.schedule.p, 0),
  ];
  // of the whole, so that a zoom moves nothing
  const dense = isDense(ops, rows, scene.layout.plotWidth * devicePixelRatio);
  if (dense) parts.push({ mark: "", text: t("narrower than a pixel: stacked by share") });
  parts.push(...shadeNames(lanes.map(({ schedule }) => schedule)).map((text) => entry("", text)));
  const key = JSON.stringify([parts, scene.late ?? 0]); // the scale of residuals comes after it
  if (key === shown && !again) return;
  shown = key;
  replace(byId("legend"), ...parts.map(({ mark, text }) => h("span", {}, mark ? swatch(mark) : null, text)));
  fitHighlightKey();
}

const entry = (mark: string, text: string) => ({ mark, text });

function copyEntries({ lanes, layout }: Scene) {
  const copying = lanes.findIndex((lane) => lane.schedule.copies);
  if (copying < 0) return [];
  if (!layout.groups[copying]?.rows[0]?.copyH) return [entry("", t("copy lanes: too many ranks to show"))];
  return [entry("offload", t("offload to host memory")), entry("reload", t("reload"))];
}

function stripEntries({ lanes, full }: Scene) {
  if (!full) return [];
  const caps = lanes.some((lane) => lane.spec.memory !== null || lane.device?.()?.caps.some((cap) => cap <= full));
  const weights = lanes.some((lane) => (lane.spec.weights ?? 0) > 0);
  const all = formatNumber(Number(full.toPrecision(4)));
  const text = weights
    ? t("activations, stashed weights; full height {all}", { all })
    : t("activations; full height {all}", { all });
  const real = lanes.flatMap((lane) => alive(lane.schedule, lane.times, lane.spec, lane.details) ?? []);
  const bytes = real.length === 1 ? t(", measured {bytes}", { bytes: formatBytes(full * real[0].unit) }) : "";
  const counted = real.length ? [entry("counted", t("as the plan counts"))] : [];
  return [entry("held", `${text}${bytes}`), ...counted, ...(caps ? [entry("over", t("above its limit"))] : [])];
}

/** mark: what an entry shows: a kind of op, or a name. */
function swatch(mark: string) {
  const node = h("canvas", { width: WIDE, height: TALL, "aria-hidden": "true" });
  const ctx = context(node);
  if (mark[0] === "k") drawKind(ctx, Number(mark.slice(1)));
  else if (mark === "again") drawAgain(ctx);
  else if (mark === "offload" || mark === "reload") drawCopy(ctx, mark === "offload" ? OFFLOAD : RELOAD);
  else if (mark === "held" || mark === "over") drawHeld(ctx, mark === "over");
  else if (mark === "counted") drawCounted(ctx);
  else if (mark === "late") {
    ctx.fillStyle = latePattern(2) ?? colour("plot-late");
    ctx.fillRect(0, 0, WIDE, TALL);
  } else {
    ctx.fillStyle = mark === "barrier" ? colour("plot-row") : (hatchPattern(2) ?? colour("plot-idle"));
    ctx.fillRect(0, 0, WIDE, TALL);
    ctx.fillStyle = colour("k-c");
    if (mark === "message") ctx.fillRect(0, 8, WIDE, 8);
    if (mark === "barrier") ctx.fillRect(WIDE / 2 - 2, 0, 4, TALL);
  }
  return node;
}

function drawKind(ctx: CanvasRenderingContext2D, kind: number) {
  const cls = 1 + kind * SHADES;
  const { fill, ink, edge, top } = paintsFor(kind === KIND_PAIR ? 2 : 1);
  ctx.fillStyle = fill[cls];
  ctx.fillRect(0, 0, WIDE, TALL);
  const lines = hatched() ? kindPattern(kind, ink[cls], 2) : null;
  if (lines) {
    ctx.fillStyle = lines;
    ctx.fillRect(0, 0, WIDE, TALL);
  }
  ctx.fillStyle = edge[cls];
  if (kind === KIND_I || kind === KIND_B) ctx.fillRect(0, 19, WIDE, 5);
  if (kind === KIND_W || kind === KIND_B) ctx.fillRect(0, 0, WIDE, 5);
  if (kind === KIND_S) corner(ctx, WIDE, 0, -12, 12);
  if (kind === KIND_T) corner(ctx, WIDE, TALL, -12, -12);
  if (kind !== KIND_PAIR) return;
  const c = top[cls];
  ctx.fillStyle = `rgb(${c & 255}, ${(c >> 8) & 255}, ${(c >> 16) & 255})`;
  corner(ctx, 0, 0, WIDE, TALL);
}

/** A backward with what it runs again at its front. */
function drawAgain(ctx: CanvasRenderingContext2D) {
  drawKind(ctx, KIND_B);
  ctx.fillStyle = paintsFor(1).fill[1];
  ctx.fillRect(0, 5, WIDE / 2, TALL - 10);
}

function corner(ctx: CanvasRenderingContext2D, x: number, y: number, wide: number, tall: number) {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + wide, y);
  ctx.lineTo(x, y + tall);
  ctx.fill();
}

/** kind: of copy. */
function drawCopy(ctx: CanvasRenderingContext2D, kind: number) {
  const cls = 1 + kind * SHADES;
  const { fill, ink } = copyPaints();
  ctx.fillStyle = fill[cls];
  ctx.fillRect(0, 4, WIDE, 16);
  ctx.fillStyle = ink[cls];
  ctx.scale(2, 2);
  drawArrow(ctx, 7.5, TALL / 4, 5, kind);
}

/** Draw a line along levels, as it is drawn over measured ones. */
function drawCounted(ctx: CanvasRenderingContext2D) {
  ctx.fillStyle = colour("plot-ink");
  [
    [0, 14, 11],
    [11, 7, 22],
    [33, 14, 11],
  ].forEach(([x, y, wide]) => ctx.fillRect(x, y, wide, 2));
  for (const x of [11, 31]) ctx.fillRect(x, 7, 2, 9);
}

function drawHeld(ctx: CanvasRenderingContext2D, over: boolean) {
  [10, 16, 22, 14].forEach((tall, at) => {
    ctx.fillStyle = colour("plot-held");
    ctx.fillRect(11 * at, TALL - Math.min(tall, over ? 14 : tall), 11, Math.min(tall, over ? 14 : tall));
    ctx.fillStyle = colour("plot-cap");
    if (over && tall > 14) ctx.fillRect(11 * at, TALL - tall, 11, tall - 14);
  });
  if (over) ctx.fillRect(0, TALL - 14, WIDE, 2);
}
