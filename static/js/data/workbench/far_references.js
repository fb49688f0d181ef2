// Orders to compare a large board with that take too long to be made at once: made once for each board.
import { answerTo } from "../orders/orders.js";
import { specQuery } from "../../core/state/link.js";
import { addReference, familySpec, farFamilies } from "../../core/workbench/references.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Board} from "../../core/workbench/position.js" */

/**
 * @param {Spec} defaults
 * @param {() => void} found  called when a board has another reference
 * @returns {(board: Board) => void} requests what a board lacks
 */
export function createFarReferences(defaults, found) {
  /** @type {Set<string>} */
  const underway = new Set();

  /** @param {Board} board @param {string} family */
  async function ask(board, family) {
    const spec = familySpec(board, family);
    const query = specQuery(spec, defaults);
    if (underway.has(query)) return;
    underway.add(query);
    try {
      const { schedule } = await answerTo(spec, query, new AbortController().signal);
      if (!schedule) return;
      addReference(board, family, schedule);
      found();
    } catch {
      // the server does not answer, where it is not the page that makes it: with the next move it is asked again
    } finally {
      underway.delete(query);
    }
  }
  return (board) => {
    for (const family of farFamilies(board)) void ask(board, family);
  };
}
