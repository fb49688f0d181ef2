// Keeps the costs of the schedules on the screen those of the preset: computed anew when p, v, the family or the preset
// change. Knows no DOM.
import { Offline, Refusal } from "../api.js";
import { ask, costsPath, evenly, known, presetFor } from "./api.js";
import { mapSpecs, putAt, specAt, specsOf } from "../../core/state/schedules.js";
import { abridged, changedByHand, hasCosts, priceOf, tidy, unabridged, withFrom } from "./derive.js";

/** @import {SpecError} from "../api.js" */
/** @import {Priced} from "./api.js" */
/** @import {Costs, Spec} from "../../core/schedule/types.js" */
/** @import {State} from "../../core/state/link.js" */
/** @import {Preset} from "../../core/state/link_preset.js" */
/** @import {Store} from "../store.js" */
/** @typedef {number} Slot  0 is the first schedule, others[0] is 1 */

export class Pricing {
  /** Costs that a link brought along with the preset: they stand until the question changes, so that an old link shows
   * the times that it showed. @type {({path: string, costs: Costs} | null)[]} */
  #given = [];
  /** The last question that failed. @type {{slot: Slot, path: string, problem: unknown} | null} */
  #failure = null;

  /** @param {Store} store @param {() => void} changed an answer is here */
  constructor(store, changed) {
    this.store = store;
    this.changed = changed;
    const { spec, others } = this.#restore(store.get(), store.get());
    store.set({ spec, others }, "none");
    store.deriveBy({
      change: (next, before) => this.#change(next, before),
      restore: (next, before) => this.#restore(next, before),
      abridge: (state) => this.#abridge(state),
    });
    store.subscribe(() => this.sync());
    this.sync();
  }

  /** What the server said of the first schedule. @returns {Priced | undefined} */
  get priced() {
    const { preset, spec } = this.store.get();
    return preset ? known(costsPath(preset, spec)) : undefined;
  }

  /** What is wrong with the question that is asked now. */
  get #problem() {
    const failure = this.#failure;
    return failure && this.#wanted(failure.slot, failure.path) && !known(failure.path) ? failure.problem : null;
  }

  /** @returns {SpecError | null} */
  get error() {
    return this.#problem instanceof Refusal ? this.#problem.error : null;
  }

  get offline() {
    return this.#problem instanceof Offline;
  }

  /** A change of the state with the costs that it should have; guessed from the last ones where they are not here yet.
   * @param {State} next @param {State} before @returns {State} */
  #change(next, before) {
    const { preset } = next;
    if (preset === before.preset && next.spec === before.spec && next.others === before.others) return next;
    if (!preset) return changedByHand(next, before.preset ?? before.origin);
    this.#given.length = Math.min(this.#given.length, 1 + next.others.length);
    const specs = mapSpecs(next, (spec, slot) => {
      if (this.#stands(slot, preset, spec)) return spec;
      this.#given[slot] = null;
      return priceOf(preset, spec) ?? guess(spec, specAt(before, slot) ?? before.spec);
    });
    const layered = specsOf(specs).some((spec) => presetFor(preset, spec).layers);
    return { ...next, ...specs, origin: undefined, preset: layered ? preset : evenly(preset) };
  }

  /** A state as a link says it, at the start and at steps back and forward. A link's own costs are what it showed; one
   * that names a model and no costs has them computed. @param {State} next @param {State} before @returns {State} */
  #restore(next, before) {
    const { preset, origin } = next;
    this.#given = [];
    const specs = mapSpecs(next, (spec, slot) => {
      if (origin) return unabridged(origin, spec, this.store.defaults);
      if (!preset) return spec;
      if (!hasCosts(spec, this.store.defaults))
        return priceOf(preset, spec) ?? likeLast(spec, specAt(before, slot) ?? before.spec);
      this.#given[slot] = { path: costsPath(preset, spec), costs: spec.costs };
      return spec;
    });
    return { ...next, ...specs };
  }

  /** What a link must say: costs that follow from the preset are left out, which keeps it short whatever the stages
   * cost. @param {State} state @returns {State} */
  #abridge(state) {
    const { preset, origin } = state;
    const { defaults } = this.store;
    if (preset) {
      if (this.#given.some((given) => given)) return state;
      return { ...state, ...mapSpecs(state, (spec) => withFrom(defaults, spec)) };
    }
    if (!origin) return state;
    const short = specsOf(state).map((spec) => abridged(origin, spec, defaults));
    if (short.includes(null)) return { ...state, origin: undefined };
    return { ...state, ...mapSpecs(state, (spec, slot) => short[slot] ?? spec) };
  }

  /** Are these a link's own costs, for what it asked? @param {Slot} slot @param {Preset} preset @param {Spec} spec */
  #stands(slot, preset, spec) {
    const given = this.#given[slot];
    return Boolean(given) && given !== null && given.costs === spec.costs && given.path === costsPath(preset, spec);
  }

  /** Ask for what is missing. */
  sync() {
    const state = this.store.get();
    const { preset } = state;
    if (!preset) return;
    specsOf(state).forEach((spec, slot) => {
      const path = costsPath(preset, spec);
      if (known(path)) return;
      if (!this.#given[slot])
        ask(path).then(
          () => this.#arrived(slot, path),
          (problem) => this.#failed(slot, path, problem),
        );
      else if (slot === 0)
        ask(path).then(
          () => this.changed(),
          () => {},
        ); // only to say what it is
    });
  }

  /** Is this still what the state asks for? @param {Slot} slot @param {string} path */
  #wanted(slot, path) {
    const state = this.store.get();
    const spec = specAt(state, slot);
    return state.preset && spec && costsPath(state.preset, spec) === path ? { preset: state.preset, spec } : null;
  }

  /** @param {Slot} slot @param {string} path */
  #arrived(slot, path) {
    const wanted = this.#wanted(slot, path);
    if (!wanted) return;
    this.#failure = null;
    const next = priceOf(wanted.preset, wanted.spec);
    if (next && next !== wanted.spec && !this.#given[slot])
      this.store.set(putAt(this.store.get(), slot, next), "replace");
    this.changed();
  }

  /** @param {Slot} slot @param {string} path @param {unknown} problem */
  #failed(slot, path, problem) {
    if (!this.#wanted(slot, path)) return;
    this.#failure = { slot, path, problem };
    this.changed();
  }
}

/** Fetches the costs that a link leaves to its model, so that the first schedule drawn has them. Never fails: what is
 * wrong is said where the model is chosen. @param {State} state @param {Spec} defaults */
export async function pricesOf({ preset, origin, spec, others }, defaults) {
  const from = preset ?? origin;
  const bare = [spec, ...others].filter((each) => origin || !hasCosts(each, defaults));
  if (from) await Promise.allSettled(bare.map((each) => ask(costsPath(from, each))));
}

/**
 * A spec without costs with the last ones, until its own are here.
 * @param {Spec} spec
 * @param {Spec} old
 * @returns {Spec}
 */
function likeLast(spec, old) {
  const { F, I, W, comm, FB } = old.costs;
  return guess({ ...spec, w_share: old.w_share, costs: { ...spec.costs, F, I, W, comm, FB } }, old);
}

/**
 * The old costs spread over the new devices, for the moment until the answer is here.
 * @param {Spec} spec
 * @param {Spec} old
 * @returns {Spec}
 */
function guess(spec, old) {
  if (spec.p === old.p && spec.v === old.v) return spec;
  /** @param {number | number[]} cost */
  const share = (cost) => tidy((deviceShare(cost, old.p) * old.p) / spec.p);
  const { F, I, W, comm, FB } = old.costs;
  return {
    ...spec,
    costs: { ...spec.costs, F: share(F), I: share(I), W: share(W), comm, FB: FB === null ? null : share(FB) },
  };
}

/** One number for a list of stages: the mean device's share. @param {number | number[]} cost @param {number} p */
export const deviceShare = (cost, p) => (Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost);
