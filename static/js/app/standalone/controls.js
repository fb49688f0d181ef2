// The controls of a stand-alone file: sizes and families above, costs below, one button that takes all of them back.
import { CONSTRUCTED } from "../../core/families/construct.js";
import { isConstructed } from "../../core/families/accepts.js";
import { t } from "../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.js";
import { shapedByOptions } from "../../core/schedule/effective_costs.js";
import { h, setText, show } from "../../ui/dom.js";
import { onStage } from "../../ui/frame_loop.js";
import { createCostSliders } from "./costs.js";
import { createSizeControls } from "./sizes.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {PlanId} from "../../core/state/schedules.js" */
/** @import {Plan} from "../../data/plan.js" */
/** @import {Plans} from "../../data/plans.js" */
/** @import {Store} from "../../data/store.js" */

/** The key under which a file's own order is kept. @param {PlanId} id */
export const ownKey = (id) => `#${id}`;

/** @param {Store} store @param {Plans} plans @param {Spec[]} specs of the file
 * @param {(time: number) => string} textOf */
export function createStandaloneControls(store, plans, specs, textOf) {
  const { families } = plans;
  const costs = createCostSliders(specs, textOf, apply);
  const sizes = createSizeControls(specs, families, apply);
  const again = h("button", { type: "button", class: "button soft", disabled: true, onclick: reset }, t("Reset"));
  const note = h("p", { class: "embed-note", hidden: true, role: "status" });

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

  const figures = h("p", { class: "embed-figures" });
  onStage("figures", () => setText(figures, plans.onScreen().map(figuresOf).filter(Boolean).join(" · ")));

  /** @param {Plan} plan */
  function figuresOf({ id, shown, figures: of, memory }) {
    if (!shown || !of) return "";
    const values = {
      title: plans.onScreen().length > 1 ? `${id.toUpperCase()} · ${titleOf(shown)}` : titleOf(shown),
      bubble: formatPercent(of.bubble.global.ofTotal),
      time: textOf(of.makespan),
      memory: formatNumber(memory),
    };
    return t("{title}: bubble {bubble}, step time {time}, peak memory {memory} micro-batches' activations", values);
  }

  /** Whether the costs shaped an order that is not made here. @param {Spec} spec */
  const keepsItsOrder = (spec) =>
    !isConstructed(spec) &&
    (shapedByOptions(spec) || families.find(({ name }) => name === spec.family)?.shaped_by_costs);

  /** @param {Spec} spec */
  const titleOf = ({ family }) =>
    CONSTRUCTED[family]?.title ?? families.find(({ name }) => name === family)?.title ?? family;

  function reset() {
    costs.reset();
    sizes.reset();
  }

  return h("div", {}, figures, sizes.node, h("div", { class: "embed-sliders costs" }, ...costs.rows, again), note);
}
