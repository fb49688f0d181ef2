// Weight versions of an asynchronous schedule (PipeDream): which weights each op uses, how late its gradient is, and
// how many versions a rank keeps. The same rule as backend/schedule/order/weight_versions.py.
import { memoized } from "../memoized.ts";
import { KIND_B, KIND_F, kindOf, micros } from "./ops.ts";
import type { Schedule } from "./types.ts";

/** By op, by op (0 for a forward), by op: versions besides the newest once it has ended, and by rank. */
type Versions = { used: Int32Array; late: Int32Array; stashed: Int32Array; held: Int32Array };

/**
 * A forward begins with the newest weights, its backward uses the same ones, and every backward is an update. schedule:
 * one chunk per rank, full backwards.
 */
export const versions = memoized((schedule: Schedule): Versions => {
  const { codes, offsets, chunks, p, n, count } = schedule;
  const made = {
    used: new Int32Array(count),
    late: new Int32Array(count),
    stashed: new Int32Array(count),
    held: new Int32Array(p),
  };
  const { first } = micros(schedule);
  const begun = new Int32Array(n);
  for (let rank = 0; rank < p; rank++) {
    let newest = 0;
    /** version: micro-batches in flight that began with it. */
    const inFlight = new Map<number, number>();
    for (let i = offsets[rank]; i < offsets[rank + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const micro = first[i];
      if (kind === KIND_F) {
        begun[micro] = made.used[i] = newest;
        inFlight.set(newest, (inFlight.get(newest) ?? 0) + 1);
      } else if (kind === KIND_B) {
        const version = (made.used[i] = begun[micro]);
        made.late[i] = newest - version;
        const left = (inFlight.get(version) ?? 1) - 1;
        if (left) inFlight.set(version, left);
        else inFlight.delete(version);
        newest++;
      }
      made.stashed[i] = inFlight.size - (inFlight.has(newest) ? 1 : 0);
      made.held[rank] = Math.max(made.held[rank], made.stashed[i] + 1);
    }
  }
  return made;
});
