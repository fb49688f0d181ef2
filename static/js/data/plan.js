// The plans on the screen: from a spec to an order, its times and its figures. The last good one stays until the next
// is here.
import { Offline, Refusal } from "./api.js";
import { known, order } from "./order_cache.js";
import { specQuery } from "../core/state/link.js";
import { figures } from "../core/schedule/metrics.js";
import { holding, peakInFlight, peakMemory } from "../core/schedule/memory.js";
import { placedHere, timedWithOptions } from "../core/options/apply_options.js";
import { shapedByOptions, timing } from "../core/schedule/effective_costs.js";
import { IMPORTED } from "../core/schedule/spec_tables.js";
import { held } from "../core/timeline/memory_strips.js";

/** @import {Schedule, Spec, SpecError, Times} from "../core/schedule/types.js" */
/** @import {Figures} from "../core/schedule/metrics.js" */
/** @import {PlanId} from "../core/state/schedules.js" */

/**
 * @typedef {object} Plan
 * @property {PlanId} id
 * @property {Spec} asked             the values of the controls
 * @property {Spec | null} shown      what is drawn
 * @property {Spec | null} answered   what the server last built or refused
 * @property {Schedule | null} order     as the server sent it
 * @property {Schedule | null} schedule  the order with what its options place in it by the costs
 * @property {Times | null} times
 * @property {Figures | null} figures
 * @property {number} peak            chunks in flight, the worst rank
 * @property {number} memory          activations, the worst rank, in units of one micro-batch on a device
 * @property {SpecError | null} error
 * @property {boolean} offline
 * @property {AbortController | null} fetching
 * @property {boolean} fresh          must be timed again
 */

/** @param {PlanId} id @param {Spec} spec @returns {Plan} */
export function createPlan(id, spec) {
  return {
    id,
    asked: spec,
    shown: null,
    answered: null,
    order: null,
    schedule: null,
    times: null,
    figures: null,
    peak: 0,
    memory: 0,
    error: null,
    offline: false,
    fetching: null,
    fresh: false,
  };
}

/** @param {Plan} plan */
const isStale = (plan) => plan.shown !== null && plan.shown !== plan.asked;

/** Whether what is asked for cannot be shown, and the last schedule that could be stays. @param {Plan} plan */
export const isOutOfDate = (plan) => isStale(plan) && (plan.error !== null || plan.offline);

/** @param {Spec["costs"]} costs */
const uneven = (costs) => [costs.F, costs.I, costs.W].some((cost) => typeof cost !== "number");

/** Whether a pair's own time is refused beside an option of a spec. @param {Spec} spec */
const refusesPairTime = (spec) => spec.recompute !== "none" || spec.vocabulary !== "plain" || spec.layers !== null;

/**
 * The query of a spec's order. Costs time an order but seldom shape it, so they are left out and a cost slider asks the
 * server nothing. What an option places by the costs is left out of the order instead, and added here. Only a search
 * shapes all of its order by them, and lists are for the server to check.
 * @param {Spec} spec @param {Spec} defaults @param {boolean} shapedByCosts whether the family's order depends on them
 */
export function orderQuery(spec, defaults, shapedByCosts) {
  const placed = shapedByOptions(spec) && spec.family !== IMPORTED;
  if (shapedByCosts || (placed && !placedHere(spec))) return specQuery(spec, defaults);
  const plain = refusesPairTime(spec) ? { ...defaults.costs, FB: spec.costs.FB } : defaults.costs;
  const costs = uneven(spec.costs) ? spec.costs : plain;
  const query = specQuery({ ...spec, costs, w_share: defaults.w_share }, defaults);
  return placed ? `${query}&base=true` : query;
}

/**
 * Ask for another spec. Calls `changed` when something may be drawn: at once if the order is here already.
 * @param {Plan} plan @param {Spec} spec @param {string} query @param {() => void} changed
 */
export function request(plan, spec, query, changed) {
  plan.asked = spec;
  plan.fetching?.abort();
  plan.fetching = null;
  const answer = known(query);
  if (answer) {
    settle(plan, answer, changed);
    return;
  }
  const controller = new AbortController();
  plan.fetching = controller;
  order(query, controller.signal)
    .then(
      (got) => {
        if (plan.asked === spec) settle(plan, got, changed);
      },
      (problem) => {
        if (plan.asked === spec && problem.name !== "AbortError") fail(plan, problem, changed);
      },
    )
    .finally(() => {
      if (plan.fetching === controller) plan.fetching = null;
    });
}

/** @param {Plan} plan @param {import("./order_cache.js").Answer} answer @param {() => void} changed */
function settle(plan, answer, changed) {
  plan.offline = false;
  plan.answered = plan.asked;
  plan.error = answer.error;
  if (answer.schedule) {
    plan.order = answer.schedule;
    if (!answer.schedule.base) plan.schedule = answer.schedule;
    plan.shown = plan.asked;
    plan.fresh = true;
  }
  changed();
}

/** @param {Plan} plan @param {Error} problem @param {() => void} changed */
function fail(plan, problem, changed) {
  plan.offline = problem instanceof Offline;
  plan.error = problem instanceof Refusal ? problem.error : null;
  if (!plan.offline && !plan.error) plan.error = { field: "", value: null, message: problem.message };
  changed();
}

/** A plan that is timed ahead of a request. @param {PlanId} id @param {Spec} spec @param {Schedule} sent */
export function planAhead(id, spec, sent) {
  const plan = { ...createPlan(id, spec), order: sent, schedule: sent, shown: spec, fresh: true };
  timePlan(plan);
  return plan;
}

/** Time a plan again if its order or its costs are new. @param {Plan} plan */
export function timePlan(plan) {
  const { order: sent, shown } = plan;
  if (!plan.fresh || !sent || !shown) return;
  plan.fresh = false;
  try {
    const costs = timing(shown);
    const { schedule, times } = timedWithOptions(sent, shown, costs, plan.times ?? undefined);
    plan.schedule = schedule;
    plan.times = times;
    plan.figures = figures(schedule, plan.times);
    plan.peak = Math.max(...peakInFlight(schedule));
    // with copies the peak is that of the strips, which need the same curves
    plan.memory = schedule.copies
      ? held(schedule, plan.times, shown).top
      : Math.max(...peakMemory(schedule, plan.times, holding(shown)));
  } catch (problem) {
    plan.error = { field: "", value: null, message: problem instanceof Error ? problem.message : String(problem) };
  }
}
