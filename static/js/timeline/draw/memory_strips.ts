// The memory strips above the rows, and the button that shows them. Levels are drawn as each pixel's maximum, in runs
// of equal height, so that a strip costs at most one rectangle a pixel however many ops there are. Of a run they are
// what it measured, with what the plan counts as a line over it.
import { font, xOf } from "./axis.ts";
import { byId, h, icon } from "../../ui/dom.ts";
import { colour } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { bytesText } from "../../data/costs/quantities.ts";
import { alive } from "../../core/measured/live_memory.ts";
import { formatBytes, formatNumber } from "../../core/i18n/numbers.ts";
import { held, levelAt, maxima, stripsByDefault } from "../../core/timeline/memory_strips.ts";
import type { Lane, Scene } from "../../data/lanes.ts";
import type { Row } from "../../core/timeline/layout.ts";
import type { Store } from "../../data/store.ts";

type Ctx = CanvasRenderingContext2D;

const DUST = 1e-9; // of a cap; shares of activations add up with some
const NEAR = 1.5; // of the highest level: a device's limit further up would flatten the strips
const READABLE = 10; // px of a strip beside which a number can stand
const ICON = "M1 14V9h3V6h3V3h3v4h2v3h3v4z";

let levels = new Float32Array(0);

/**
 * Are the strips drawn? The reader's word, else where memory is what the schedule is about or rows have room for them;
 * those of a run are only asked for where they are wanted. height: of the plot.
 */
export function stripsShown(mem: string | null, lanes: Lane[], height: number) {
  if (mem !== null) return mem === "1";
  const rows = lanes.reduce((sum, { schedule }) => sum + schedule.p, 0);
  const planned = lanes.every(({ kind }) => kind === "plan");
  const specs = lanes.map(({ spec }) => spec);
  const holds = specs.some((spec) => !spec.forward_only); // forwards alone keep nothing
  return stripsByDefault(specs, planned && holds && rows ? height / rows : 0);
}

/** The memory at the full height of a strip: one scale for all lanes, so that they compare. */
export const fullHeight = (lanes: Lane[]) =>
  lanes.reduce((most, { schedule, times, spec, device }) => {
    const { top } = held(schedule, times, spec);
    const near = (device?.()?.caps ?? []).filter((cap) => cap <= NEAR * top);
    return Math.max(most, top, spec.memory ?? 0, ...near);
  }, 0);

/** height: of the plot. */
export function paintStrips(scene: Scene, ctx: Ctx, dpr: number, height: number) {
  const { layout, lanes, t0, t1, full } = scene;
  if (!full) return;
  const columns = Math.max(1, Math.round(layout.plotWidth * dpr));
  if (levels.length < columns) levels = new Float32Array(columns);
  ctx.save();
  ctx.scale(1 / dpr, 1 / dpr); // whole pixels of the device, so that equal levels have equal heights
  lanes.forEach((lane, at) => {
    lane.want?.();
    const { steps } = held(lane.schedule, lane.times, lane.spec);
    const real = alive(lane.schedule, lane.times, lane.spec, lane.details);
    const caps = lane.device?.()?.caps ?? [];
    const stop = Math.max(0, Math.min(columns, Math.ceil(((lane.end - t0) / (t1 - t0)) * columns)));
    for (const row of layout.groups[at].rows) {
      if (row.stripY + row.stripH < 0 || row.stripY > height) continue;
      const strip = placeOf(row, Math.round(layout.plotLeft * dpr), stop, dpr, full);
      maxima((real?.steps ?? steps)[row.rank], t0, t1, columns, levels);
      if (real) for (let x = 0; x < stop; x++) levels[x] /= real.unit;
      const cap = Math.min(lane.spec.memory ?? Infinity, caps[row.rank] ?? Infinity);
      paintStrip(ctx, strip, real || cap > full ? null : cap);
      if (!real) continue;
      maxima(steps[row.rank], t0, t1, columns, levels);
      paintLine(ctx, strip);
    }
  });
  ctx.restore();
}

/** In pixels of the device. */
type Strip = {
  left: number;
  stop: number; // columns that are drawn
  foot: number;
  thin: number; // the width of a line
  rise: (level: number) => number; // how high a level is drawn
};

function placeOf(row: Row, left: number, stop: number, dpr: number, full: number): Strip {
  const foot = Math.round((row.stripY + row.stripH) * dpr);
  const air = row.stripH < READABLE ? 1 : 2; // above, so that a full strip does not touch the row over it
  const room = Math.max(1, foot - Math.round(row.stripY * dpr) - Math.round(air * dpr));
  return {
    left,
    stop,
    foot,
    thin: Math.max(1, Math.round(dpr)),
    rise: (level) => (level > 0 ? Math.max(1, Math.round((level / full) * room)) : 0),
  };
}

function paintStrip(ctx: Ctx, { left, stop, foot, thin, rise }: Strip, cap: number | null) {
  const limit = cap === null ? Infinity : cap * (1 + DUST);
  const capped = cap === null ? Infinity : rise(cap);
  const [fill, over] = [colour("plot-held"), colour("plot-cap")];
  for (let x = 0; x < stop;) {
    const from = x;
    const tall = rise(levels[x]);
    const beyond = levels[x] > limit;
    while (x < stop && rise(levels[x]) === tall && levels[x] > limit === beyond) x++;
    ctx.fillStyle = fill;
    ctx.fillRect(left + from, foot - Math.min(tall, capped), x - from, Math.min(tall, capped));
    if (!beyond) continue;
    const more = Math.max(1, tall - capped);
    ctx.fillStyle = over;
    ctx.fillRect(left + from, foot - capped - more, x - from, more);
  }
  ctx.fillStyle = over;
  if (cap !== null) ctx.fillRect(left, foot - capped, stop, thin);
}

/** A line along the levels. */
function paintLine(ctx: Ctx, { left, stop, foot, thin, rise }: Strip) {
  ctx.fillStyle = colour("plot-ink");
  let last = 0;
  for (let x = 0; x < stop;) {
    const from = x;
    const tall = rise(levels[x]);
    while (x < stop && rise(levels[x]) === tall) x++;
    if (tall) ctx.fillRect(left + from, foot - tall, x - from, thin);
    const high = Math.max(tall, last);
    if (tall !== last)
      ctx.fillRect(left + from, foot - high, thin, high - Math.min(tall, last) + (Math.min(tall, last) ? thin : 0));
    last = tall;
  }
}

/** What each rank holds at the playhead, beside it. */
export function writeHeld(scene: Scene, ctx: Ctx, at: number | null) {
  const { layout, lanes, full } = scene;
  if (at === null || !full || at < scene.t0 || at > scene.t1) return;
  const x = xOf(scene, at);
  const flip = x > layout.plotLeft + layout.plotWidth - 44;
  ctx.font = font(11);
  ctx.textBaseline = "middle";
  ctx.textAlign = flip ? "right" : "left";
  lanes.forEach((lane, n) => {
    const { steps } = held(lane.schedule, lane.times, lane.spec);
    const real = alive(lane.schedule, lane.times, lane.spec, lane.details);
    const device = lane.device?.();
    for (const row of layout.groups[n].rows) {
      if (row.stripH < READABLE) continue;
      const level = levelAt((real?.steps ?? steps)[row.rank], at);
      const text = real
        ? formatBytes(level)
        : device
          ? bytesText(device.states[row.rank] + level * device.activations[row.rank])
          : formatNumber(level);
      const y = row.stripY + row.stripH / 2;
      ctx.lineWidth = 3;
      ctx.lineJoin = "round";
      ctx.strokeStyle = colour("surface");
      ctx.strokeText(text, x + (flip ? -5 : 5), y);
      ctx.fillStyle = colour("ink");
      ctx.fillText(text, x + (flip ? -5 : 5), y);
    }
  });
}

/** The button beside the playback that shows and hides the strips. */
export function createStripsButton(store: Store, lanes: () => Lane[]) {
  const button = h(
    "button",
    { type: "button", class: "button strips", id: "strips", title: t("Memory that each rank holds over time (H)") },
    icon(ICON),
    h("span", { text: t("Memory") }),
  );
  button.setAttribute("aria-label", t("Memory strips"));
  const shown = () => stripsShown(store.get().view.mem, lanes(), byId("plot").clientHeight);
  const toggle = () => store.setView({ mem: shown() ? "0" : "1" });
  button.addEventListener("click", toggle);
  byId("transport").append(button);
  return { toggle, sync: () => button.setAttribute("aria-pressed", String(shown())) };
}
