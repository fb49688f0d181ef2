// The rank and chunk of each stage.

import type { Placement, PlacementKind } from "./types.ts";

/** The stage and the stream of one chunk of one rank. */
function place(kind: PlacementKind, p: number, rank: number, chunk: number): [number, number] {
  if (kind === "bidirectional") return chunk === 0 ? [rank, 0] : [p - 1 - rank, 1];
  const turned = kind === "v" && chunk % 2 === 1;
  return [chunk * p + (turned ? p - 1 - rank : rank), 0];
}

/** p: number of ranks; chunks: model parts on each rank. */
export function build(kind: PlacementKind, p: number, chunks: number): Placement {
  if (kind !== "looped" && kind !== "v" && kind !== "bidirectional") throw new Error(`unknown placement "${kind}"`);
  if (kind === "bidirectional" && chunks !== 2) throw new Error("a bidirectional placement has 2 chunks a rank");
  const slots = p * chunks;
  const streams = kind === "bidirectional" ? 2 : 1;
  const stages = slots / streams;
  const stage = new Int32Array(slots);
  const stream = new Int8Array(slots);
  const home = new Int32Array(slots); // stream * stages + stage -> slot
  for (let slot = 0; slot < slots; slot++) {
    const [s, d] = place(kind, p, Math.floor(slot / chunks), slot % chunks);
    stage[slot] = s;
    stream[slot] = d;
    home[d * stages + s] = slot;
  }
  const prev = new Int32Array(slots).fill(-1);
  const next = new Int32Array(slots).fill(-1);
  for (let slot = 0; slot < slots; slot++) {
    const at = stream[slot] * stages + stage[slot];
    if (stage[slot] > 0) prev[slot] = home[at - 1];
    if (stage[slot] < stages - 1) next[slot] = home[at + 1];
  }
  return { kind, p, chunks, stages, streams, stage, stream, prev, next };
}
