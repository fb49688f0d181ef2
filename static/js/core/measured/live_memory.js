// The measured bytes of activations alive on each rank over time. A level is known after each op; as in the planned
// memory, what an op adds counts from its start, and what it frees until its end.
import { held } from "../timeline/memory_strips.js";

/** @import {Details} from "./run_details.js" */
/** @import {Steps} from "../timeline/memory_strips.js" */
/** @import {Schedule, Spec, Times} from "../schedule/types.js" */
/**
 * @typedef {{steps: Steps[], peaks: Float64Array, unit: number}} Alive by rank, in bytes; unit: the bytes that are
 *   drawn as high as one of what the plan counts, so that the largest peaks of both are equally high
 */

/** @type {WeakMap<Times, {details: Details, alive: Alive | null}>} */
const cache = new WeakMap();

/**
 * The activations of each rank; null where they were not measured.
 * @param {Schedule} schedule
 * @param {Times} times
 * @param {Spec} spec
 * @param {Details | null | undefined} details
 * @returns {Alive | null}
 */
export function alive(schedule, times, spec, details) {
  if (!details) return null;
  const found = cache.get(times);
  if (found && found.details === details) return found.alive;
  const steps = Array.from({ length: schedule.p }, (_, rank) => stepsOf(schedule, times, details.live, rank));
  const peaks = Float64Array.from(steps, ({ y }) => y.reduce((a, b) => Math.max(a, b), 0));
  const top = peaks.reduce((a, b) => Math.max(a, b), 0);
  const made = top > 0 ? { steps, peaks, unit: top / (held(schedule, times, spec).top || 1) } : null;
  cache.set(times, { details, alive: made });
  return made;
}

/**
 * @param {Schedule} schedule
 * @param {Times} times
 * @param {Float64Array} live by flat op index
 * @param {number} rank
 * @returns {Steps}
 */
function stepsOf({ offsets }, { start, end }, live, rank) {
  const t = [];
  const y = [];
  let level = 0;
  for (let i = offsets[rank]; i < offsets[rank + 1] && end[i] < Infinity; i++) {
    if (Number.isNaN(live[i]) || live[i] === level) continue;
    t.push(live[i] > level ? start[i] : end[i]);
    y.push((level = live[i]));
  }
  return { t: Float64Array.from(t), y: Float64Array.from(y) };
}
