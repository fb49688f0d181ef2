// What crosses the boundaries between stages: messages by boundary and by micro-batch, and where gradients are summed.
// Counted from the placement and the order, never from the family's name.

import { isForwardOnly } from "../schedule/memory.ts";
import type { Placement, Schedule } from "../schedule/types.ts";

export type Crossings = {
  m: number; // micro-batches per step
  ways: number; // 2, or 1 without backwards
  crossing: number; // boundaries that a micro-batch passes between two devices
  turns: number; // boundaries between two stages of one device, which take no message
  wraps: number; // of the crossing ones, those from the last device to the first
  perMicro: number; // messages of a micro-batch
  line: number; // messages of a micro-batch with one stage per device
  replicas: [number, number] | null; // two devices that hold the same stage
  barriers: number; // of each micro-batch around a sharded output layer
};

export function crossings(schedule: Schedule): Crossings {
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

/** The devices that hold stage 0. */
function twice({ stage, chunks }: Placement, p: number): [number, number] {
  const homes = Array.from({ length: p }, (_, rank) => rank).filter((rank) =>
    stage.subarray(rank * chunks, (rank + 1) * chunks).includes(0),
  );
  return [homes[0], homes[homes.length - 1]];
}
