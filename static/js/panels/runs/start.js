// Starts runs: of the schedule on the screen, or of all that are on it, one after the other on the same workers.
import { Refusal } from "../../data/api.js";
import { tr } from "../../core/i18n/language.js";
import { startRun } from "../../data/runs/client.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Asked} from "../../data/runs/client.js" */
/** @typedef {{spec: Spec, why: string}} Refused  a schedule that was not taken, of several */
/**
 * @typedef {{asked: () => Asked, busy: (starting: boolean) => void, begun: (ids: string[]) => void, failed: (problem:
 *   unknown) => void}} Parts begun: these are in the line, in this order
 */

/** @param {Parts} parts */
export function createStarter({ asked, busy, begun, failed }) {
  let starting = false;
  /** @type {Refused[]} */
  let refused = [];

  /**
   * Of several, one that is not taken does not keep the others from running.
   * @param {Spec} spec
   * @param {boolean} several
   */
  async function put(spec, several) {
    try {
      return (await startRun(spec, asked())).id;
    } catch (problem) {
      if (!several || !(problem instanceof Refusal)) throw problem;
      refused.push({ spec, why: tr(problem.message) });
      return null;
    }
  }

  return {
    /** Those of the last start that were not taken. */
    refused: () => refused,
    /** @param {Spec[]} specs */
    async start(specs) {
      if (starting) return;
      starting = true;
      refused = [];
      busy(true);
      /** @type {string[]} */
      const ids = [];
      try {
        for (const spec of specs) {
          const id = await put(spec, specs.length > 1);
          if (id) ids.push(id);
        }
        if (!ids.length) throw new Error(refused[0].why);
        begun(ids);
      } catch (problem) {
        failed(problem);
      } finally {
        starting = false;
        busy(false);
      }
    },
  };
}
