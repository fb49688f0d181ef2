// A desk whose orders are all there already: one for each plan, kept whatever the costs become.
import { Desk } from "../data/plans.js";
import { invalidate } from "../ui/frame_loop.js";
import { request } from "../data/plan.js";
import { specsOf } from "../core/state/schedules.js";

/** Under which a plan's order is kept. @param {string} id */
export const keyOf = (id) => `#${id}`;

export class KeptDesk extends Desk {
  /** @override */
  sync() {
    specsOf(this.store.get()).forEach((wanted, at) => {
      const plan = this.all[at];
      if (plan.asked === wanted && plan.shown) return;
      request(plan, wanted, keyOf(plan.id), () => {
        invalidate("plan");
        this.changed();
      });
    });
  }
}
