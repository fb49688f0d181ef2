// The rank and chunk of each stage.

import type { Placement, PlacementKind } from "./types.ts";

/** The stage and the stream of one chunk of one rank. */
function place(kind: PlacementKind, p: number, rank: number, chunk: number): [number, number] {
  if (kind === "bidirectional") return chunk === 0 ? [rank, 0] : [p - 1 - rank, 1];
  const turned = kind === "v" && chunk % 2 === 1;
  return [chunk * p + (turned ? p - 1 - rank : rank), 0];
}

/** The slots of stages on these ranks. */
function slotsOf(ranks: number[], p: number, chunks: number): number[] {
  const held = new Array<number>(p).fill(0);
  const slots = ranks.map((rank) => rank * chunks + held[rank]++);
  if (!held.every((count) => count >= 1 && count <= chunks)) throw new Error("ranks of stages do not fit p and chunks");
  return slots;
}

/** p: number of ranks; chunks: the most model parts on a rank; ranks: the rank of each stage of a custom placement. */
export function build(kind: PlacementKind, p: number, chunks: number, ranks: number[] = []): Placement {
  if (!["looped", "v", "bidirectional", "custom"].includes(kind)) throw new Error(`unknown placement "${kind}"`);
  if (kind === "bidirectional" && chunks !== 2) throw new Error("a bidirectional placement has 2 chunks a rank");
  const slots = p * chunks;
  const streams = kind === "bidirectional" ? 2 : 1;
  const stages = kind === "custom" ? ranks.length : slots / streams;
  const stage = new Int32Array(slots).fill(-1);
  const stream = new Int8Array(slots);
  const home = new Int32Array(slots); // stream * stages + stage -> slot
  const take = (slot: number, s: number, d: number) => {
    stage[slot] = s;
    stream[slot] = d;
    home[d * stages + s] = slot;
  };
  if (kind === "custom") slotsOf(ranks, p, chunks).forEach((slot, s) => take(slot, s, 0));
  else for (let slot = 0; slot < slots; slot++) take(slot, ...place(kind, p, Math.floor(slot / chunks), slot % chunks));
  const prev = new Int32Array(slots).fill(-1);
  const next = new Int32Array(slots).fill(-1);
  for (let slot = 0; slot < slots; slot++) {
    if (stage[slot] < 0) continue;
    const at = stream[slot] * stages + stage[slot];
    if (stage[slot] > 0) prev[slot] = home[at - 1];
    if (stage[slot] < stages - 1) next[slot] = home[at + 1];
  }
  return { kind, p, chunks, stages, streams, stage, stream, prev, next };
}
