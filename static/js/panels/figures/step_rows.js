// The figures that a model and a machine add: tokens per second, FLOP utilisation, memory of the fullest device, and
// whether it fits.
import { t } from "../../core/i18n/language.js";
import { formatPercent } from "../../core/i18n/numbers.js";
import { fitText, gigabytesText, rateText } from "../../data/costs/quantities.js";
import { h, replace, show } from "../../ui/dom.js";

/** @import {Plan} from "../../data/plan.js" */
/** @import {StepUnits} from "../../data/costs/step_units.js" */
/** @import {Row} from "./figures.js" */

const percent = () => " %";
const gigabytes = () => " GB";

/** @param {string} limit the memory of a device @returns {Row} */
export const deviceMemoryRow = (limit) => ({
  name: t("Peak memory"),
  hint: t("of {limit}", { limit }),
  lead: true,
  sign: gigabytes,
  of: ({ units }) => (units ? gigabytesText(units.memory.most) : "–"),
});

/** @returns {Row[]} */
export const stepRows = () => [
  {
    name: t("Tokens per second"),
    of: ({ units }) => (units ? rateText(units.tokens / units.seconds) : "–"),
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
  const node = h("div", { class: "fit", id: "fit", hidden: true });
  let written = "";
  return {
    node,
    /** @param {{plan: Plan, units: StepUnits | null, title: string}[]} shown */
    show(shown) {
      const told = shown.flatMap(({ units, title }) =>
        units && (shown.length === 1 || !units.memory.fits)
          ? [{ title, text: fitText(units.memory), fits: units.memory.fits }]
          : [],
      );
      show(node, told.length > 0);
      const now = JSON.stringify(told);
      if (now === written) return;
      written = now;
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
