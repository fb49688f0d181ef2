// The costs that a run had, put into the plan: what becomes of the state, and how near the plan then is to the run.
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
 * A schedule has costs that were measured, which are then no longer those of a model.
 * @param {Specs} state
 * @param {Spec} spec
 * @param {number} at which one
 */
export const withCosts = (state, spec, at) => ({ ...putAt(state, at, spec), preset: null });

/** The schedule that was run gets the run's costs; where it is none on the screen, it takes the first one's place.
 * @param {Specs} state @param {Calibration} calibration @param {number} [at] which one was run */
export const calibrated = (state, { spec }, at = 0) => withCosts(state, spec, at);

/**
 * Sized up: nearer than half a per cent counts as equal.
 * @param {number} error
 * @returns {"equal" | "longer" | "shorter"}
 */
export const verdict = (error) => (Math.abs(error) < 0.005 ? "equal" : error > 0 ? "longer" : "shorter");
