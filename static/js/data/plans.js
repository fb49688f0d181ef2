// The plans of the schedules on the screen, kept in step with the state: orders are constructed or requested, timed in
// the frame, and become lane groups.
import { invalidate } from "../ui/frame_loop.js";
import { importedFamily } from "./imported.js";
import { answerHere } from "./orders/orders.js";
import { createPlan, isOutOfDate, orderQuery, planAhead, request, timePlan } from "./plan.js";
import { createRehearsal } from "./rehearsal.js";
import { IDS, specsOf } from "../core/state/schedules.js";
import { timing } from "../core/schedule/effective_costs.js";
import { IMPORTED } from "../core/schedule/spec_tables.js";

/** @import {Lane} from "./lanes.js" */
/** @import {DeviceMemory} from "./costs/step_units.js" */
/** @import {Plan} from "./plan.js" */
/** @import {PlanId} from "../core/state/schedules.js" */
/** @import {Family, Schedule, Spec, Times} from "../core/schedule/types.js" */
/** @import {Store} from "./store.js" */

export class Plans {
  /** @type {Map<Plan, {times: object, lane: Lane, stale: boolean}>} */
  #lanes = new Map();

  /** @type {(() => void)[]} */
  #listeners = [];
  /** Draws lanes where nobody sees them. @type {((lanes: Lane[]) => void) | null} */
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
   * @param {((id: PlanId) => string) | null} [keyOf] the key of a plan's order among those that are kept, where
   *   there is no server to send one
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

  /** The query of a spec's order to the server. @param {Spec} spec */
  query(spec) {
    return orderQuery(spec, this.store.defaults);
  }

  /** The key of an order that the page does not construct. @param {Plan} plan @param {Spec} spec */
  #key(plan, spec) {
    return this.keyOf?.(plan.id) ?? this.query(spec);
  }

  /** Construct or request the orders of the state, where they are new. @param {boolean} [again] even where not, after
   * an outage */
  sync(again) {
    specsOf(this.store.get()).forEach((wanted, at) => {
      const plan = this.all[at];
      if (!again && plan.asked === wanted && plan.shown) return;
      request(plan, wanted, this.#key(plan, wanted), () => {
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
   * The lanes on the screen, with another spec in the place of a plan's; null where there is no such order here.
   * @param {Plan} plan @param {Spec} spec
   */
  lanesWith(plan, spec) {
    const answer = answerHere(spec, this.#key(plan, spec));
    if (!answer?.schedule) return null;
    const ahead = planAhead(plan.id, spec, answer.schedule);
    const { schedule, times } = ahead;
    if (!schedule || !times) return null;
    const lane = this.#newLane(plan, schedule, times, spec, false);
    return this.onScreen()
      .map((each) => (each === plan ? lane : this.#laneOf(each)))
      .filter((each) => each !== null);
  }

  /** The family of a name, null for an unknown one. @param {string} name */
  family(name) {
    return this.families.find((each) => each.name === name) ?? (name === IMPORTED ? importedFamily() : null);
  }
}
