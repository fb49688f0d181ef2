// The measured bytes of activations alive on each rank over time. A level is known after each op; as in the planned
// memory, what an op adds counts from its start, and what it frees until its end.
import { held, type Steps } from "../timeline/memory_strips.ts";
import type { Details } from "./run_details.ts";
import type { Schedule, Spec, Times } from "../schedule/types.ts";

/**
 * By rank, in bytes; unit: the bytes that are drawn as high as one of what the plan counts, so that the largest peaks
 * of both are equally high.
 */
type Alive = { steps: Steps[]; peaks: Float64Array; unit: number };

const cache: WeakMap<Times, { details: Details; alive: Alive | null }> = new WeakMap();

/** The activations of each rank; null where they were not measured. */
export function alive(schedule: Schedule, times: Times, spec: Spec, details: Details | null | undefined): Alive | null {
  if (!details) return null;
  const found = cache.get(times);
  if (found && found.details === details) return found.alive;
  const steps = Array.from({ length: schedule.p }, (_, rank) => stepsOf(schedule, times, details.live, rank));
  const peaks = Float64Array.from(steps, ({ y }) => y.reduce((a, b) => Math.max(a, b), 0));
  const top = peaks.reduce((a, b) => Math.max(a, b), 0);
  const made = top > 0 ? { steps, peaks, unit: top / (held(schedule, times, spec).top || 1) } : null;
  cache.set(times, { details, alive: made });
  return made;
}

/** live: by flat op index. */
function stepsOf({ offsets }: Schedule, { start, end }: Times, live: Float64Array, rank: number): Steps {
  const t = [];
  const y = [];
  let level = 0;
  for (let i = offsets[rank]; i < offsets[rank + 1] && end[i] < Infinity; i++) {
    if (Number.isNaN(live[i]) || live[i] === level) continue;
    t.push(live[i] > level ? start[i] : end[i]);
    y.push((level = live[i]));
  }
  return { t: Float64Array.from(t), y: Float64Array.from(y) };
}
