// Keeps the costs of the schedules on the screen those of the preset: computed anew when p, v, the family or the preset
// change. Knows no DOM.
import { Offline, Refusal } from "./api.js";
import { ask, costsPath, evenly, known, presetFor } from "./costs_api.js";

/** @import {SpecError} from "./api.js" */
/** @import {Priced} from "./costs_api.js" */
/** @import {Costs, Spec} from "./pure/types.js" */
/** @import {State} from "./pure/url.js" */
/** @import {Preset} from "./pure/url_preset.js" */
/** @import {Store} from "./store.js" */
/** @typedef {"spec" | "second"} Slot */

/** @type {Slot[]} */
const SLOTS = ["spec", "second"];
/** Six digits of a cost, here and nowhere else: what is simulated is what a link or a file then says, bit for bit; more
 * is no knowledge of a model. @param {number} x */
const tidy = (x) => Number(x.toPrecision(6));
/** @param {number | number[]} cost */
const tidied = (cost) => (Array.isArray(cost) ? cost.map(tidy) : tidy(cost));

export class Pricing {
  /** Costs that a link brought along with the preset: they stand until the question changes, so that an old link shows
   * the times that it showed. @type {Record<Slot, {path: string, costs: Costs} | null>} */
  #given = { spec: null, second: null };
  /** The last question that failed. @type {{slot: Slot, path: string, problem: unknown} | null} */
  #failure = null;

  /** @param {Store} store @param {() => void} changed an answer is here */
  constructor(store, changed) {
    this.store = store;
    this.changed = changed;
    const { spec, second } = this.#restore(store.get(), store.get());
    store.set({ spec, second }, "none");
    store.deriveBy({ change: (next, before) => this.#change(next, before), restore: (next, before) => this.#restore(next, before),
      abridge: (state) => this.#abridge(state) });
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
    if (!preset || (preset === before.preset && next.spec === before.spec && next.second === before.second)) return next;
    const out = { ...next };
    for (const slot of SLOTS) {
      const spec = next[slot];
      if (spec && this.#stands(slot, preset, spec)) continue;
      this.#given[slot] = null;
      if (spec) out[slot] = priceOf(preset, spec) ?? guess(spec, before[slot] ?? before.spec);
    }
    if (SLOTS.every((slot) => !out[slot] || !presetFor(preset, /** @type {Spec} */ (out[slot])).layers)) out.preset = evenly(preset);
    return out;
  }

  /** A state as a link says it, at the start and at steps back and forward. A link's own costs are what it showed; one
   * that names a model and no costs has them computed. @param {State} next @param {State} before @returns {State} */
  #restore(next, before) {
    const out = { ...next };
    for (const slot of SLOTS) {
      const spec = next[slot];
      this.#given[slot] = null;
      if (!next.preset || !spec) continue;
      if (hasCosts(spec, this.store.defaults)) this.#given[slot] = { path: costsPath(next.preset, spec), costs: spec.costs };
      else out[slot] = priceOf(next.preset, spec) ?? likeLast(spec, before[slot] ?? before.spec);
    }
    return out;
  }

  /** What a link must say: costs that follow from the preset are left out, which keeps it short whatever the stages
   * cost. @param {State} state @returns {State} */
  #abridge(state) {
    if (!state.preset || SLOTS.some((slot) => this.#given[slot])) return state;
    const { costs, w_share } = this.store.defaults;
    /** @param {Spec} spec */
    const plain = (spec) => ({ ...spec, w_share, costs: { ...spec.costs, F: costs.F, I: costs.I, W: costs.W, comm: costs.comm, FB: costs.FB } });
    return { ...state, spec: plain(state.spec), second: state.second && plain(state.second) };
  }

  /** Are these a link's own costs, for what it asked? @param {Slot} slot @param {Preset} preset @param {Spec} spec */
  #stands(slot, preset, spec) {
    const given = this.#given[slot];
    return given !== null && given.costs === spec.costs && given.path === costsPath(preset, spec);
  }

  /** Ask for what is missing. */
  sync() {
    const state = this.store.get();
    const { preset } = state;
    if (!preset) return;
    for (const slot of SLOTS) {
      const spec = state[slot];
      const path = spec && costsPath(preset, spec);
      if (!path || known(path)) continue;
      if (!this.#given[slot]) ask(path).then(() => this.#arrived(slot, path), (problem) => this.#failed(slot, path, problem));
      else if (slot === "spec") ask(path).then(() => this.changed(), () => {}); // only to say what it is
    }
  }

  /** Is this still what the state asks for? @param {Slot} slot @param {string} path */
  #wanted(slot, path) {
    const state = this.store.get();
    const spec = state[slot];
    return state.preset && spec && costsPath(state.preset, spec) === path ? { preset: state.preset, spec } : null;
  }

  /** @param {Slot} slot @param {string} path */
  #arrived(slot, path) {
    const wanted = this.#wanted(slot, path);
    if (!wanted) return;
    this.#failure = null;
    const next = priceOf(wanted.preset, wanted.spec);
    if (next && next !== wanted.spec && !this.#given[slot]) this.store.set({ [slot]: next }, "replace");
    this.changed();
  }

  /** @param {Slot} slot @param {string} path @param {unknown} problem */
  #failed(slot, path, problem) {
    if (!this.#wanted(slot, path)) return;
    this.#failure = { slot, path, problem };
    this.changed();
  }
}

/** What of a spec's costs a model brings. */
const PRICED = /** @type {const} */ (["F", "I", "W", "comm", "FB"]);
/** @type {WeakMap<Priced, Pick<Costs, "F" | "I" | "W" | "comm" | "FB">>} an answer's costs as they are applied: lists are always the same ones */
const derived = new WeakMap();

/** The spec with the preset's costs, itself if it has them, null where the answer is not here. @param {Preset} preset @param {Spec} spec @returns {Spec | null} */
function priceOf(preset, spec) {
  /** @type {Priced | undefined} */
  const priced = known(costsPath(preset, spec));
  if (!priced) return null;
  const { F, I, W, comm } = priced.costs;
  const found = derived.get(priced) ?? { F: tidied(F), I: tidied(I), W: tidied(W), comm: tidy(comm), FB: null };
  const w_share = tidy(priced.w_share);
  derived.set(priced, found);
  const same = spec.w_share === w_share && PRICED.every((name) => spec.costs[name] === found[name]);
  return same ? spec : { ...spec, w_share, costs: { ...spec.costs, ...found } };
}

/** @param {Spec} spec @param {Spec} defaults */
export const hasCosts = (spec, defaults) => PRICED.some((name) => spec.costs[name] !== defaults.costs[name]);

/** Fetches the costs that a link leaves to its model, so that the first schedule drawn has them. Never fails: what is
 * wrong is said where the model is chosen. @param {State} state @param {Spec} defaults */
export async function pricesOf({ preset, spec, second }, defaults) {
  const bare = [spec, second].filter((each) => each !== null && !hasCosts(each, defaults));
  if (preset) await Promise.allSettled(bare.map((each) => ask(costsPath(preset, /** @type {Spec} */ (each)))));
}

/** A spec without costs with the last ones, until its own are here. @param {Spec} spec @param {Spec} old @returns {Spec} */
function likeLast(spec, old) {
  const { F, I, W, comm, FB } = old.costs;
  return guess({ ...spec, w_share: old.w_share, costs: { ...spec.costs, F, I, W, comm, FB } }, old);
}

/** The old costs spread over the new devices, for the moment until the answer is here. @param {Spec} spec @param {Spec} old @returns {Spec} */
function guess(spec, old) {
  if (spec.p === old.p && spec.v === old.v) return spec;
  /** @param {number | number[]} cost */
  const share = (cost) => tidy((deviceShare(cost, old.p) * old.p) / spec.p);
  const { F, I, W, comm, FB } = old.costs;
  return { ...spec, costs: { ...spec.costs, F: share(F), I: share(I), W: share(W), comm, FB: FB === null ? null : share(FB) } };
}

/** One number for a list of stages: the mean device's share. @param {number | number[]} cost @param {number} p */
export const deviceShare = (cost, p) => (Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost);
