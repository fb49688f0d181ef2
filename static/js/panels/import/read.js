// Files and pasted texts to import: unzipped, recognized as orders or traces, and sent to the server.
import { postJson } from "../../data/api.js";
import { t } from "../../core/i18n/language.js";
import { looksLikeTrace, slim } from "../../core/measured/trace_events.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @typedef {{name: string, text: string}} Given  a file, or what was pasted */
/** @typedef {{id: string, spec: Spec, notes: string[]}} ImportedRun */

const LARGEST = 512 * 2 ** 20; // bytes of a file; a browser would not take its text

/** @param {File} file @returns {Promise<Given>} */
export async function readFile(file) {
  if (file.size > LARGEST) throw new Error(t("{name} is larger than this page can read.", { name: file.name }));
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  try {
    const text = packed
      ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text()
      : await file.text();
    return { name: file.name, text };
  } catch {
    throw new Error(t("{name} cannot be read.", { name: file.name }));
  }
}

/** Whether all of it is traces. @param {Given[]} given */
export const areTraces = (given) => given.length > 0 && given.every(({ text }) => looksLikeTrace(text));

/** @param {Given[]} given one file @returns {Promise<Spec>} */
export async function askOrder(given) {
  if (given.length > 1) throw new Error(t("torch's CSV is one file for all ranks; traces may be one file for each."));
  return (await postJson("/api/orders", { csv: given[0].text })).spec;
}

/** @param {Given[]} given one for all ranks, or one for each @returns {Promise<ImportedRun>} */
export async function askRun(given) {
  const traces = given.map(({ name, text }) => {
    try {
      return slim(JSON.parse(text));
    } catch (problem) {
      throw new Error(
        t("{name} is not JSON: {problem}", {
          name,
          problem: problem instanceof Error ? problem.message : String(problem),
        }),
        { cause: problem },
      );
    }
  });
  return postJson("/api/runs/import", { traces });
}
