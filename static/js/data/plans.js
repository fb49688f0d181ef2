// Keeps the plans in step with the state: asks for orders, times them in the frame, and hands out lane groups.
import { invalidate } from "../ui/frame_loop.js";
import { importedFamily } from "./imported.js";
import { known, fetchAhead } from "./order_cache.js";
import { createPlan, isStale, orderQuery, request, timePlan } from "./plan.js";
import { IDS, specsOf } from "../core/state/schedules.js";
import { timing } from "../core/schedule/effective_costs.js";
import { IMPORTED } from "../core/schedule/spec_tables.js";
import { wholeStops } from "../ui/slider_stops.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Plan} from "./plan.js" */
/** @import {Family} from "../panels/controls/family_picker.js" */
/** @import {Spec} from "../core/schedule/types.js" */
/** @import {Store} from "./store.js" */

const AHEAD_OPS = 8_000_000; // fetched ahead for one field, at most
const LARGE = 300_000; // ops of an order whose neighbours are not worth fetching

export class Desk {
  /** @type {Map<Plan, {times: object, lane: Lane, stale: boolean}>} */
  #lanes = new Map();

  /** @param {Store} store @param {Family[]} families @param {() => void} changed the answer to a request is here */
  constructor(store, families, changed) {
    this.store = store;
    this.families = families;
    this.changed = changed;
    this.all = IDS.map((id) => createPlan(id, store.get().spec));
  }

  /** @param {Spec} spec */
  query(spec) {
    return orderQuery(spec, this.store.defaults, this.family(spec.family)?.shaped_by_costs ?? false);
  }

  /** Ask for what the state says, if that is new. @param {boolean} [again] even if it is not (after being offline) */
  sync(again) {
    specsOf(this.store.get()).forEach((wanted, at) => {
      const plan = this.all[at];
      if (!again && plan.asked === wanted && plan.shown) return;
      request(plan, wanted, this.query(wanted), () => {
        invalidate("plan");
        this.changed();
      });
    });
  }

  get first() {
    return this.all[0];
  }

  /** The plans on the screen. @returns {Plan[]} */
  plans() {
    return this.all.slice(0, 1 + this.store.get().others.length);
  }

  /** Time what is new and list the lanes. @returns {Lane[]} */
  lanes() {
    for (const plan of this.plans()) timePlan(plan);
    return this.plans()
      .map((plan) => this.#laneOf(plan))
      .filter((lane) => lane !== null);
  }

  /** The same lane as before unless its times are new. @param {Plan} plan @returns {Lane | null} */
  #laneOf(plan) {
    const { schedule, times, shown } = plan;
    if (!schedule || !times || !shown) return null;
    const before = this.#lanes.get(plan);
    const stale = isStale(plan) && (plan.error !== null || plan.offline);
    if (before && before.times === times && before.stale === stale) return before.lane;
    const lane = {
      id: plan.id,
      schedule,
      times,
      spec: shown,
      costs: timing(shown),
      end: times.makespan,
      stale,
      live: false,
      asynchronous: this.family(shown.family)?.asynchronous ?? false,
    };
    this.#lanes.set(plan, { times, lane, stale });
    return lane;
  }

  /** What the reader may drag to next: a field's other stops, nearest first, then the neighbours in p, m and v. */
  /** @param {Plan} plan @param {string} field @param {number[]} stops */
  prefetch(plan, field, stops) {
    const spec = plan.asked;
    const value = Number(spec[/** @type {"p" | "m" | "v"} */ (field)]);
    const ops = 3 * spec.p * spec.m * spec.v;
    const near = stops.filter((stop) => stop !== value).sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
    const room = Math.max(2, Math.min(near.length, Math.floor(AHEAD_OPS / Math.max(1, ops))));
    const specs = near.slice(0, room).map((stop) => ({ ...spec, [field]: stop }));
    if (ops < LARGE) specs.push(...neighbours(spec));
    fetchAhead(specs.map((each) => this.query(each)));
  }

  /** @param {Spec} spec */
  consider(spec) {
    fetchAhead([this.query(spec)]);
  }

  /** What the server said of a spec, if it was asked already. @param {Spec} spec */
  answerTo(spec) {
    return known(this.query(spec));
  }

  /** @param {string} name */
  family(name) {
    return this.families.find((each) => each.name === name) ?? (name === IMPORTED ? importedFamily() : null);
  }
}

/** @param {Spec} spec @returns {Spec[]} */
function neighbours(spec) {
  const stops = wholeStops(1, 512);
  const at = stops.indexOf(spec.m);
  const m = at < 0 ? [spec.m + 1, spec.m - 1] : [stops[at + 1], stops[at - 1]];
  return [
    ...m.map((x) => ({ ...spec, m: x })),
    { ...spec, p: spec.p + 1 },
    { ...spec, p: spec.p - 1 },
    { ...spec, v: spec.v + 1 },
    { ...spec, v: spec.v - 1 },
  ].filter((each) => each.p > 0 && each.m > 0 && each.v > 0);
}
