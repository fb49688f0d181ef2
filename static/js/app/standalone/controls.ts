// The controls of a stand-alone file: sizes and families above, costs below, one button that takes all of them back.
import { CONSTRUCTED } from "../../core/families/construct.ts";
import { isConstructed } from "../../core/families/accepts.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { shapedByOptions } from "../../core/schedule/effective_costs.ts";
import { h, setText, show } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { createCostSliders } from "./costs.ts";
import { createSizeControls } from "./sizes.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { PlanId } from "../../core/state/schedules.ts";
import type { Plan } from "../../data/plan.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

/** The key under which a file's own order is kept. */
export const ownKey = (id: PlanId) => `#${id}`;

/** specs: of the file. */
export function createStandaloneControls(store: Store, plans: Plans, specs: Spec[], textOf: (time: number) => string) {
  const { families } = plans;
  const costs = createCostSliders(specs, textOf, apply);
  const sizes = createSizeControls(specs, families, apply);
  const again = h("button.button.soft", { disabled: true, onclick: reset }, t("Reset"));
  const note = h("p.embed-note", { hidden: true, role: "status" });

  function apply() {
    const [spec, ...others] = sizes.specs().map(costs.costed);
    store.set({ spec, others });
    again.disabled = !costs.isChanged() && !sizes.isChanged();
    const titles = costs.isChanged() ? sizes.specs().filter(keepsItsOrder).map(titleOf) : [];
    setText(
      note,
      t("{title}: the order was made for the costs of this file and stays the same; only its times change.", {
        title: [...new Set(titles)].join(t(", ")),
      }),
    );
    show(note, titles.length > 0);
  }

  const figures = h("p.embed-figures");
  onStage("figures", () => setText(figures, plans.onScreen().map(figuresOf).filter(Boolean).join(" · ")));

  function figuresOf({ id, shown, figures: of, memory }: Plan) {
    if (!shown || !of) return "";
    const values = {
      title: plans.onScreen().length > 1 ? `${id.toUpperCase()} · ${titleOf(shown)}` : titleOf(shown),
      bubble: formatPercent(of.bubble.global.ofTotal),
      time: textOf(of.makespan),
      memory: formatNumber(memory),
    };
    return t("{title}: bubble {bubble}, step time {time}, peak memory {memory} micro-batches' activations", values);
  }

  /** Whether the costs shaped an order that is not made here. */
  const keepsItsOrder = (spec: Spec) =>
    !isConstructed(spec) &&
    (shapedByOptions(spec) || families.find(({ name }) => name === spec.family)?.shaped_by_costs);

  const titleOf = ({ family }: Spec) =>
    CONSTRUCTED[family]?.title ?? families.find(({ name }) => name === family)?.title ?? family;

  function reset() {
    costs.reset();
    sizes.reset();
  }

  return h("div", figures, sizes.node, h("div.embed-sliders.costs", ...costs.rows, again), note);
}
