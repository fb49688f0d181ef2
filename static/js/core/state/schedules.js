// The schedules on the screen, one to four: the first is the state's spec, the rest stand in its others. Each has an
// id, which is also its prefix in a link, and a letter by which the page calls it.

import { withoutLane } from "./lane_ids.js";

/** @import {Spec} from "../schedule/types.js" */
/** @typedef {"a" | "b" | "c" | "d"} PlanId */
/** @typedef {{spec: Spec, others: Spec[]}} Specs */

/** @type {PlanId[]} */
export const IDS = ["a", "b", "c", "d"];

/** All of them, the first one first. @param {Specs} state */
export const specsOf = ({ spec, others }) => [spec, ...others];

/** @param {Specs} state @param {number} at @returns {Spec | undefined} */
export const specAt = ({ spec, others }, at) => (at === 0 ? spec : others[at - 1]);

/**
 * What a state must be set to so that one of its specs becomes another.
 * @param {Specs} state
 * @param {number} at
 * @param {Spec} spec
 * @returns {Partial<Specs>}
 */
export const putAt = ({ others }, at, spec) =>
  at === 0 ? { spec } : { others: others.map((each, k) => (k === at - 1 ? spec : each)) };

/** All specs made anew; the same list where nothing changed, since lists are compared by identity.
 * @param {Specs} state @param {(spec: Spec, at: number) => Spec} make @returns {Specs} */
export function mapSpecs({ spec, others }, make) {
  const first = make(spec, 0);
  const rest = others.map((each, k) => make(each, k + 1));
  return { spec: first, others: rest.every((each, k) => each === others[k]) ? others : rest };
}

/**
 * Without one of them; the next one takes its place and its letter, and the view's references to lanes follow.
 * @template {import("./lane_ids.js").Named} V
 * @param {Specs & {view: V}} state
 * @param {number} at
 * @returns {Partial<Specs & {view: V}>}
 */
export function dropAt({ spec, others, view }, at) {
  const [first, ...rest] = [spec, ...others].filter((_, k) => k !== at);
  return first ? { spec: first, others: rest, view: { ...view, ...withoutLane(view, IDS, IDS[at]) } } : {};
}

/** @param {number} at @returns {string} "A" */
export const letter = (at) => IDS[at].toUpperCase();
