// The memory strips: what each rank holds over time, and its maximum in each pixel.
import { firstWhere } from "../first_where.ts";
import { curve, holding } from "../schedule/memory.ts";
import type { Schedule, Spec, Times } from "../schedule/types.ts";

/** Level y[k] holds from t[k] on, 0 before t[0]. */
export type Steps = { t: Float64Array; y: Float64Array };
/** By rank; top is the largest peak. */
type Held = { steps: Steps[]; peaks: Float64Array; top: number };

const cache = new WeakMap<Times, { spec: Spec; held: Held }>();
/** By the starts: a drag times its order again and again in the same arrays, and its curves are the same memory too. */
const rooms = new WeakMap<Float64Array, Steps[]>();

/** What each rank holds over time. */
export function held(schedule: Schedule, times: Times, spec: Spec): Held {
  const found = cache.get(times);
  if (found && found.spec === spec) return found.held;
  const before = rooms.get(times.start) ?? [];
  const steps = Array.from({ length: schedule.p }, (_, r) => curve(schedule, times, r, holding(spec), before[r]));
  rooms.set(times.start, steps);
  const peaks = Float64Array.from(steps, ({ y }) => highest(y));
  const made = { steps, peaks, top: highest(peaks) };
  cache.set(times, { spec, held: made });
  return made;
}

/** The largest of some levels, at least 0. */
function highest(levels: Float64Array) {
  let top = 0;
  for (let k = 0; k < levels.length; k++) if (levels[k] > top) top = levels[k];
  return top;
}

/** The number of steps at or before t. */
const upTo = (at: Float64Array, t: number) => firstWhere(0, at.length, (k) => at[k] > t);

/** The step that holds at time t, -1 before the first. */
export const stepAt = ({ t: at }: Steps, t: number) => upTo(at, t) - 1;

export const levelAt = (steps: Steps, t: number) => steps.y[stepAt(steps, t)] ?? 0;

/**
 * Fills out[0..width) with the highest level within each pixel of [t0, t1). A level that holds for no time counts, as
 * it does in the peak.
 */
export function maxima({ t, y }: Steps, t0: number, t1: number, width: number, out: Float32Array) {
  let k = upTo(t, t0);
  let level = k > 0 ? y[k - 1] : 0;
  let top = level;
  for (let j = k - 1; j >= 0 && t[j] === t0; j--) top = Math.max(top, y[j]); // all of a moment on the left edge
  const scale = width / (t1 - t0);
  let x = 0;
  for (; k < t.length && t[k] < t1; k++) {
    const edge = (t[k] - t0) * scale;
    const at = Math.min(width - 1, edge | 0);
    if (at > x) {
      out[x] = top;
      out.fill(level, x + 1, at);
      x = at;
      top = edge > at ? level : 0;
    }
    level = y[k];
    if (level > top) top = level;
  }
  out[x] = top;
  out.fill(level, x + 1, width);
}

const ROOMY = 64; // px of a row that leave room for a strip over it

/**
 * Whether the strips are shown by default: where memory is what a schedule is about, and where there is room. pitch: of
 * a row, in px; 0 where the room does not count.
 */
export const stripsByDefault = (specs: Spec[], pitch = 0) =>
  pitch >= ROOMY || specs.some((spec) => spec.offload !== "none" || (spec.weights ?? 0) > 0);
