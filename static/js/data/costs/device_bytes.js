// The memory of the fullest device under the schedule on the screen, and the memory of its machine. Knows no DOM.
import { peakMemory } from "../../core/schedule/memory.js";

/** @import {Priced} from "./api.js" */
/** @import {Plan} from "../plan.js" */
/**
 * @typedef {{rank: number, held: number, parts: [string, number][], total: number, limit: number, fits: boolean}}
 *   Fullest held: micro-batches' activations at the peak
 */

const STATES = ["weights", "gradients", "optimizer"];
const INFERENCE = ["weights"];

/**
 * null where the schedule is not that of the costs (yet).
 * @param {Priced | undefined} priced
 * @param {Plan} plan
 * @returns {Fullest | null}
 */
export function fullest(priced, { schedule, shown, times }) {
  if (!priced || !schedule || !shown || priced.bytes.activations.length !== schedule.p) return null;
  const { bytes } = priced;
  const peaks = peakMemory(schedule, times, { wShare: shown.w_share, v: schedule.v, kept: 1, weights: 0 });
  const both = schedule.placement.kind === "bidirectional"; // a device also has the stage of the other direction
  /** @type {Fullest | null} */
  let worst = null;
  for (let rank = 0; rank < schedule.p; rank++) {
    /** @param {string} name @returns {[string, number]} */
    const state = (name) => [name, bytes[name][rank] + (both ? bytes[name][schedule.p - 1 - rank] : 0)];
    /** @type {[string, number][]} */
    const parts = [
      ...(shown.forward_only ? INFERENCE : STATES).map(state),
      ["activations", bytes.activations[rank] * peaks[rank]],
    ];
    const total = parts.reduce((sum, [, size]) => sum + size, 0);
    if (!worst || total > worst.total)
      worst = { rank, held: peaks[rank], parts, total, limit: bytes.limit, fits: total <= bytes.limit };
  }
  return worst;
}
