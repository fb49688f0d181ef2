// Schedules of several pages as one query of the main page, where they stand below each other on one axis as A to D.
import { PresetCosts } from "../costs/preset_costs.ts";
import { explicit } from "../../core/state/first_visit.ts";
import { format, parse } from "../../core/state/link.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Preset } from "../../core/state/link_preset.ts";

type Taken = { spec: Spec; preset: Preset | null };

/** taken: one to four; natural: v of each family where a link names none. */
export function snapshotQuery(taken: Taken[], defaults: Spec, natural: Record<string, number>): string {
  const [{ spec, preset }, ...others] = taken;
  const alike = others.every((other) => JSON.stringify(other.preset) === JSON.stringify(preset));
  const { state } = parse("", defaults, natural);
  const whole = { ...state, spec, others: others.map((each) => each.spec), preset: alike ? preset : null };
  const short = new PresetCosts(defaults).abridge(whole); // costs follow from a model that all have
  return explicit(format(short, defaults, natural), defaults.family);
}
