// Which plan a measured lane is held against, and when that had each op: the schedule on the screen with the same
// order, else the run's own schedule at the costs that it was started with.
import { holding, peakMemory } from "../core/schedule/memory.ts";
import { residual, roundUp, sameOrder } from "../core/measured/residuals.ts";
import { simulate } from "../core/schedule/simulate.ts";
import type { Lane } from "./lanes.ts";
import type { Costs, Schedule, Times } from "../core/schedule/types.ts";

/**
 * Remember what a function computes for an object, as long as that object lives. compute: its result depends on the key
 * only.
 */
function once<K extends object, R extends any[], V>(compute: (key: K, ...rest: R) => V): (key: K, ...rest: R) => V {
  const known = new WeakMap<K, V>();
  return (key, ...rest) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = compute(key, ...rest)));
    return value;
  };
}

/** Whether another order is the same as this one. */
const sameAs = once((a: Schedule) => once((b: Schedule) => sameOrder(a, b)));

/** The planned times of a run whose schedule is not on the screen; a run's schedule object is its own. */
const ownTimes = once((schedule: Schedule, costs: Costs) => simulate(schedule, costs));

/** The largest residual of a run's times against a plan's. */
const largest = once((times: Times) =>
  once((plan: Times, count: number) => {
    let most = 0;
    for (let i = 0; i < count; i++) {
      const by = Math.abs(residual(times, plan, i));
      if (by > most) most = by; // NaN is not
    }
    return most;
  }),
);

const ownPeak = once((schedule: Schedule, lane: Lane) =>
  Math.max(...peakMemory(schedule, plannedTimes(lane, []), holding(lane.spec))),
);

let scale = 0;

/** The plan of a measured lane among those on the screen: with the same costs too where there is one. */
export function planOf(lane: Lane, lanes: Lane[]) {
  const plans = lanes.filter((each) => each.kind === "plan" && sameAs(lane.schedule)(each.schedule));
  if (plans.length < 2) return plans[0] ?? null;
  const costs = JSON.stringify(lane.spec.costs);
  return plans.find(({ spec }) => JSON.stringify(spec.costs) === costs) ?? plans[0];
}

/** When the plan has each op of a measured lane. */
export function plannedTimes(lane: Lane, lanes: Lane[]): Times {
  return planOf(lane, lanes)?.times ?? ownTimes(lane.schedule, lane.costs);
}

/** The end of the scale of residuals, one for all measured lanes so that they compare; 0 where there is none. */
export function residualScale(lanes: Lane[]) {
  const runs = lanes.filter(({ kind }) => kind === "run");
  scale = runs.length
    ? roundUp(Math.max(...runs.map((lane) => largest(lane.times)(plannedTimes(lane, lanes), lane.schedule.count)))) || 1
    : 0;
  return scale;
}

/** The scale that was drawn last, for its legend. */
export const drawnScale = () => scale;

/** Every run under the plan that it is a run of; those of no plan on the screen under the first. */
export function inPairs(plans: Lane[], runs: Lane[]): Lane[] {
  const homes = runs.map((run) => planOf(run, plans) ?? plans[0]);
  return plans.length ? plans.flatMap((plan) => [plan, ...runs.filter((_, at) => homes[at] === plan)]) : runs;
}

/** The peak memory of a run's schedule as it was planned, in one micro-batch's activations on a device. */
export const plannedPeak = (lane: Lane) => ownPeak(lane.schedule, lane);
