// Imported orders: their family, and how one is put among the schedules on the screen.
import { deviceShare } from "./costs/preset_costs.ts";
import { t } from "../core/i18n/language.ts";
import { IDS, putAt } from "../core/state/schedules.ts";
import { format, type State } from "../core/state/link.ts";
import { overChunks } from "../core/schedule/per_chunk.ts";
import { IMPORTED } from "../core/schedule/spec_tables.ts";
import type { Costs, Family, Spec } from "../core/schedule/types.ts";
import type { Store } from "./store.ts";

const LONGEST_LINK = 7600; // characters; the server reads addresses of up to 8192

/** The family of imported orders; it has a single order. */
export const importedFamily = (): Family => ({
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

/**
 * An imported spec with the settings of a schedule on the screen: its costs, and what else bears on times and memory.
 * costs: instead of those of the other.
 */
function adopted(spec: Spec, base: Spec, costs: Costs | null): Spec {
  // its stages are not these
  const whole = (cost: number | number[]) =>
    Array.isArray(cost) ? Number(deviceShare(cost, base.p).toPrecision(5)) : cost;
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

/** Put an imported spec on the screen. */
export function putImported(
  store: Store,
  spec: Spec,
  at: number | null, // in place of this one; null: as one more
  view: Partial<State["view"]>, // what else changes
  costs: Costs | null = null,
) {
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
