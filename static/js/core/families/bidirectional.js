// Chimera: a slot for every op of two directions. DualPipe and DualPipeV: eight steps, in which forwards and backwards
// of two directions overlap. The same rows as backend/schedule/families/bidirectional.
import { eachRank, phases } from "./rows.js";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W } from "../schedule/ops.js";

/** @import {Spec} from "../schedule/types.js" */
/** @import {Row} from "./rows.js" */

const CHUNKS = 2;
const [F, I, W, B, FB] = [KIND_F, KIND_I, KIND_W, KIND_B, KIND_PAIR].map((kind) => kind * CHUNKS); // codes of chunk 0

/** Chimera: basic units of p micro-batches one after the other; no two ops of a rank have the same slot.
 * @param {Spec} spec @returns {Row[]} */
export function chimera({ p, m }) {
  const enters = Array.from({ length: m / 2 }, (_, k) => 2 * p * Math.floor(k / (p / 2)) + 2 * (k % (p / 2)));
  return eachRank(p, (d) => {
    const ops = enters.flatMap((enter) => [
      [enter + d, F],
      [enter + p - 1 - d, F + 1],
      [enter + 2 * p - 1 - d, B],
      [enter + p + d, B + 1],
    ]);
    return Uint8Array.from(ops.sort(([one], [other]) => one - other).map(([, code]) => code));
  });
}

/**
 * One rank's row.
 * @param {number} half ranks from one end to the turn
 * @param {number} h the rank's distance from its own end
 * @param {number} m micro-batches of each direction
 * @param {number} near the chunk of direction 0
 * @param {boolean} unpairedStart whether the very first pair does not overlap: on the middle rank
 * @returns {Row}
 */
function eightSteps(half, h, m, near, unpairedStart) {
  const far = 1 - near;
  const [f0, f1, i0, i1, b0, b1] = [F + near, F + far, I + near, I + far, B + near, B + far];
  const w = W; // its chunk follows from the first-in-first-out queue of weight gradients: see popWeights
  const [f0b1, f1b0] = [FB + near * CHUNKS + far, FB + far * CHUNKS + near];
  const rest = half - h - 1;
  const main = m - 2 * half + h + 1;
  const split = Math.floor((h + 1) / 2); // the pass of step 6 in which the backward starts to be split
  const row = phases(
    [2 * rest, [f0]], // 1: nF0
    [h + 1, [f0, f1]], // 2: nF0F1
    [rest, [i1, w, f1]], // 3: nB1W1F1, B split
    [1, unpairedStart ? [f0, b1, f1b0] : []], // 4: nF0B1F1B0, overlapped; the very first pair of the middle rank is not
    [unpairedStart ? main - 1 : main, [f0b1, f1b0]],
    [rest, [b1, f1b0]], // 5: nB1F1B0
    [split, [b1, b0]], // 6: nB1B0, in the second half of it B split
    [1, h % 2 ? [] : [b1, i0]],
    [h % 2 ? h + 1 - split : h - split, [i1, i0]],
    [rest, [w, i0]], // 7: nWB0
    [h + 1, [w]], // 8: nW
  );
  return popWeights(row);
}

/** Each W takes the oldest input gradient whose weight gradient is still to come. @param {Row} row */
function popWeights(row) {
  const inputs = row.filter((code) => code >= I && code < I + CHUNKS);
  let next = 0;
  return row.map((code) => (code >= W && code < W + CHUNKS ? inputs[next++] - I + W : code));
}

/** DualPipe; ranks of the second half mirror the first: their near direction is stream 1.
 * @param {Spec} spec @returns {Row[]} */
export function dualPipe({ p, m }) {
  const half = p / 2;
  return eachRank(p, (r) => {
    const h = Math.min(r, p - 1 - r);
    return eightSteps(half, h, m / 2, r >= half ? 1 : 0, h === half - 1);
  });
}

/** DualPipeV: the eight steps of DualPipe with H = p, h = r and m micro-batches in each chunk.
 * @param {Spec} spec @returns {Row[]} */
export const dualPipeV = ({ p, m }) => eachRank(p, (r) => eightSteps(p, r, m, 0, r === p - 1));
