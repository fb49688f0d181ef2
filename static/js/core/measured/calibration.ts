// Calibration: the plan gets the measured costs of a run.
import { putAt, type Specs } from "../state/schedules.ts";
import type { Spec } from "../schedule/types.ts";

type Share = { of_total: number };
type Total = { makespan: number; bubble?: { global: Share; span: Share } };
/**
 * As the server answers: the schedule that ran at its own costs, and how much longer it is predicted to take than it
 * took, as a share of that.
 */
export type Calibration = { spec: Spec; predicted: Total; measured: Total; error: number };

/** The state with measured costs of a schedule, which then no longer follow from a model. at: which one. */
export const withCosts = (state: Specs, spec: Spec, at: number) => ({ ...putAt(state, at, spec), preset: null });

/**
 * The state with the run's costs in the schedule that was run; one that is not on the screen replaces the first. at:
 * which one was run.
 */
export const calibrated = (state: Specs, { spec }: Calibration, at = 0) => withCosts(state, spec, at);

/** The sign of an error; less than half a per cent counts as equal. */
export const verdict = (error: number): "equal" | "longer" | "shorter" =>
  Math.abs(error) < 0.005 ? "equal" : error > 0 ? "longer" : "shorter";
