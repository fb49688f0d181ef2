// The plans on the screen: from a spec to an order, its times and its figures. The last good one stays until the next
// is here.
import { Offline, Refusal } from "./api.js";
import { answerHere, answerTo } from "./orders/orders.js";
import { specQuery } from "../core/state/link.js";
import { figures } from "../core/schedule/metrics.js";
import { holding, peakInFlight, peakMemory } from "../core/schedule/memory.js";
import { timedWithOptions } from "../core/options/apply_options.js";
import { timing } from "../core/schedule/effective_costs.js";
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
 * @property {Spec | null} answered   what was last built or refused
 * @property {Schedule | null} order     as it was constructed or sent
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

/** Whether a pair's own time is refused beside an option of a spec. @param {Spec} spec */
const refusesPairTime = ({ costs, recompute, vocabulary, layers }) =>
  costs.FB !== null && (recompute !== "none" || vocabulary !== "plain" || layers !== null);

/**
 * The query of a spec's order to the server. Costs time an imported order and do not shape it, so they are left out
 * unless the server has to judge them; a cost slider then asks it nothing.
 * @param {Spec} spec @param {Spec} defaults
 */
export function orderQuery(spec, defaults) {
  const { F, I, W } = spec.costs;
  if (spec.family !== IMPORTED || [F, I, W].some(Array.isArray) || refusesPairTime(spec))
    return specQuery(spec, defaults);
  return specQuery({ ...spec, costs: defaults.costs, w_share: defaults.w_share }, defaults);
}

/**
 * Ask for another spec. Calls `changed` when something may be drawn: at once if the order is here or constructed here.
 * @param {Plan} plan @param {Spec} spec @param {string} query @param {() => void} changed
 */
export function request(plan, spec, query, changed) {
  plan.asked = spec;
  plan.fetching?.abort();
  plan.fetching = null;
  const answer = answerHere(spec, query);
  if (answer) {
    settle(plan, answer, changed);
    return;
  }
  const controller = new AbortController();
  plan.fetching = controller;
  answerTo(spec, query, controller.signal)
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

/** @param {Plan} plan @param {import("./orders/orders.js").Answer} answer @param {() => void} changed */
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
