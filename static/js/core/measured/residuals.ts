// Residuals of a measured run, op by op: how much later than planned an op ended, and how much longer than planned it
// took once its inputs had arrived.

import { sources } from "../schedule/dependencies.ts";
import { rankOf } from "../schedule/ops.ts";
import type { Costs, Schedule, Times } from "../schedule/types.ts";

/** by: positive is late. */
type Residual = { i: number; by: number };

const STEPS = 3; // of the colours, each way

/** Whether two orders have the same ops in the same places. */
export function sameOrder(a: Schedule, b: Schedule) {
  if (a === b) return true;
  const alike =
    a.p === b.p &&
    a.m === b.m &&
    a.chunks === b.chunks &&
    a.count === b.count &&
    a.barriers === b.barriers &&
    equal(a.placement.stage, b.placement.stage);
  return (
    alike &&
    equal(a.offsets, b.offsets) &&
    equal(a.codes, b.codes) &&
    a.micro.length === b.micro.length &&
    a.micro.every((row, at) => equal(row, b.micro[at]))
  );
}

function equal(a: ArrayLike<number>, b: ArrayLike<number>) {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** How much later than planned an op ended; NaN while it has not. */
export const residual = (times: Times, plan: Times, i: number) =>
  times.end[i] === Infinity ? NaN : times.end[i] - plan.end[i];

/** When the last input of an op had arrived: the rank's op before it, values from others. */
function ready(schedule: Schedule, times: Times, costs: Costs, i: number) {
  let last = schedule.offsets[rankOf(schedule, i)] === i ? 0 : times.end[i - 1];
  for (const link of sources(schedule, i)) last = Math.max(last, times.end[link.i] + (link.hops ? costs.comm : 0));
  return last;
}

/** How much longer than planned an op took once its inputs had arrived. */
export const lost = (schedule: Schedule, times: Times, plan: Times, costs: Costs, i: number) =>
  times.end[i] - ready(schedule, times, costs, i) - (plan.end[i] - ready(schedule, plan, costs, i));

/** The ops with the largest values of `of`, early or late, the largest first. count: of ops. */
export function largest(count: number, of: (i: number) => number, most: number): Residual[] {
  const found: Residual[] = [];
  for (let i = 0; i < count; i++) {
    const by = of(i);
    if (!Number.isFinite(by) || (found.length === most && Math.abs(by) <= Math.abs(found[most - 1].by))) continue;
    const at = found.findIndex((each) => Math.abs(each.by) < Math.abs(by));
    found.splice(at < 0 ? found.length : at, 0, { i, by });
    if (found.length > most) found.pop();
  }
  return found;
}

/** The end of a scale that holds x, a round number not far above. */
export function roundUp(x: number) {
  if (!(x > 0) || !Number.isFinite(x)) return 0;
  const power = 10 ** Math.floor(Math.log10(x));
  return Number(
    (
      [1, 1.5, 2, 3, 4, 5, 6, 8].map((digit) => digit * power).find((end) => end >= x * (1 - 1e-9)) ?? 10 * power
    ).toPrecision(2),
  );
}

/** Which step of the scale a residual has: 0 near none, then up to 3 late or -3 early. full: end of the scale. */
export const stepOf = (by: number, full: number) =>
  full > 0 ? Math.max(-STEPS, Math.min(STEPS, Math.round((STEPS * by) / full))) : 0;
