// The lines that hatch each kind of op, as SVG paths in a square tile: for the canvas and for pictures alike. Forward
// and the overlapped pair, whose diagonal tells enough, have none.

import { KIND_B, KIND_I, KIND_S, KIND_T, KIND_W } from "../schedule/ops.ts";

export const TILE = 7; // px

/** By kind. */
export const HATCHES: Record<number, string> = {
  [KIND_I]: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6", // rising
  [KIND_W]: "M-1 -1L8 8M-1 6L1 8M6 -1L8 1", // falling
  [KIND_B]: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6M-1 -1L8 8M-1 6L1 8M6 -1L8 1", // both, as B = I + W
  [KIND_S]: "M0 3.5H7", // level
  [KIND_T]: "M3.5 0V7", // upright
};
