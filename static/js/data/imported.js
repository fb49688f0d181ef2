// Imported orders: their family, and how one is put among the schedules on the screen.
import { deviceShare } from "./costs/preset_costs.js";
import { t } from "../core/i18n/language.js";
import { IDS, putAt } from "../core/state/schedules.js";
import { format } from "../core/state/link.js";
import { overChunks } from "../core/schedule/per_chunk.js";
import { IMPORTED } from "../core/schedule/spec_tables.js";

/** @import {Costs, Family, Spec} from "../core/schedule/types.js" */
/** @import {State} from "../core/state/link.js" */
/** @import {Store} from "./store.js" */

const LONGEST_LINK = 7600; // characters; the server reads addresses of up to 8192

/** The family of imported orders; it has a single order. @returns {Family} */
export const importedFamily = () => ({
  name: IMPORTED,
  title: t("Imported order"),
  year: 0,
  source: "",
  used_by: "",
  group: "imported",
  summary: t("An order from elsewhere, stored in the link."),
  backward: "both",
  complexity: "",
  placement: "looped",
  fields: [],
  v: { min: 1, default: 1, max: 64 },
  asynchronous: false,
  shaped_by_costs: false,
  block: null,
  legal: [],
  searched: false,
  vocabulary: [],
  laws: [],
});

/** An imported spec with the settings of a schedule on the screen: its costs, and what else bears on times and memory.
 * @param {Spec} spec @param {Spec} base @param {Costs | null} costs instead of those of the other @returns {Spec} */
function adopted(spec, base, costs) {
  /** @param {number | number[]} cost */
  // its stages are not these
  const whole = (cost) => (Array.isArray(cost) ? Number(deviceShare(cost, base.p).toPrecision(5)) : cost);
  const { F, I, W } = base.costs;
  const theirs = { ...base.costs, F: whole(F), I: whole(I), W: whole(W), FB: null };
  return {
    ...spec,
    recompute: overChunks("recompute", base.recompute, spec.v),
    w_share: base.w_share,
    memory: base.memory,
    costs: costs ?? theirs,
  };
}

/**
 * Put an imported spec on the screen.
 * @param {Store} store
 * @param {Spec} spec
 * @param {number | null} at in place of this one; null: as one more
 * @param {Partial<State["view"]>} view what else changes
 * @param {Costs | null} [costs]
 */
export function putImported(store, spec, at, view, costs = null) {
  const state = store.get();
  const next = adopted(spec, state.spec, costs);
  const placed = at === null ? { others: [...state.others, next] } : putAt(state, at, next);
  const changed = {
    ...state,
    ...placed,
    view: { ...state.view, ...view },
    ...(costs ? { preset: null, origin: undefined } : {}),
  };
  if (changed.others.length >= IDS.length) throw new Error(t("At most four schedules fit on one screen"));
  if (format(changed, store.defaults).length > LONGEST_LINK) {
    throw new Error(
      t("One link cannot hold this many imported orders. Remove one from the screen first, or replace it by this one."),
    );
  }
  store.set(changed, "push");
}
