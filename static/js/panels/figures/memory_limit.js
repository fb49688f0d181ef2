// The limit of memory beside what a schedule holds: a bar with the limit as a line across it, and the verdict in words.
import { filled, h, replace, show } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { formatNumber } from "../../core/i18n/numbers.js";

/** @import {Desk} from "../../data/plans.js" */
/** @import {Plan} from "../../data/plan.js" */

const DUST = 1e-9; // of the limit; shares of activations add up with some

/** @param {Plan} plan */
const limitOf = (plan) => (plan.shown ?? plan.asked).memory;

/** @param {Desk} desk */
export function createCap(desk) {
  const node = h("div", { class: "cap", id: "cap", hidden: true });
  let written = "";
  return {
    node,
    /** @param {Plan[]} plans */
    show(plans) {
      const limited = plans.filter((plan) => limitOf(plan) !== null && plan.figures);
      show(node, limited.length > 0);
      const now = JSON.stringify(limited.map((plan) => [plan.id, plan.memory, limitOf(plan), plan.shown?.family]));
      if (now === written) return;
      written = now;
      replace(node, ...limited.flatMap((plan) => line(plan, desk, plans.length > 1)));
    },
  };
}

/** @param {Plan} plan @param {Desk} desk @param {boolean} named */
function line(plan, desk, named) {
  const limit = limitOf(plan) ?? 0;
  const { memory } = plan;
  const over = memory > limit * (1 + DUST);
  const whole = Math.max(memory, limit) || 1;
  const family = (plan.shown ?? plan.asked).family;
  const bar = h("div", { class: over ? "cap-bar over" : "cap-bar", "aria-hidden": "true" }, h("i"), h("u"));
  bar.style.setProperty("--held", `${(100 * memory) / whole}%`);
  bar.style.setProperty("--limit", `${(100 * limit) / whole}%`);
  const verdict = h("b", { class: over ? "over" : "within", text: over ? t("over the limit") : t("within the limit") });
  const parts = {
    family: desk.family(family)?.title ?? family,
    held: formatNumber(memory),
    limit: formatNumber(limit),
    verdict,
  };
  return [
    bar,
    h(
      "p",
      {},
      ...filled(
        named
          ? t("{family}: holds {held}, may hold {limit}: {verdict}")
          : t("holds {held}, may hold {limit}: {verdict}"),
        parts,
      ),
    ),
  ];
}
