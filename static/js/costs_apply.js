// Keeps the costs of the schedules on the screen those of the preset: computed anew when p, v, the family or the preset
// change. Knows no DOM.
import { Offline, Refusal } from "./api.js";
import { ask, costsPath, known, presetFor } from "./costs_api.js";
import { COSTS, fieldOf } from "./fieldlist.js";

/** @import {SpecError} from "./api.js" */
/** @import {Priced} from "./costs_api.js" */
/** @import {Family} from "./picker.js" */
/** @import {Spec} from "./pure/types.js" */
/** @import {State} from "./pure/url.js" */
/** @import {Preset} from "./pure/url_preset.js" */
/** @import {Store} from "./store.js" */
/** @typedef {"spec" | "second"} Slot */

/** @type {Slot[]} */
const SLOTS = ["spec", "second"];
/** Five digits of a cost; more is no knowledge of a model and makes links long. @param {number} x */
const tidy = (x) => Number(x.toPrecision(5));
/** @param {number | number[]} cost */
const tidied = (cost) => (Array.isArray(cost) ? cost.map(tidy) : tidy(cost));

export class Pricing {
  /** What each schedule's costs were computed from. @type {Record<Slot, string | null>} */
  #applied = { spec: null, second: null };
  /** The last question that failed. @type {{slot: Slot, path: string, problem: unknown} | null} */
  #failure = null;

  /** @param {Store} store @param {Family[]} families @param {() => void} changed an answer is here */
  constructor(store, families, changed) {
    this.store = store;
    this.families = families;
    this.changed = changed;
    const { preset, ...state } = store.get();
    // A link's own costs are what it showed; one that names a model and no costs wants them computed.
    for (const slot of SLOTS) {
      const spec = state[slot];
      if (preset && spec && COSTS.some((name) => fieldOf(spec, name) !== fieldOf(store.defaults, name))) this.#applied[slot] = this.#key(preset, spec);
    }
    store.adaptBy((next, before) => this.#adapt(next, before));
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

  /** @param {Spec} spec */
  #takesPairs = (spec) => this.families.find((family) => family.name === spec.family)?.fields.includes("FB") ?? false;

  /** @param {Preset} preset @param {Spec} spec */
  #key = (preset, spec) => costsPath(preset, spec) + (this.#takesPairs(spec) ? " and pairs" : "");

  /** A change of the state with the costs that it should have; guessed from the last ones where they are not here yet.
   * @param {State} next @param {State} before @returns {State} */
  #adapt(next, before) {
    const { preset } = next;
    if (!preset || (preset === before.preset && next.spec === before.spec && next.second === before.second)) return next;
    const out = { ...next };
    for (const slot of SLOTS) {
      const spec = next[slot];
      if (!spec) { this.#applied[slot] = null; continue; }
      const key = this.#key(preset, spec);
      if (this.#applied[slot] === key) continue;
      const priced = known(costsPath(preset, spec));
      this.#applied[slot] = priced ? key : null;
      const old = before[slot] ?? before.spec;
      out[slot] = priced ? this.#withCosts(spec, priced) : guess(spec, old);
    }
    const layers = SLOTS.some((slot) => out[slot] && presetFor(preset, /** @type {Spec} */ (out[slot])).layers);
    if (preset.layers && !layers) out.preset = { ...preset, layers: null };
    return out;
  }

  /** @param {Spec} spec @param {Priced} priced @returns {Spec} */
  #withCosts(spec, { costs, w_share }) {
    const FB = this.#takesPairs(spec) && costs.FB !== null && costs.FB !== undefined ? tidy(costs.FB) : null;
    return { ...spec, w_share: Number(w_share.toPrecision(4)), costs: { F: tidied(costs.F), I: tidied(costs.I), W: tidied(costs.W), comm: Number(costs.comm.toPrecision(4)), FB } };
  }

  /** Ask for what is missing. */
  sync() {
    const state = this.store.get();
    const { preset } = state;
    if (!preset) {
      this.#applied = { spec: null, second: null };
      return;
    }
    for (const slot of SLOTS) {
      const spec = state[slot];
      if (!spec) continue;
      const path = costsPath(preset, spec);
      if (this.#applied[slot] !== this.#key(preset, spec)) ask(path).then((priced) => this.#arrived(slot, path, priced), (problem) => this.#failed(slot, path, problem));
      else if (slot === "spec" && !known(path)) ask(path).then(() => this.changed(), () => {}); // only to say what it is
    }
  }

  /** Is this still what the state asks for? @param {Slot} slot @param {string} path */
  #wanted(slot, path) {
    const state = this.store.get();
    const spec = state[slot];
    return state.preset && spec && costsPath(state.preset, spec) === path ? { preset: state.preset, spec } : null;
  }

  /** @param {Slot} slot @param {string} path @param {Priced} priced */
  #arrived(slot, path, priced) {
    const wanted = this.#wanted(slot, path);
    if (!wanted) return;
    this.#failure = null;
    const key = this.#key(wanted.preset, wanted.spec);
    if (this.#applied[slot] !== key) {
      this.#applied[slot] = key;
      const next = this.#withCosts(wanted.spec, priced);
      if (JSON.stringify(next) !== JSON.stringify(wanted.spec)) this.store.set({ [slot]: next }, "replace");
    }
    this.changed();
  }

  /** @param {Slot} slot @param {string} path @param {unknown} problem */
  #failed(slot, path, problem) {
    if (!this.#wanted(slot, path)) return;
    this.#failure = { slot, path, problem };
    this.changed();
  }
}

/** The old costs spread over the new devices, for the moment until the answer is here. @param {Spec} spec @param {Spec} old @returns {Spec} */
function guess(spec, old) {
  if (spec.p === old.p && spec.v === old.v) return spec;
  /** @param {number | number[]} cost */
  const share = (cost) => tidy((deviceShare(cost, old.p) * old.p) / spec.p);
  const { F, I, W, comm, FB } = old.costs;
  return { ...spec, costs: { F: share(F), I: share(I), W: share(W), comm, FB: FB === null ? null : share(FB) } };
}

/** One number for a list of stages: the mean device's share. @param {number | number[]} cost @param {number} p */
export const deviceShare = (cost, p) => (Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost);
