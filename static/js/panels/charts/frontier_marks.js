// Where the schedules on the timeline stand among the points of the frontier, and how points get there. Knows no
// figure.
import { putOver } from "../../core/drawing/chart_points.js";
import { IDS, dropAt, letter, specsOf } from "../../core/state/schedules.js";
import { specQuery } from "../../core/state/link.js";

/** @import {Desk} from "../../data/plans.js" */
/** @import {Point, Put} from "../../core/drawing/chart_points.js" */
/** @import {Spec} from "../../core/schedule/types.js" */

/**
 * For each schedule on the timeline the position of its point, -1 where it has none.
 * @param {Point[]} points
 * @param {Desk} desk
 */
export function placesIn(points, desk) {
  const { defaults } = desk.store;
  /** @param {Spec} shown */
  const at = (shown) => {
    const query = specQuery(shown, defaults);
    // A limit is part of what is sought; elsewhere it is only held against a schedule.
    const limit = desk.family(shown.family)?.fields.includes("memory") ? {} : { memory: shown.memory };
    return points.findIndex((point) => specQuery({ ...putOver(point.spec, shown), ...limit }, defaults) === query);
  };
  return specsOf(desk.store.get()).map(at);
}

/** The letter of the schedule that a point is, "" for none. @param {number[]} places @param {number} at */
export const markAt = (places, at) => (places.includes(at) ? letter(places.indexOf(at)) : "");

/** The letter that one more schedule would have: the last one gives way where there are four. @param {Desk} desk */
export const nextLetter = (desk) => letter(Math.min(IDS.length - 1, desk.store.get().others.length + 1));

/** Put a point in the first schedule's place. @param {Desk} desk @param {Put} put */
export const putFirst = (desk, put) => desk.store.set({ spec: putOver(put, desk.store.get().spec) }, "push");

/**
 * Put a point under the others, or take it away where it is there already.
 * @param {Desk} desk
 * @param {Put} put
 * @param {number} there where among the schedules it is, -1 for nowhere
 */
export function putUnder(desk, put, there) {
  const { store } = desk;
  const { spec, others } = store.get();
  if (there > 0) store.set(dropAt(store.get(), there), "push");
  else if (there < 0) store.set({ others: [...others.slice(0, IDS.length - 2), putOver(put, spec)] }, "push");
}
