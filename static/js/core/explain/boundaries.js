// What crosses the boundaries between stages: messages by boundary and by micro-batch, and where gradients are summed.
// Counted from the placement and the order, never from the family's name.

import { isForwardOnly } from "../schedule/memory.js";

/** @import {Placement, Schedule} from "../schedule/types.js" */
/**
 * @typedef {object} Crossings
 * @property {number} m micro-batches per step
 * @property {number} ways 2, or 1 without backwards
 * @property {number} crossing boundaries that a micro-batch passes between two devices
 * @property {number} turns boundaries between two stages of one device, which take no message
 * @property {number} wraps of the crossing ones, those from the last device to the first
 * @property {number} perMicro messages of a micro-batch
 * @property {number} line messages of a micro-batch with one stage per device
 * @property {[number, number] | null} replicas two devices that hold the same stage
 * @property {number} barriers of each micro-batch around a sharded output layer
 */

/** @param {Schedule} schedule @returns {Crossings} */
export function crossings(schedule) {
  const { placement, p, m, barriers } = schedule;
  const { chunks, next, stream, kind } = placement;
  const ways = isForwardOnly(schedule) ? 1 : 2;
  let [crossing, turns, wraps] = [0, 0, 0];
  for (let slot = 0; slot < p * chunks; slot++) {
    if (stream[slot] !== 0 || next[slot] < 0) continue; // the other direction's stages are the same ones
    const [from, to] = [slot, next[slot]].map((each) => Math.floor(each / chunks));
    if (from === to) turns++;
    else {
      crossing++;
      if (kind === "looped" && chunks > 1 && from === p - 1 && to === 0) wraps++;
    }
  }
  const replicas = placement.streams > 1 && ways === 2 ? twice(placement, p) : null;
  return {
    m,
    ways,
    crossing,
    turns,
    wraps,
    perMicro: ways * crossing,
    line: ways * (p - 1),
    replicas,
    barriers,
  };
}

/** The devices that hold stage 0. @param {Placement} placement @param {number} p @returns {[number, number]} */
function twice({ stage, chunks }, p) {
  const homes = Array.from({ length: p }, (_, rank) => rank).filter((rank) =>
    stage.subarray(rank * chunks, (rank + 1) * chunks).includes(0),
  );
  return [homes[0], homes[homes.length - 1]];
}
