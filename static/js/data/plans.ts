// The plans of the schedules on the screen, kept in step with the state: orders are constructed or requested, timed in
// the frame, and become lane groups.
import { invalidate } from "../ui/frame_loop.ts";
import { importedFamily } from "./imported.ts";
import { answerHere } from "./orders/orders.ts";
import { createPlan, isOutOfDate, orderQuery, planAhead, request, timePlan, type Plan } from "./plan.ts";
import { createRehearsal } from "./rehearsal.ts";
import { IDS, letter, specsOf, type PlanId } from "../core/state/schedules.ts";
import { timing } from "../core/schedule/effective_costs.ts";
import { IMPORTED } from "../core/schedule/spec_tables.ts";
import type { Lane } from "./lanes.ts";
import type { DeviceMemory } from "./costs/step_units.ts";
import type { Family, Schedule, Spec, Times } from "../core/schedule/types.ts";
import type { Store } from "./store.ts";

export class Plans {
  store: Store;
  families: Family[];
  keyOf: ((id: PlanId) => string) | null;
  all: Plan[];

  #lanes = new Map<Plan, { times: object; lane: Lane; stale: boolean }>();

  #listeners: (() => void)[] = [];
  /** Draws lanes where nobody sees them. */
  drawAhead: ((lanes: Lane[]) => void) | null = null;
  rehearsal = createRehearsal(
    (plan, spec) => this.lanesWith(plan, spec),
    (lanes) => this.drawAhead?.(lanes),
  );
  /** A plan's memory in bytes, with a model and a machine. */
  deviceMemory: ((plan: Plan) => DeviceMemory | null) | null = null;

  /** keyOf: the key of a plan's order among those that are kept, where there is no server to send one. */
  constructor(store: Store, families: Family[], keyOf: ((id: PlanId) => string) | null = null) {
    this.store = store;
    this.families = families;
    this.keyOf = keyOf;
    this.all = IDS.map((id) => createPlan(id, store.get().spec));
  }

  /** Call a task whenever a request has been answered, refused or has failed. */
  onAnswer(listener: () => void) {
    this.#listeners.push(listener);
  }

  /** The query of a spec's order to the server. */
  query(spec: Spec) {
    return orderQuery(spec, this.store.defaults);
  }

  /** The key of an order that the page does not construct. */
  #key(plan: Plan, spec: Spec) {
    return this.keyOf?.(plan.id) ?? this.query(spec);
  }

  /** Construct or request the orders of the state, where they are new. again: even where not, after an outage. */
  sync(again?: boolean) {
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

  /** The plans on the screen. */
  onScreen(): Plan[] {
    return this.all.slice(0, 1 + this.store.get().others.length);
  }

  /** The titles of the schedules on the screen; with its letter where several have the same. */
  titles(): string[] {
    const all = this.onScreen().map(({ shown, asked }) => {
      const { family } = shown ?? asked;
      return this.family(family)?.title ?? family;
    });
    return all.map((title, at) => (all.indexOf(title) === all.lastIndexOf(title) ? title : `${letter(at)} · ${title}`));
  }

  /** Time what is new and list the lanes. */
  lanes(): Lane[] {
    for (const plan of this.onScreen()) timePlan(plan);
    return this.onScreen()
      .map((plan) => this.#laneOf(plan))
      .filter((lane) => lane !== null);
  }

  /** The same lane as before unless its times are new. */
  #laneOf(plan: Plan): Lane | null {
    const { schedule, times, shown } = plan;
    if (!schedule || !times || !shown) return null;
    const before = this.#lanes.get(plan);
    const stale = isOutOfDate(plan);
    if (before && before.times === times && before.stale === stale) return before.lane;
    const lane = this.#newLane(plan, schedule, times, shown, stale);
    this.#lanes.set(plan, { times, lane, stale });
    return lane;
  }

  #newLane(plan: Plan, schedule: Schedule, times: Times, shown: Spec, stale: boolean): Lane {
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

  /** The lanes on the screen, with another spec in the place of a plan's; null where there is no such order here. */
  lanesWith(plan: Plan, spec: Spec) {
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

  /** The family of a name, null for an unknown one. */
  family(name: string) {
    return this.families.find((each) => each.name === name) ?? (name === IMPORTED ? importedFamily() : null);
  }
}
