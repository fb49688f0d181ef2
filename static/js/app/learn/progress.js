// How far a reader has come, kept in this browser: the steps that were reached, the last one, and what was answered.
import { recall, remember } from "../../ui/remembered.js";

/** @import {Answered} from "./questions.js" */
/** @typedef {{at: string, seen: string[], answers: Record<string, Answered>}} Progress */

/** @param {string} slug */
const nameOf = (slug) => `lesson.${slug}`;

/** What is kept of a lesson; what another version of this page wrote may lack parts. @param {string} slug
 * @returns {Progress} */
export function progressOf(slug) {
  let kept;
  try {
    kept = JSON.parse(recall(nameOf(slug)) ?? "{}");
  } catch {
    kept = {};
  }
  const seen = Array.isArray(kept?.seen)
    ? kept.seen.filter((/** @type {unknown} */ each) => typeof each === "string")
    : [];
  const answers = kept?.answers && typeof kept.answers === "object" ? kept.answers : {};
  return { at: typeof kept?.at === "string" ? kept.at : "", seen, answers };
}

/** @param {string} slug */
export function createProgress(slug) {
  const progress = progressOf(slug);
  const keep = () => remember(nameOf(slug), JSON.stringify(progress));
  return {
    /** @param {string} anchor */
    reach(anchor) {
      progress.at = anchor;
      if (!progress.seen.includes(anchor)) progress.seen.push(anchor);
      keep();
    },
    /** @param {number} number @param {Answered} answered */
    keep(number, answered) {
      progress.answers[number] = answered;
      keep();
    },
    /** @param {number} number @returns {Answered | null} */
    kept: (number) => (typeof progress.answers[number]?.given === "string" ? progress.answers[number] : null),
  };
}
