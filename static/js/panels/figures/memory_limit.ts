// The peak memory of a schedule against the memory limit: a bar with the limit as a line across it, and a sentence.
import { filled, h, isNew, replace, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { isOutOfDate, type Plan } from "../../data/plan.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import type { Plans } from "../../data/plans.ts";

const TOLERANCE = 1e-9; // of the limit: sums of shares are rounded

const limitOf = (plan: Plan) => (plan.shown ?? plan.asked).memory;

export function createMemoryLimit(plans: Plans) {
  const node = h("div#cap.cap", { hidden: true });
  return {
    node,
    show() {
      const shown = plans.onScreen();
      const limited = shown.filter((plan) => limitOf(plan) !== null && plan.figures);
      show(node, limited.length > 0);
      if (
        !isNew(
          node,
          limited.map((plan) => [isOutOfDate(plan), plan.id, plan.memory, limitOf(plan), plan.shown?.family]),
        )
      )
        return;
      replace(node, ...limited.flatMap((plan) => line(plan, plans, shown.length > 1)));
    },
  };
}

function line(plan: Plan, plans: Plans, named: boolean) {
  const limit = limitOf(plan) ?? 0;
  const { memory } = plan;
  const over = memory > limit * (1 + TOLERANCE);
  const whole = Math.max(memory, limit) || 1;
  const family = (plan.shown ?? plan.asked).family;
  const bar = h("div", { class: over ? "cap-bar over" : "cap-bar", "aria-hidden": "true" }, h("i"), h("u"));
  bar.style.setProperty("--held", `${(100 * memory) / whole}%`);
  bar.style.setProperty("--limit", `${(100 * limit) / whole}%`);
  const verdict = h("b", {
    class: isOutOfDate(plan) ? null : over ? "over" : "within",
    text: over ? t("over the limit") : t("within the limit"),
  });
  const parts = {
    family: plans.family(family)?.title ?? family,
    held: formatNumber(memory),
    limit: formatNumber(limit),
    verdict,
  };
  return [
    bar,
    h(
      "p",
      ...filled(
        named
          ? t("{family}: holds {held}, may hold {limit}: {verdict}")
          : t("holds {held}, may hold {limit}: {verdict}"),
        parts,
      ),
    ),
  ];
}
