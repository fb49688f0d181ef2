// The schedules on the screen as one vector picture, with the choices of the Export tab.
import { timeText, unit } from "../../data/costs/time_unit.ts";
import { hatched } from "../../timeline/draw/hatch_pattern.ts";
import { headText } from "../../timeline/explain/lane_headings.ts";
import { pictureColours } from "../../ui/palette.ts";
import { t } from "../../core/i18n/language.ts";
import { picture } from "../../core/drawing/picture.ts";
import { timing } from "../../core/schedule/effective_costs.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import type { Plans } from "../../data/plans.ts";
import type { Plan } from "../../data/plan.ts";
import type { Schedule, Times } from "../../core/schedule/types.ts";
import type { View } from "../../core/timeline/viewport.ts";

type Drawn = Plan & { schedule: Schedule; times: Times };
type Choices = {
  window: View;
  width: number; // px
  row: number; // px of a rank, 0 for what suits the width
  scheme: string; // light, dark, or none for no background
  numbers: boolean;
  legend: boolean;
  title: boolean;
  link: string; // written below
};

const SHAPE = 0.62; // of its width is a picture tall, where rows may choose

export function pictureOf(
  plans: Plans,
  { window: { t0, t1 }, width, row, scheme, numbers, legend, title, link }: Choices,
) {
  const shown = plans.onScreen().filter((plan) => plan.schedule && plan.times) as Drawn[];
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

function partOf(plan: Drawn, plans: Plans, many: boolean) {
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
    costs: timing(plan.shown ?? plan.asked),
  };
}
