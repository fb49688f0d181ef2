// Keeps the plans in step with the state: asks for orders, times them in the frame, and hands out lane groups.
import { invalidate } from "./frame.js";
import { known, fetchAhead } from "./orders.js";
import { createPlan, isStale, orderQuery, request, timePlan } from "./plans.js";
import { wholeStops } from "./stops.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Plan} from "./plans.js" */
/** @import {Family} from "./picker.js" */
/** @import {Spec} from "./pure/types.js" */
/** @import {Store} from "./store.js" */

const AHEAD_OPS = 300_000; // larger orders are fetched ahead only next door
/** Families whose order a search shapes by the costs. @type {ReadonlySet<string>} */
const SHAPED_BY_COSTS = new Set(["zb-auto", "v-auto"]);

/** @param {Store} store @param {Family[]} families @param {() => void} changed  the answer to a request is here */
export function createDesk(store, families, changed) {
  const plan = createPlan("a", store.get().spec);
  const second = createPlan("b", store.get().spec);
  /** @type {Map<Plan, {times: object, lane: Lane, stale: boolean}>} */
  const lanesOf = new Map();
  /** @param {Spec} spec */
  const query = (spec) => orderQuery(spec, store.defaults, SHAPED_BY_COSTS);

  function arrived() {
    invalidate("plan");
    changed();
  }

  /** Ask for what the state says, if that is new. @param {boolean} [again] even if it is not (after being offline) */
  function sync(again) {
    const { spec, second: other } = store.get();
    if (again || plan.asked !== spec || !plan.shown) request(plan, spec, query(spec), arrived);
    if (other && (again || second.asked !== other || !second.shown)) request(second, other, query(other), arrived);
  }

  /** @returns {Plan[]} */
  const plans = () => (store.get().second ? [plan, second] : [plan]);

  /** @param {Plan} each @returns {Lane | null} */
  function laneOf(each) {
    const { schedule, times, shown } = each;
    if (!schedule || !times || !shown) return null;
    const before = lanesOf.get(each);
    const stale = isStale(each) && (each.error !== null || each.offline);
    if (before && before.times === times && before.stale === stale) return before.lane;
    const lane = { id: each.id, schedule, times, costs: shown.costs, end: times.makespan, stale, live: false };
    lanesOf.set(each, { times, lane, stale });
    return lane;
  }

  /** What the reader may drag to next: a field's other stops, nearest first, then the neighbours in p, m and v. */
  /** @param {Plan} each @param {string} field @param {number[]} stops */
  function prefetch(each, field, stops) {
    const spec = each.asked;
    const value = Number(spec[/** @type {"p" | "m" | "v"} */ (field)]);
    const ops = 3 * spec.p * spec.m * spec.v;
    const near = stops.filter((stop) => stop !== value).sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
    const room = Math.max(2, Math.min(near.length, Math.floor((AHEAD_OPS * 40) / Math.max(1, ops))));
    const specs = near.slice(0, room).map((stop) => ({ ...spec, [field]: stop }));
    if (ops < AHEAD_OPS) specs.push(...neighbours(spec));
    fetchAhead(specs.map(query));
  }

  return {
    sync,
    query,
    plans,
    primary: plan,
    prefetch,
    /** Time what is new and list the lanes. @returns {Lane[]} */
    lanes() {
      for (const each of plans()) timePlan(each);
      return plans().map(laneOf).filter((lane) => lane !== null);
    },
    /** What the server said of a spec, if it was asked already. @param {Spec} spec */
    answerTo: (spec) => known(query(spec)),
    /** @param {string} name */
    family: (name) => families.find((each) => each.name === name) ?? null,
    /** @param {Spec} spec */
    consider: (spec) => fetchAhead([query(spec)]),
  };
}

/** @param {Spec} spec @returns {Spec[]} */
function neighbours(spec) {
  const stops = wholeStops(1, 512);
  const at = stops.indexOf(spec.m);
  const m = at < 0 ? [spec.m + 1, spec.m - 1] : [stops[at + 1], stops[at - 1]];
  return [...m.map((x) => ({ ...spec, m: x })), { ...spec, p: spec.p + 1 }, { ...spec, p: spec.p - 1 },
    { ...spec, v: spec.v + 1 }, { ...spec, v: spec.v - 1 }].filter((each) => each.p > 0 && each.m > 0 && each.v > 0);
}

/** @typedef {ReturnType<typeof createDesk>} Desk */
