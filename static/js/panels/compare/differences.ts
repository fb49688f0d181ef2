// The schedules on the screen against the first: which settings differ, and the effect on time and memory.
import { stepText, timeText } from "../../data/costs/time_unit.ts";
import { bytesText, rateText } from "../../data/costs/quantities.ts";
import { h } from "../../ui/dom.ts";
import { hiddenCaption, rowCells, tableHead } from "../../ui/table.ts";
import { t } from "../../core/i18n/language.ts";
import { formatBytes, formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { letter } from "../../core/state/schedules.ts";
import { SPEC_FIELDS } from "../../core/schedule/spec_tables.ts";
import { showSpecField } from "../../core/state/link_fields.ts";
import type { StepUnits } from "../../data/costs/step_units.ts";
import type { Plans } from "../../data/plans.ts";
import type { Plan } from "../../data/plan.ts";
import type { Measurement } from "../../data/runs/run_titles.ts";
import type { Figures } from "../../core/schedule/metrics.ts";
import type { Spec } from "../../core/schedule/types.ts";

type Ready = Plan & { figures: Figures; shown: Spec };

const SAME = 1e-9;

const ready = (plan: Plan): plan is Ready => plan.figures !== null && plan.shown !== null;

/** Two schedules in a sentence; of more, the fastest and the lightest. */
export function difference(shown: Plan[], plans: Plans) {
  const all = shown.filter(ready);
  if (all.length < shown.length) return "";
  const name = (plan: Ready) =>
    `${letter(shown.indexOf(plan))} (${plans.family(plan.shown.family)?.title ?? plan.shown.family})`;
  const [a] = all;
  if (all.some((plan) => plan.shown.m !== a.shown.m || plan.shown.p !== a.shown.p))
    return t("They differ in devices or micro-batches, so their times are for different work.");
  const fast = all.reduce((best, plan) => (plan.figures.makespan < best.figures.makespan * (1 - SAME) ? plan : best));
  const slow = all.reduce((worst, plan) =>
    plan.figures.makespan > worst.figures.makespan * (1 + SAME) ? plan : worst,
  );
  const light = all.reduce((best, plan) => (plan.memory < best.memory * (1 - SAME) ? plan : best));
  const heavy = all.reduce((worst, plan) => (plan.memory > worst.memory * (1 + SAME) ? plan : worst));
  const time =
    slow === fast
      ? all.length > 2
        ? t("All take the same time")
        : t("Both take the same time")
      : t("{fast} takes {share} less time than {slow}", {
          fast: name(fast),
          slow: name(slow),
          share: formatPercent(1 - fast.figures.makespan / slow.figures.makespan),
        });
  const memory =
    light === heavy
      ? t("the peak memory is the same")
      : t("{light} holds {less} micro-batches' activations less at its peak than {heavy}", {
          light: name(light),
          heavy: name(heavy),
          less: formatNumber(heavy.memory - light.memory),
        });
  return t("{time}; {memory}.", { time, memory });
}

/** The schedules side by side, each against the first, then what was measured. */
export function differenceTable(
  shown: Plan[],
  plans: Plans,
  measured: Measurement[] = [],
  unitsOf: (plan: Plan) => StepUnits | null = () => null, // with a model and a machine
) {
  const [a] = shown;
  const units = shown.map(unitsOf);
  const priced = units.some((each) => each !== null);
  const heads = [t("schedule"), t("settings changed"), t("step time"), t("against A"), t("bubble"), t("peak memory")];
  if (priced) heads.push(t("tokens / s"), t("MFU"), t("fits"));
  return h(
    "table.lined.difference-table",
    hiddenCaption(t("Schedules on the screen against the first")),
    tableHead(...heads),
    h(
      "tbody",
      ...shown.map((plan, at) =>
        h(
          "tr",
          { "data-plan": plan.id },
          h(
            "th",
            { scope: "row" },
            h("span.plan-mark", { text: letter(at) }),
            plans.family((plan.shown ?? plan.asked).family)?.title ?? plan.asked.family,
          ),
          h("td.text", { text: at ? changes(plan, a).join(", ") || t("none") : "–" }),
          ...cells(plan, a, at, units[at], priced),
        ),
      ),
      ...measured.map((each) => measuredRow(each, a, priced)),
    ),
  );
}

/** What was measured, in the unit of the plans. */
function measuredRow({ id, title, about, figures, held }: Measurement, first: Plan, priced: boolean) {
  const against = first.figures ? signed(figures.makespan / first.figures.makespan - 1) : "–";
  return h(
    "tr.is-measured",
    { "data-plan": id },
    ...rowCells(
      title,
      h("td.text", { text: about }),
      timeText(Math.round(figures.makespan * 100) / 100),
      against,
      formatPercent(figures.bubble.global.ofTotal),
      held === null ? "–" : formatBytes(held),
      ...(priced ? ["–", "–", "–"] : []),
    ),
  );
}

/** priced: some plan has units. */
function cells(plan: Plan, first: Plan, at: number, units: StepUnits | null, priced: boolean) {
  const [mine, theirs] = [plan.figures, first.figures];
  const against = at === 0 || !mine || !theirs ? "–" : signed(mine.makespan / theirs.makespan - 1);
  const held = units ? bytesText(units.memory.most) : formatNumber(plan.memory);
  const texts = mine
    ? [stepText(mine.makespan), against, formatPercent(mine.bubble.global.ofTotal), held]
    : ["–", "–", "–", "–"];
  const rest = units
    ? [rateText(units.rate), formatPercent(units.mfu), units.memory.fits ? t("yes") : t("no")]
    : ["–", "–", "–"];
  const over = units !== null && !units.memory.fits;
  return [...texts, ...(priced ? rest : [])].map((text, column) =>
    h("td", { text, class: over && (column === 3 || column === 6) ? "over" : null }),
  );
}

const signed = (share: number) =>
  Math.abs(share) < SAME ? "±0 %" : `${share > 0 ? "+" : "−"}${formatPercent(Math.abs(share))}`;

/** The fields that a link would have for one schedule and not for the other. */
function changes(plan: Plan, first: Plan) {
  const [mine, theirs] = [plan.shown ?? plan.asked, first.shown ?? first.asked];
  return SPEC_FIELDS.filter(
    (name) => name !== "family" && name !== "order" && showSpecField(name, mine) !== showSpecField(name, theirs),
  )
    .map((name) => `${name} ${shortened(showSpecField(name, mine))}`)
    .concat(mine.order && mine.order !== theirs.order ? t("its own order") : []);
}

const shortened = (text: string) => (text.length > 24 ? `${text.slice(0, 22)}…` : text);
