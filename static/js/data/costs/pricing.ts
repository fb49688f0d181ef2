// Requests the costs of the preset for the schedules on the screen, and puts them into the state when they arrive.
import { Offline, Refusal } from "../api.ts";
import { ask, costsPath, known, type Priced } from "./api.ts";
import { hasCosts, priceOf, unabridged } from "./derive.ts";
import { stepUnits, type StepUnits } from "./step_units.ts";
import { putAt, specAt, specsOf } from "../../core/state/schedules.ts";
import type { Plan } from "../plan.ts";
import type { PresetCosts, Slot } from "./preset_costs.ts";
import type { Spec, SpecError, Times } from "../../core/schedule/types.ts";
import type { State } from "../../core/state/link.ts";
import type { Preset } from "../../core/state/link_preset.ts";
import type { Store } from "../store.ts";

export class Pricing {
  store: Store;
  presetCosts: PresetCosts;

  /** The last request that failed. */
  #failure: { slot: Slot; path: string; problem: unknown } | null = null;
  #listeners: (() => void)[] = [];
  #units: WeakMap<Times, { priced: Priced; units: StepUnits | null }> = new WeakMap();

  /** presetCosts: the store's derivations. */
  constructor(store: Store, presetCosts: PresetCosts) {
    this.store = store;
    this.presetCosts = presetCosts;
    store.subscribe(() => this.sync());
    this.sync();
  }

  /** Call a task whenever a request has been answered, refused or has failed. */
  onAnswer(listener: () => void) {
    this.#listeners.push(listener);
  }

  #answered() {
    for (const listener of this.#listeners) listener();
  }

  /** The answer for the first schedule. */
  get priced(): Priced | undefined {
    const { preset, spec } = this.store.get();
    return preset ? known(costsPath(preset, spec)) : undefined;
  }

  /** The figures of a plan's step with the model and the machine; null without them. */
  unitsOf(plan: Plan) {
    const { preset } = this.store.get();
    const { times, shown } = plan;
    const priced =
      preset && shown && hasCosts(shown, this.store.defaults) ? known(costsPath(preset, shown)) : undefined;
    if (!priced || !times) return null;
    const before = this.#units.get(times);
    if (before && before.priced === priced) return before.units;
    const units = stepUnits(priced, plan);
    this.#units.set(times, { priced, units });
    return units;
  }

  /** The failure of a request that the state still needs. */
  get #problem() {
    const failure = this.#failure;
    return failure && this.#wanted(failure.slot, failure.path) && !known(failure.path) ? failure.problem : null;
  }

  get error(): SpecError | null {
    return this.#problem instanceof Refusal ? this.#problem.error : null;
  }

  get offline() {
    return this.#problem instanceof Offline;
  }

  /** Whether the first schedule's costs are requested and not here yet. */
  get waits() {
    return this.store.get().preset !== null && !this.priced && !this.#problem;
  }

  /** Request what is missing. */
  sync() {
    const state = this.store.get();
    const { preset, origin } = state;
    if (!preset) {
      if (origin) this.#complete(origin);
      return;
    }
    specsOf(state).forEach((spec, slot) => {
      const path = costsPath(preset, spec);
      if (known(path)) return;
      if (!this.presetCosts.fromLink(slot))
        ask(path).then(
          () => this.#arrived(slot, path),
          (problem) => this.#failed(slot, path, problem),
        );
      else if (slot === 0)
        ask(path).then(
          () => this.#answered(),
          () => {},
        ); // the costs are the link's; the answer is only shown
    });
  }

  /** Fill in what a step back leaves to a model whose costs were then changed by hand. */
  #complete(origin: Preset) {
    specsOf(this.store.get()).forEach((spec, slot) => {
      const path = costsPath(origin, spec);
      if (known(path)) return;
      const complete = () => {
        const state = this.store.get();
        const now = specAt(state, slot);
        if (state.preset || state.origin !== origin || !now || costsPath(origin, now) !== path) return;
        this.store.set(putAt(state, slot, unabridged(origin, now, this.store.defaults)), "replace");
      };
      ask(path).then(complete, () => {}); // as at the first load: without the server the link's own costs stay
    });
  }

  /** What the state needs still, null where it is another answer. */
  #wanted(slot: Slot, path: string) {
    const state = this.store.get();
    const spec = specAt(state, slot);
    return state.preset && spec && costsPath(state.preset, spec) === path ? { preset: state.preset, spec } : null;
  }

  #arrived(slot: Slot, path: string) {
    const wanted = this.#wanted(slot, path);
    if (!wanted) return;
    this.#failure = null;
    const next = priceOf(wanted.preset, wanted.spec);
    if (next && next !== wanted.spec && !this.presetCosts.fromLink(slot))
      this.store.set(putAt(this.store.get(), slot, next), "replace");
    this.#answered();
  }

  #failed(slot: Slot, path: string, problem: unknown) {
    if (!this.#wanted(slot, path)) return;
    this.#failure = { slot, path, problem };
    this.#answered();
  }
}

/**
 * Fetch the costs that a link leaves to its model, so that the first schedule drawn has them. Never rejects: the
 * section where a model is chosen shows what is wrong.
 */
export async function loadPrices({ preset, origin, spec, others }: State, defaults: Spec) {
  const from = preset ?? origin;
  const bare = [spec, ...others].filter((each) => origin || !hasCosts(each, defaults));
  if (from) await Promise.allSettled(bare.map((each) => ask(costsPath(from, each))));
}
