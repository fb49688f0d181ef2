// Which plan a measured lane is held against, and when that had each op: the schedule on the screen with the same
// order, else the run's own schedule at the costs that it was started with.
import { holding, peakMemory } from "../core/schedule/memory.js";
import { residual, roundUp, sameOrder } from "../core/measured/residuals.js";
import { simulate } from "../core/schedule/simulate.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Schedule, Times} from "../core/schedule/types.js" */

let scale = 0;
/** @type {WeakMap<Schedule, WeakMap<Schedule, boolean>>} */
const compared = new WeakMap();
/** @type {WeakMap<Schedule, Times>} of runs whose schedule is not on the screen; a run's schedule object is its own */
const own = new WeakMap();
/** @type {WeakMap<Times, {plan: Times, most: number}>} by the times of the run */
const reached = new WeakMap();

/** @param {Schedule} a @param {Schedule} b */
function alike(a, b) {
  let known = compared.get(a);
  if (!known) compared.set(a, (known = new WeakMap()));
  let found = known.get(b);
  if (found === undefined) known.set(b, (found = sameOrder(a, b)));
  return found;
}

/**
 * The plan of a measured lane among those on the screen: with the same costs too where there is one.
 * @param {Lane} lane
 * @param {Lane[]} lanes
 */
export function planOf(lane, lanes) {
  const plans = lanes.filter((each) => each.kind === "plan" && alike(lane.schedule, each.schedule));
  if (plans.length < 2) return plans[0] ?? null;
  const costs = JSON.stringify(lane.spec.costs);
  return plans.find(({ spec }) => JSON.stringify(spec.costs) === costs) ?? plans[0];
}

/** When the plan has each op of a measured lane. @param {Lane} lane @param {Lane[]} lanes @returns {Times} */
export function plannedTimes(lane, lanes) {
  const plan = planOf(lane, lanes);
  if (plan) return plan.times;
  let times = own.get(lane.schedule);
  if (!times) own.set(lane.schedule, (times = simulate(lane.schedule, lane.costs)));
  return times;
}

/** The end of the scale of residuals, one for all measured lanes so that they compare; 0 where there is none.
 * @param {Lane[]} lanes */
export function residualScale(lanes) {
  const runs = lanes.filter(({ kind }) => kind === "run");
  scale = runs.length ? roundUp(Math.max(...runs.map((lane) => mostOf(lane, plannedTimes(lane, lanes))))) || 1 : 0;
  return scale;
}

/** The scale that was drawn last, for its legend. */
export const drawnScale = () => scale;

/** @param {Lane} lane @param {Times} plan */
function mostOf({ schedule, times }, plan) {
  const before = reached.get(times);
  if (before?.plan === plan) return before.most;
  let most = 0;
  for (let i = 0; i < schedule.count; i++) {
    const by = Math.abs(residual(times, plan, i));
    if (by > most) most = by; // NaN is not
  }
  reached.set(times, { plan, most });
  return most;
}

/**
 * Every run under the plan that it is a run of; those of no plan on the screen under the first.
 * @param {Lane[]} plans
 * @param {Lane[]} runs
 * @returns {Lane[]}
 */
export function inPairs(plans, runs) {
  const homes = runs.map((run) => planOf(run, plans) ?? plans[0]);
  return plans.length ? plans.flatMap((plan) => [plan, ...runs.filter((_, at) => homes[at] === plan)]) : runs;
}

/** @type {WeakMap<Schedule, number>} */
const peaks = new WeakMap();

/**
 * The peak memory of a run's schedule as it was planned, in one micro-batch's activations on a device.
 * @param {Lane} lane
 */
export function plannedPeak(lane) {
  let peak = peaks.get(lane.schedule);
  if (peak === undefined)
    peaks.set(
      lane.schedule,
      (peak = Math.max(...peakMemory(lane.schedule, plannedTimes(lane, []), holding(lane.spec)))),
    );
  return peak;
}
