// The costs of the preset as derived state: filled in when p, v, the family or the preset change, left out of links.
import { costsPath, evenly, presetFor } from "./api.ts";
import { abridged, changedByHand, hasCosts, priceOf, tidy, unabridged, withFrom } from "./derive.ts";
import { mapSpecs, specAt, specsOf } from "../../core/state/schedules.ts";
import type { Costs, Spec } from "../../core/schedule/types.ts";
import type { State } from "../../core/state/link.ts";
import type { Preset } from "../../core/state/link_preset.ts";

/** 0 is the first schedule, others[0] is 1. */
export type Slot = number;

/** The derivations of a store whose costs come from a preset. */
export class PresetCosts {
  defaults: Spec;

  /**
   * Costs that a link names beside the preset: they are kept until p, v, the family or the preset change, so that an
   * old link shows the times that it showed.
   */
  #given: ({ path: string; costs: Costs } | null)[] = [];

  constructor(defaults: Spec) {
    this.defaults = defaults;
  }

  /** Whether a schedule has the costs of its link. */
  fromLink(slot: Slot) {
    return Boolean(this.#given[slot]);
  }

  /** A changed state with the costs of its preset; estimated from the last ones until the answer is here. */
  change = (next: State, before: State): State => {
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

  /** The state of a link: costs that it names are what it showed; where it names a model and no costs, the model's. */
  restore = (next: State, before: State): State => {
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

  /** The state without costs that follow from the preset: links stay short. */
  abridge = (state: State): State => {
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

  /** Whether a link's own costs still belong to this spec. */
  #keeps(slot: Slot, preset: Preset, spec: Spec) {
    const given = this.#given[slot];
    return Boolean(given) && given !== null && given.costs === spec.costs && given.path === costsPath(preset, spec);
  }
}

/** A spec without costs with those of another, until its own are here. */
function likeLast(spec: Spec, old: Spec): Spec {
  const { F, I, W, comm, FB } = old.costs;
  return estimate({ ...spec, w_share: old.w_share, costs: { ...spec.costs, F, I, W, comm, FB } }, old);
}

/** The old costs spread over the new devices, until the answer is here. */
function estimate(spec: Spec, old: Spec): Spec {
  if (spec.p === old.p && spec.v === old.v) return spec;
  const share = (cost: number | number[]) => tidy((deviceShare(cost, old.p) * old.p) / spec.p);
  const { F, I, W, comm, FB } = old.costs;
  return {
    ...spec,
    costs: { ...spec.costs, F: share(F), I: share(I), W: share(W), comm, FB: FB === null ? null : share(FB) },
  };
}

/** One number for a list of stages: the mean device's share. */
export const deviceShare = (cost: number | number[], p: number) =>
  Array.isArray(cost) ? cost.reduce((sum, x) => sum + x, 0) / p : cost;
