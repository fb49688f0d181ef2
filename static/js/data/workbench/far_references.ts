// Orders to compare a large board with that take too long to be made at once: made once for each board.
import { answerTo } from "../orders/orders.ts";
import { specQuery } from "../../core/state/link.ts";
import { addReference, familySpec, farFamilies } from "../../core/workbench/references.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Board } from "../../core/workbench/position.ts";

/** found: called when a board has another reference; Returns requests what a board lacks. */
export function createFarReferences(defaults: Spec, found: () => void): (board: Board) => void {
  const underway = new Set<string>();

  async function ask(board: Board, family: string) {
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
