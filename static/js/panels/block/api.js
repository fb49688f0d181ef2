// Asks for building blocks; each answer, or refusal, is kept for as long as the page lives. Knows no DOM.
import { Refusal, getAnswer } from "../../data/api.js";

/** @import {SpecError} from "../../core/schedule/types.js" */
/** @import {Answer} from "../../core/drawing/building_block.js" */

/** @type {Map<string, Answer | {error: SpecError}>} */
const kept = new Map();
/** @type {Map<string, Promise<void>>} */
const underway = new Map();

/** @param {{family: string, p: number}} spec */
export const blockPath = ({ family, p }) => `/api/block?family=${encodeURIComponent(family)}&p=${p}`;

/** What is here already. @param {string} path */
export const known = (path) => kept.get(path);

/** Rejects with Offline only. @param {string} path @returns {Promise<void>} */
export function ask(path) {
  if (kept.has(path)) return Promise.resolve();
  let promise = underway.get(path);
  if (!promise) {
    promise = getAnswer(path)
      .catch(refused)
      .then((answer) => {
        kept.set(path, answer);
      })
      .finally(() => underway.delete(path));
    underway.set(path, promise);
  }
  return promise;
}

/** @param {unknown} problem */
function refused(problem) {
  if (problem instanceof Refusal) return { error: problem.error };
  throw problem;
}
