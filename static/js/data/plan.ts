// The plans on the screen: from a spec to an order, its times and its figures. The last good one stays until the next
// is here.
import { Offline, Refusal } from "./api.ts";
import { answerHere, answerTo, type Answer } from "./orders/orders.ts";
import { specQuery } from "../core/state/link.ts";
import { figures, type Figures } from "../core/schedule/metrics.ts";
import { holding, peakInFlight, peakMemory } from "../core/schedule/memory.ts";
import { timedWithOptions } from "../core/options/apply_options.ts";
import { timing } from "../core/schedule/effective_costs.ts";
import { IMPORTED } from "../core/schedule/spec_tables.ts";
import { held } from "../core/timeline/memory_strips.ts";
import type { Schedule, Spec, SpecError, Times } from "../core/schedule/types.ts";
import type { PlanId } from "../core/state/schedules.ts";

export type Plan = {
  id: PlanId;
  asked: Spec; // the values of the controls
  shown: Spec | null; // what is drawn
  answered: Spec | null; // what was last built or refused
  order: Schedule | null; // as it was constructed or sent
  schedule: Schedule | null; // the order with what its options place in it by the costs
  times: Times | null;
  figures: Figures | null;
  peak: number; // chunks in flight, the worst rank
  memory: number; // activations, the worst rank, in units of one micro-batch on a device
  error: SpecError | null;
  offline: boolean;
  fetching: AbortController | null;
  fresh: boolean; // must be timed again
};

export function createPlan(id: PlanId, spec: Spec): Plan {
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

const isStale = (plan: Plan) => plan.shown !== null && plan.shown !== plan.asked;

/** Whether what is asked for cannot be shown, and the last schedule that could be stays. */
export const isOutOfDate = (plan: Plan) => isStale(plan) && (plan.error !== null || plan.offline);

/** Whether a pair's own time is refused beside an option of a spec. */
const refusesPairTime = ({ costs, recompute, vocabulary, layers }: Spec) =>
  costs.FB !== null && (recompute !== "none" || vocabulary !== "plain" || layers !== null);

/**
 * The query of a spec's order to the server. Costs time an imported order and do not shape it, so they are left out
 * unless the server has to validate them; a cost slider then asks it nothing.
 */
export function orderQuery(spec: Spec, defaults: Spec) {
  const { F, I, W } = spec.costs;
  if (spec.family !== IMPORTED || [F, I, W].some(Array.isArray) || refusesPairTime(spec))
    return specQuery(spec, defaults);
  return specQuery({ ...spec, costs: defaults.costs, w_share: defaults.w_share }, defaults);
}

/**
 * Ask for another spec. Calls `changed` when something may be drawn: at once if the order is here or constructed here.
 */
export function request(plan: Plan, spec: Spec, query: string, changed: () => void) {
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

function settle(plan: Plan, answer: Answer, changed: () => void) {
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

function fail(plan: Plan, problem: Error, changed: () => void) {
  plan.offline = problem instanceof Offline;
  plan.error = problem instanceof Refusal ? problem.error : null;
  if (!plan.offline && !plan.error) plan.error = { field: "", value: null, message: problem.message };
  changed();
}

/** A plan that is timed ahead of a request. */
export function planAhead(id: PlanId, spec: Spec, sent: Schedule) {
  const plan = { ...createPlan(id, spec), order: sent, schedule: sent, shown: spec, fresh: true };
  timePlan(plan);
  return plan;
}

/** Time a plan again if its order or its costs are new. */
export function timePlan(plan: Plan) {
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
