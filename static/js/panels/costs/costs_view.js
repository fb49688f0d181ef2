// Puts the parts about models and machines together: the section in the left column, the tab, the unit of time.
import { CostsSection } from "./section.js";
import { Pricing } from "../../data/costs/pricing.js";
import { hasCosts } from "../../data/costs/derive.js";
import { createArithmetic } from "./arithmetic_table.js";
import { useMilliseconds } from "../../data/costs/time_unit.js";
import { byId } from "../../ui/dom.js";
import { invalidate } from "../../ui/frame_loop.js";

/** @import {Family} from "../controls/family_picker.js" */
/** @import {Plan} from "../../data/plan.js" */
/** @import {Store} from "../../data/store.js" */

/** @param {Store} store @param {Family[]} families @param {() => Plan} plan the first schedule
 * @param {() => void} toggle opens and closes the tab */
export function createCostsView(store, families, plan, toggle) {
  const pricing = new Pricing(store, () => sync());
  /** @param {string} name of a family */
  const title = (name) => families.find((family) => family.name === name)?.title ?? name;
  const section = new CostsSection(store, pricing, { plan, title }, { arithmetic: toggle, changed: () => sync() });
  const arithmetic = createArithmetic(store, plan, reveal);
  let before = store.get();

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
  sync();
  /** The schedule is on the screen: what it holds may be new. */
  function rest() {
    section.weigh();
    arithmetic.show();
  }
  return { node: section.node, panel: arithmetic.panel, rest };
}
