// The edge of an op that is nearest to a time.
import { firstEndingAfter } from "./layout.ts";
import type { Schedule, Times } from "../schedule/types.ts";
import type { RankRange } from "./area.ts";

/** A lane. */
type Timed = { id: string; schedule: Schedule; times: Times };
type Edge = { t: number; lane: string; rank: number };

/**
 * The start or end of an op nearest to t within tolerance; of several equally near, the first lane's first rank's.
 * only: these ranks; else all.
 */
export function nearestEdge(lanes: Timed[], t: number, tolerance: number, only?: RankRange[]): Edge | null {
  let best: Edge | null = null;
  let least = tolerance;
  for (const { id, schedule, times } of lanes) {
    const part = only?.find(({ lane }) => lane === id);
    if (only && !part) continue;
    const stop = part ? Math.min(part.last, schedule.p - 1) : schedule.p - 1;
    for (let rank = part ? part.first : 0; rank <= stop; rank++) {
      const i = firstEndingAfter(schedule, times, rank, t);
      for (const edge of edgesAround(schedule, times, rank, i)) {
        const away = Math.abs(edge - t);
        if (away < least || (away === least && !best)) {
          least = away;
          best = { t: edge, lane: id, rank };
        }
      }
    }
  }
  return best;
}

/** The edges that may be nearest to a time, where i is the first op that ends after it. */
function edgesAround({ offsets }: Schedule, { start, end }: Times, rank: number, i: number) {
  const out = [];
  if (i > offsets[rank]) out.push(end[i - 1]);
  if (i < offsets[rank + 1] && start[i] < Infinity) out.push(start[i], end[i]);
  return out;
}
