// Calibration: the plan gets the measured costs of a run.
import { putAt } from "../state/schedules.js";

/** @import {Spec} from "../schedule/types.js" */
/** @import {Specs} from "../state/schedules.js" */
/** @typedef {{of_total: number}} Share */
/** @typedef {{makespan: number, bubble?: {global: Share, span: Share}}} Total */
/**
 * @typedef {{spec: Spec, predicted: Total, measured: Total, error: number}} Calibration as the server answers: the
 *   schedule that ran at its own costs, and how much longer it is predicted to take than it took, as a share of that
 */

/**
 * The state with measured costs of a schedule, which then no longer follow from a model.
 * @param {Specs} state
 * @param {Spec} spec
 * @param {number} at which one
 */
export const withCosts = (state, spec, at) => ({ ...putAt(state, at, spec), preset: null });

/** The state with the run's costs in the schedule that was run; one that is not on the screen replaces the first.
 * @param {Specs} state @param {Calibration} calibration @param {number} [at] which one was run */
export const calibrated = (state, { spec }, at = 0) => withCosts(state, spec, at);

/**
 * The sign of an error; less than half a per cent counts as equal.
 * @param {number} error
 * @returns {"equal" | "longer" | "shorter"}
 */
export const verdict = (error) => (Math.abs(error) < 0.005 ? "equal" : error > 0 ? "longer" : "shorter");
