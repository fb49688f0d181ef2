// The plans of the schedules on the screen, kept in step with the state: orders are requested, timed in the frame, and
// become lane groups.
import { afterPaint, invalidate } from "../ui/frame_loop.js";
import { importedFamily } from "./imported.js";
import { known, fetchAhead } from "./order_cache.js";
import { createPlan, isOutOfDate, orderQuery, planAhead, request, timePlan } from "./plan.js";
import { createRehearsal } from "./rehearsal.js";
import { IDS, specsOf } from "../core/state/schedules.js";
import { timing } from "../core/schedule/effective_costs.js";
import { IMPORTED } from "../core/schedule/spec_tables.js";
import { withField } from "./spec_fields.js";
import { wholeStops } from "../ui/fields/slider_stops.js";

/** @import {Lane} from "./lanes.js" */
/** @import {DeviceMemory} from "./costs/step_units.js" */
/** @import {Plan} from "./plan.js" */
/** @import {PlanId} from "../core/state/schedules.js" */
/** @import {Family, Schedule, Spec, Times} from "../core/schedule/types.js" */
/** @import {Store} from "./store.js" */

const AHEAD_OPS = 8_000_000; // fetched ahead for one field, at most
const LARGE = 300_000; // ops of an order whose neighbours are not worth fetching

export class Plans {
  /** @type {Map<Plan, {times: object, lane: Lane, stale: boolean}>} */
  #lanes = new Map();

  /** @type {(() => void)[]} */
  #listeners = [];
  /** @type {{plan: Plan, field: string, stops: number[]} | null} what is to be fetched ahead */
  #next = null;
  /** Draws lanes off the screen. @type {((lanes: Lane[]) => void) | null} */
  drawAhead = null;
  rehearsal = createRehearsal(
    (plan, spec) => this.lanesWith(plan, spec),
    (lanes) => this.drawAhead?.(lanes),
  );
  /** A plan's memory in bytes, with a model and a machine. @type {((plan: Plan) => DeviceMemory | null) | null} */
  deviceMemory = null;

  /**
   * @param {Store} store
   * @param {Family[]} families
   * @param {((id: PlanId, spec: Spec) => string) | null} [keyOf] the key of a plan's order in the order cache, where
   *   orders do not come from a server but are in the cache already
   */
  constructor(store, families, keyOf = null) {
    this.store = store;
    this.families = families;
    this.keyOf = keyOf;
    this.all = IDS.map((id) => createPlan(id, store.get().spec));
  }

  /** Call a task whenever a request has been answered, refused or has failed. @param {() => void} listener */
  onAnswer(listener) {
    this.#listeners.push(listener);
  }

  /** The query of a spec's order. @param {Spec} spec */
  query(spec) {
    return orderQuery(spec, this.store.defaults, this.family(spec.family)?.shaped_by_costs ?? false);
  }

  /** Request the orders of the state, where they are new. @param {boolean} [again] even where not, after an outage */
  sync(again) {
    specsOf(this.store.get()).forEach((wanted, at) => {
      const plan = this.all[at];
      if (!again && plan.asked === wanted && plan.shown) return;
      request(plan, wanted, this.keyOf?.(plan.id, wanted) ?? this.query(wanted), () => {
        invalidate("plan");
        for (const listener of this.#listeners) listener();
      });
    });
  }

  /** The plan of the first schedule. */
  get first() {
    return this.all[0];
  }

  /** The plans on the screen. @returns {Plan[]} */
  onScreen() {
    return this.all.slice(0, 1 + this.store.get().others.length);
  }

  /** Time what is new and list the lanes. @returns {Lane[]} */
  lanes() {
    for (const plan of this.onScreen()) timePlan(plan);
    return this.onScreen()
      .map((plan) => this.#laneOf(plan))
      .filter((lane) => lane !== null);
  }

  /** The same lane as before unless its times are new. @param {Plan} plan @returns {Lane | null} */
  #laneOf(plan) {
    const { schedule, times, shown } = plan;
    if (!schedule || !times || !shown) return null;
    const before = this.#lanes.get(plan);
    const stale = isOutOfDate(plan);
    if (before && before.times === times && before.stale === stale) return before.lane;
    const lane = this.#newLane(plan, schedule, times, shown, stale);
    this.#lanes.set(plan, { times, lane, stale });
    return lane;
  }

  /** @param {Plan} plan @param {Schedule} schedule @param {Times} times @param {Spec} shown @param {boolean} stale
   * @returns {Lane} */
  #newLane(plan, schedule, times, shown, stale) {
    return {
      id: plan.id,
      kind: "plan",
      schedule,
      times,
      spec: shown,
      family: this.family(shown.family)?.title,
      costs: timing(shown),
      end: times.makespan,
      stale,
      live: false,
      asynchronous: this.family(shown.family)?.asynchronous ?? false,
      device: () => this.deviceMemory?.(plan) ?? null,
    };
  }

  /**
   * The lanes on the screen, with another spec in the place of a plan's; null where it has no order, undefined where
   * its order is not here.
   * @param {Plan} plan @param {Spec} spec
   */
  lanesWith(plan, spec) {
    const answer = this.answerTo(spec);
    if (!answer?.schedule) return answer && null;
    const ahead = planAhead(plan.id, spec, answer.schedule);
    const { schedule, times } = ahead;
    if (!schedule || !times) return null;
    const lane = this.#newLane(plan, schedule, times, spec, false);
    return this.onScreen()
      .map((each) => (each === plan ? lane : this.#laneOf(each)))
      .filter((each) => each !== null);
  }

  /**
   * Fetch ahead what the reader may drag to next, once the frame is painted: requests take milliseconds to send.
   * @param {Plan} plan @param {string} field @param {number[]} stops
   */
  prefetch(plan, field, stops) {
    if (!this.#next) afterPaint(() => this.#fetchNext());
    this.#next = { plan, field, stops };
  }

  /** Fetch a field's other stops, nearest first, then the neighbours in p, m, v. */
  #fetchNext() {
    if (!this.#next) return;
    const { plan, field, stops } = this.#next;
    this.#next = null;
    const spec = plan.asked;
    const value = Number(spec[/** @type {"p" | "m" | "v"} */ (field)]);
    const ops = 3 * spec.p * spec.m * spec.v;
    const near = stops.filter((stop) => stop !== value).sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
    const room = Math.max(2, Math.min(near.length, Math.floor(AHEAD_OPS / Math.max(1, ops))));
    const specs = near.slice(0, room).map((stop) => withField(spec, field, stop));
    if (ops < LARGE) specs.push(...neighbours(spec));
    fetchAhead(specs.map((each) => this.query(each)));
  }

  /** Fetch one order ahead. @param {Spec} spec */
  fetchAhead(spec) {
    fetchAhead([this.query(spec)]);
  }

  /** The answer to a spec, if it is here already. @param {Spec} spec */
  answerTo(spec) {
    return known(this.query(spec));
  }

  /** The family of a name, null for an unknown one. @param {string} name */
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
    ...[spec.v + 1, spec.v - 1].filter((v) => v > 0).map((v) => withField(spec, "v", v)),
  ].filter((each) => each.p > 0 && each.m > 0);
}
