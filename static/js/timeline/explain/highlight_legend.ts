// What the marks of the critical path, a followed micro-batch and the lanes of messages mean: in the legend
// where its line has room, so that a switch never moves the timeline, and in the list above the telling line
// always.
import { byId, context, h, replace } from "../../ui/dom.ts";
import { isTooWide, scrollByKeys } from "../../ui/keyboard.ts";
import { colour, residualPaints } from "../../ui/palette.ts";
import { drawnScale } from "../../data/matched_plan.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import type { ViewState } from "../../core/state/link.ts";

type Entry = { text: string; draw: (ctx: CanvasRenderingContext2D) => void };

const [WIDE, TALL] = [44, 24]; // px of a swatch, drawn at half that

const line = (dash: number[], token: string) => (ctx: CanvasRenderingContext2D) => {
  ctx.strokeStyle = colour(token);
  ctx.lineWidth = 4;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(0, TALL / 2);
  ctx.lineTo(WIDE, TALL / 2);
  ctx.stroke();
};

const bar = (hollow: boolean) => (ctx: CanvasRenderingContext2D) => {
  ctx.fillStyle = colour("k-c");
  ctx.fillRect(0, 6, WIDE, 12);
  ctx.fillStyle = colour("plot-row");
  if (hollow) ctx.fillRect(3, 9, WIDE - 6, 6);
};

function foot(ctx: CanvasRenderingContext2D) {
  ctx.fillStyle = colour("k-f");
  ctx.fillRect(0, 0, WIDE, 13);
  ctx.fillRect(6, 17, WIDE - 6, 6);
}

/** From early to late. */
function scale(ctx: CanvasRenderingContext2D) {
  const { fill } = residualPaints();
  fill.forEach((paint, at) => {
    ctx.fillStyle = paint;
    ctx.fillRect(Math.round((at * WIDE) / fill.length), 4, Math.ceil(WIDE / fill.length), 16);
  });
}

function entries({ crit, micro, lane, planned, late }: ViewState): Entry[] {
  const list = [];
  if (crit) list.push({ text: t("critical path"), draw: line([], "mark-path") });
  if (micro !== null) {
    list.push(
      { text: t("forward path"), draw: line([], "mark-way") },
      { text: t("backward path"), draw: line([11, 7], "mark-way") },
      { text: t("weight gradient, copies"), draw: line([3, 7], "mark-way") },
    );
  }
  if (lane)
    list.push(
      { text: t("activation: sent above, received below"), draw: bar(false) },
      { text: t("gradient"), draw: bar(true) },
    );
  if (planned) list.push({ text: t("below it: its plan"), draw: foot });
  if (late && drawnScale() > 0) {
    const full = formatNumber(drawnScale());
    list.push({ text: t("{full} early to {full} late", { full }), draw: scale });
  }
  return list;
}

function item({ text, draw }: Entry) {
  const node = h("canvas", { width: WIDE, height: TALL, "aria-hidden": "true" });
  draw(context(node));
  return h("span", {}, node, text);
}

/** The marks in use, for the list. */
export function highlightKey(view: ViewState) {
  const list = entries(view);
  return list.length ? h("p", { class: "highlight-key" }, ...list.map(item)) : null;
}

const inLegend = h("span", { class: "highlight-key", "aria-hidden": "true" });
let shownFor: ViewState | null = null;

/**
 * Write the marks in use into the legend, if they fit behind its last entry. view: the one shown last, where the legend
 * itself was rewritten.
 */
export function fitHighlightKey(view: ViewState | null = shownFor) {
  shownFor = view;
  const legend = byId("legend");
  inLegend.remove();
  if (view) replace(inLegend, ...entries(view).map(item)); // again each time: the colours may be others
  if (view && inLegend.childNodes.length && legend.childNodes.length) {
    legend.append(inLegend);
    if (isTooWide(legend)) inLegend.remove();
  }
  scrollByKeys(legend, t("Legend"));
}
