// Where the schedules on the timeline stand among the points of the frontier, and how points get there. Knows no
// figure.
import { putOver } from "../../core/drawing/chart_points.js";
import { IDS, dropAt, letter, specsOf } from "../../core/state/schedules.js";
import { specQuery } from "../../core/state/link.js";

/** @import {Plans} from "../../data/plans.js" */
/** @import {Point, Put} from "../../core/drawing/chart_points.js" */
/** @import {Spec} from "../../core/schedule/types.js" */

/**
 * For each schedule on the timeline the position of its point, -1 where it has none.
 * @param {Point[]} points
 * @param {Plans} plans
 */
export function placesIn(points, plans) {
  const { defaults } = plans.store;
  /** @param {Spec} shown */
  const at = (shown) => {
    const query = specQuery(shown, defaults);
    // A limit is part of what is sought; elsewhere it is only held against a schedule.
    const limit = plans.family(shown.family)?.fields.includes("memory") ? {} : { memory: shown.memory };
    return points.findIndex((point) => specQuery({ ...putOver(point.spec, shown), ...limit }, defaults) === query);
  };
  return specsOf(plans.store.get()).map(at);
}

/** The letter of the schedule that a point is, "" for none. @param {number[]} places @param {number} at */
export const markAt = (places, at) => (places.includes(at) ? letter(places.indexOf(at)) : "");

/** The letter that one more schedule would have: the last one gives way where there are four. @param {Plans} plans */
export const nextLetter = (plans) => letter(Math.min(IDS.length - 1, plans.store.get().others.length + 1));

/** Put a point in the first schedule's place. @param {Plans} plans @param {Put} put */
export const putFirst = (plans, put) => plans.store.set({ spec: putOver(put, plans.store.get().spec) }, "push");

/**
 * Put a point under the others, or take it away where it is there already.
 * @param {Plans} plans
 * @param {Put} put
 * @param {number} there where among the schedules it is, -1 for nowhere
 */
export function putUnder(plans, put, there) {
  const { store } = plans;
  const { spec, others } = store.get();
  if (there > 0) store.set(dropAt(store.get(), there), "push");
  else if (there < 0) store.set({ others: [...others.slice(0, IDS.length - 2), putOver(put, spec)] }, "push");
}
