// The figures that a model and a machine add: tokens per second, FLOP utilisation, memory of the fullest device, and
// whether it fits.
import { t } from "../../core/i18n/language.ts";
import { formatPercent } from "../../core/i18n/numbers.ts";
import { fitText, gigabytesText, rateText } from "../../data/costs/quantities.ts";
import { h, isNew, replace, show } from "../../ui/dom.ts";
import type { Plan } from "../../data/plan.ts";
import type { StepUnits } from "../../data/costs/step_units.ts";
import type { Row } from "./figures.ts";

const percent = () => " %";
const gigabytes = () => " GB";

/** limit: the memory of a device. */
export const deviceMemoryRow = (limit: string): Row => ({
  name: t("Peak memory"),
  hint: t("of {limit}", { limit }),
  lead: true,
  sign: gigabytes,
  of: ({ units }) => (units ? gigabytesText(units.memory.most) : "–"),
});

/** By the window that the bubble has a definition for too: steps that follow each other may overlap outside of it. */
export const windowRow = (): Row => ({
  name: t("Tokens per second, busiest device"),
  of: ({ units, figures: { longestStage } }) =>
    units ? rateText(units.tokens / (longestStage / 1000 + units.tail)) : "–",
});

export const stepRows = (): Row[] => [
  {
    name: t("Tokens per second"),
    of: ({ units }) => (units ? rateText(units.rate) : "–"),
  },
  {
    name: t("MFU"),
    hint: t("model FLOP ÷ peak"),
    sign: percent,
    of: ({ units }) => (units ? formatPercent(units.mfu) : "–"),
  },
];

/** The sentence beside the headline: a plan that does not fit is named, and what fits where there is one plan. */
export function createFit() {
  const node = h("div#fit.fit", { hidden: true });
  return {
    node,
    show(shown: { plan: Plan; units: StepUnits | null; title: string }[]) {
      const told = shown.flatMap(({ units, title }) =>
        units && (shown.length === 1 || !units.memory.fits)
          ? [{ title, text: fitText(units.memory), fits: units.memory.fits }]
          : [],
      );
      show(node, told.length > 0);
      if (!isNew(node, told)) return;
      replace(
        node,
        ...told.map(({ title, text, fits }) =>
          h("p", {
            class: fits ? "within" : "over",
            text: shown.length === 1 ? text : t("{family}: {text}", { family: title, text }),
          }),
        ),
      );
    },
  };
}
