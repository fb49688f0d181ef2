// What went wrong with a run before it was one, in words, and what the server would take instead.
import { Offline, Refusal } from "../../data/api.js";
import { t, tr } from "../../core/i18n/language.js";

/**
 * @typedef {{message: string, hint: string, instead: {[option: string]: unknown} | null}} Told instead: the nearest
 *   legal value of an option
 */

/** @param {unknown} problem @param {object} options of a run, by name @returns {Told} */
export function toldOf(problem, options) {
  if (problem instanceof Offline) {
    return {
      message: t("The server does not answer, so the run cannot be shown."),
      hint: t("The plan above needs no server; try again in a moment."),
      instead: null,
    };
  }
  if (problem instanceof Refusal && problem.status === 404) {
    return {
      message: t("There is no run of that name here."),
      hint: t("Runs are kept for a while; an old link may outlive its run."),
      instead: null,
    };
  }
  const message = problem instanceof Error ? tr(problem.message) : String(problem);
  if (!(problem instanceof Refusal) || problem.error.nearest === undefined || !(problem.error.field in options))
    return { message, hint: "", instead: null };
  return { message, hint: "", instead: { [problem.error.field]: problem.error.nearest } };
}
