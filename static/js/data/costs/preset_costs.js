// The costs of the preset as derived state: filled in when p, v, the family or the preset change, left out of links.
import { costsPath, evenly, presetFor } from "./api.js";
import { abridged, changedByHand, hasCosts, priceOf, tidy, unabridged, withFrom } from "./derive.js";
import { mapSpecs, specAt, specsOf } from "../../core/state/schedules.js";

/** @import {Costs, Spec} from "../../core/schedule/types.js" */
/** @import {State} from "../../core/state/link.js" */
/** @import {Preset} from "../../core/state/link_preset.js" */
/** @typedef {number} Slot  0 is the first schedule, others[0] is 1 */

/** The derivations of a store whose costs come from a preset. */
export class PresetCosts {
  /**
   * Costs that a link names beside the preset: they are kept until p, v, the family or the preset change, so that an
   * old link shows the times that it showed.
   * @type {({path: string, costs: Costs} | null)[]}
   */
  #given = [];

  /** @param {Spec} defaults */
  constructor(defaults) {
    this.defaults = defaults;
  }

  /** Whether a schedule has the costs of its link. @param {Slot} slot */
  fromLink(slot) {
    return Boolean(this.#given[slot]);
  }

  /**
   * A changed state with the costs of its preset; estimated from the last ones until the answer is here.
   * @param {State} next @param {State} before @returns {State}
   */
  change = (next, before) => {
    const { preset } = next;
    if (preset === before.preset && next.spec === before.spec && next.others === before.others) return next;
    if (!preset) return changedByHand(next, before.preset ?? before.origin);
    this.#given.length = Math.min(this.#given.length, 1 + next.others.length);
    const specs = mapSpecs(next, (spec, slot) => {
      if (this.#keeps(slot, preset, spec)) return spec;
      this.#given[slot] = null;
      return priceOf(preset, spec) ?? estimate(spec, specAt(before, slot) ?? before.spec);
    });
    const layered = specsOf(specs).some((spec) => presetFor(preset, spec).layers);
    return { ...next, ...specs, origin: undefined, preset: layered ? preset : evenly(preset) };
  };

  /**
   * The state of a link: costs that it names are what it showed; where it names a model and no costs, the model's.
   * @param {State} next @param {State} before @returns {State}
   */
  restore = (next, before) => {
    const { preset, origin } = next;
    this.#given = [];
    const specs = mapSpecs(next, (spec, slot) => {
      if (origin) return unabridged(origin, spec, this.defaults);
      if (!preset) return spec;
      if (!hasCosts(spec, this.defaults))
        return priceOf(preset, spec) ?? likeLast(spec, specAt(before, slot) ?? before.spec);
      this.#given[slot] = { path: costsPath(preset, spec), costs: spec.costs };
      return spec;
    });
    return { ...next, ...specs };
  };

  /** The state without costs that follow from the preset: links stay short. @param {State} state @returns {State} */
  abridge = (state) => {
    const { preset, origin } = state;
    const { defaults } = this;
    if (preset) {
      if (this.#given.some((given) => given)) return state;
      return { ...state, ...mapSpecs(state, (spec) => withFrom(defaults, spec)) };
    }
    if (!origin) return state;
    const short = specsOf(state).map((spec) => abridged(origin, spec, defaults));
    if (short.includes(null)) return { ...state, origin: undefined };
    return { ...state, ...mapSpecs(state, (spec, slot) => short[slot] ?? spec) };
  };

  /**
   * Whether a link's own costs still belong to this spec.
   * @param {Slot} slot @param {Preset} preset @param {Spec} spec
   */
  #keeps(slot, preset, spec) {
    const given = this.#given[slot];
    return Boolean(given) && given !== null && given.costs === spec.costs && given.path === costsPath(preset, spec);
  }
}

/**
 * A spec without costs with those of another, until its own are here.
 * @param {Spec} spec
 * @param {Spec} old
 * @returns {Spec}
 */
function likeLast(spec, old) {
  const { F, I, W, comm, FB } = old.costs;
  return estimate({ ...spec, w_share: old.w_share, costs: { ...spec.costs, F, I, W, comm, FB } }, old);
}

/**
 * The old costs spread over the new devices, until the answer is here.
 * @param {Spec} spec
 * @param {Spec} old
 * @returns {Spec}
 */
function estimate(spec, old) {
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
