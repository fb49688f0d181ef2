// Costs from a model and a machine: the section in the left column, the arithmetic tab, the unit of time.
import { CostsSection } from "./section.ts";
import { hasCosts } from "../../data/costs/derive.ts";
import { createArithmetic } from "./arithmetic_table.ts";
import { useMilliseconds } from "../../data/costs/time_unit.ts";
import { byId } from "../../ui/dom.ts";
import { invalidate } from "../../ui/frame_loop.ts";
import { onRest } from "../../ui/rest.ts";
import type { Pricing } from "../../data/costs/pricing.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

export function createCosts({ store, plans, pricing }: { store: Store; plans: Plans; pricing: Pricing }) {
  const section = new CostsSection({ store, plans, pricing, changed: () => sync() });
  const arithmetic = createArithmetic(store, () => plans.first, reveal);
  let before = store.get();
  byId("controls").append(section.node);

  function reveal() {
    byId("controls").setAttribute("open", "");
    section.node.open = true;
    section.node.scrollIntoView({ block: "center" });
    section.node.querySelector("summary")?.focus();
  }

  function sync() {
    const { preset, spec } = store.get();
    useMilliseconds(preset !== null && hasCosts(spec, store.defaults)); // a model that was refused brings none
    section.sync();
    arithmetic.show();
    invalidate("base", "figures");
  }

  store.subscribe((state) => {
    const same =
      state.preset === before.preset &&
      (!state.preset || (state.spec === before.spec && state.others === before.others)) &&
      state.view.tab === before.view.tab;
    before = state;
    if (!same) sync();
  });
  pricing.onAnswer(sync);
  sync();
  /** Its memory follows the schedule that is drawn. */
  function show() {
    section.weigh();
    arithmetic.show();
  }
  onRest(show);
  return { panel: arithmetic.panel, show, reveal };
}
