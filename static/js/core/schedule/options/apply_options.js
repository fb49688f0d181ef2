// What options place in an order by the costs, added to a base order of the server: S and T first, then copies beside
// the ops. The same as backend/schedule/families/apply_options.py.

import { barriersOf } from "./effective_costs.js";
import { withOffload } from "./offload.js";
import { withShards } from "./vocabulary.js";

/** @import {Costs, Schedule, Spec} from "../types.js" */

/**
 * The schedule of a spec with everything that its options place by the costs; a schedule that lacks nothing as it is.
 * @param {Schedule} schedule @param {Spec} spec @param {Costs} costs the effective ones of the spec
 * @returns {Schedule}
 */
export function withOptions(schedule, spec, costs) {
  if (!schedule.base) return schedule;
  const barriers = spec.vocabulary === "interlaced" ? 0 : barriersOf(spec);
  const whole = { ...schedule, base: false };
  const spread = barriers > 0 ? withShards(whole, costs, barriers) : whole;
  return spec.offload === "none" ? spread : withOffload(spread, costs, spec.offload);
}
