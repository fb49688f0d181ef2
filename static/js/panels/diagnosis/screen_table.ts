// The times on the screen as a table of ops, as any tool may write one.
import { LETTERS, KIND_PAIR, chunkOf, globalMicro, kindOf, micros } from "../../core/schedule/ops.ts";
import type { Lane } from "../../data/lanes.ts";

const MOST = 50_000; // ops
const HEADINGS = "rank,stage,kind,micro,start,end";

/** Null where ops have no end yet, run in pairs, or are too many. */
export function tableOf({ schedule, times }: Lane) {
  const { p, chunks, codes, offsets, placement, count } = schedule;
  if (!count || count > MOST) return null;
  const { first } = micros(schedule);
  const lines = [HEADINGS];
  for (let rank = 0; rank < p; rank++) {
    for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      if (kind >= KIND_PAIR || !Number.isFinite(times.end[i])) return null;
      const slot = rank * chunks + chunkOf(codes[i], chunks);
      const micro = globalMicro(schedule, slot, first[i]);
      lines.push([rank, placement.stage[slot], LETTERS[kind], micro, times.start[i], times.end[i]].join(","));
    }
  }
  return lines.join("\n");
}
