// The schedules on the screen as one vector picture, with the choices of the Export tab.
import { timeText, unit } from "../../data/costs/time_unit.js";
import { hatched } from "../../timeline/draw/hatch_pattern.js";
import { headText } from "../../timeline/explain/lane_headings.js";
import { pictureColours } from "../../ui/palette.js";
import { t } from "../../core/i18n/language.js";
import { picture } from "../../core/drawing/picture.js";
import { formatPercent } from "../../core/i18n/numbers.js";

/** @import {Plans} from "../../data/plans.js" */
/** @import {Plan} from "../../data/plan.js" */
/** @import {Schedule, Times} from "../../core/schedule/types.js" */
/** @import {View} from "../../core/timeline/viewport.js" */
/** @typedef {Plan & {schedule: Schedule, times: Times}} Drawn */
/**
 * @typedef {{window: View, width: number, row: number, scheme: string, numbers: boolean, legend: boolean, title:
 *   boolean, link: string}} Choices width: px; row: px of a rank, 0 for what suits the width; scheme: light, dark, or
 *   none for no background; link: written below
 */

const SHAPE = 0.62; // of its width is a picture tall, where rows may choose

/** @param {Plans} plans @param {Choices} choices */
export function pictureOf(plans, { window: { t0, t1 }, width, row, scheme, numbers, legend, title, link }) {
  const shown = /** @type {Drawn[]} */ (plans.onScreen().filter((plan) => plan.schedule && plan.times));
  const rows = shown.reduce((sum, plan) => sum + plan.schedule.p, 0);
  const tall = row || Math.max(3, Math.min(20, Math.floor((width * SHAPE) / Math.max(1, rows))));
  const parts = shown.map((plan) => partOf(plan, plans, shown.length > 1));
  const svg = picture(
    parts,
    {
      width,
      row: tall,
      t0,
      t1,
      unit: unit(),
      numbers,
      legend,
      title,
      background: scheme !== "none",
      link,
      hatch: hatched(),
    },
    pictureColours(scheme === "dark" ? "dark" : "light"),
  );
  return { svg, width, height: Number(/ height="(\d+)"/.exec(svg)?.[1] ?? width) };
}

/** @param {Drawn} plan @param {Plans} plans @param {boolean} many */
function partOf(plan, plans, many) {
  const { schedule, times, figures } = plan;
  const { title, sizes } = headText(plan, plans, many);
  const detail = figures
    ? t("bubble {bubble}, step time {makespan}", {
        bubble: formatPercent(figures.bubble.global.ofTotal),
        makespan: timeText(figures.makespan),
      })
    : "";
  return {
    title: `${title}   ${sizes}`,
    detail,
    schedule,
    times,
    end: times.makespan,
    comm: (plan.shown ?? plan.asked).costs.comm,
  };
}
