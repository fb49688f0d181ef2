// What options place in an order by the costs, added to a base order: S and T first, then copies beside the ops,
// then messages on streams. The same as backend/schedule/families/apply_options.py.

import { barriersOf, meanTiming, shapedByOptions } from "../schedule/effective_costs.ts";
import { simulate } from "../schedule/simulate.ts";
import { withOffload } from "./offload.ts";
import { withMessages } from "./streams.ts";
import { withShards } from "./vocabulary.ts";
import type { Costs, Schedule, Spec, Times } from "../schedule/types.ts";

const MOST_MS = 100; // of a frame that adds them; above that a worker does
const OFFLOAD_US = 0.6; // of an op
const SHARDS_US = 0.005; // of an op and a rank, all of which are looked at for each op

/** Whether a frame has time to place in an order what the options of a spec add by the costs. */
export function placedHere(spec: Spec) {
  const { p, m, v, offload } = spec;
  const us = offload === "none" ? SHARDS_US * p : OFFLOAD_US;
  return shapedByOptions(spec) && 3 * p * m * v * us <= 1000 * MOST_MS;
}

/**
 * The schedule of a spec with everything that its options place by the costs, and the times of its ops; a schedule that
 * lacks nothing as it is.
 */
export function timedWithOptions(
  schedule: Schedule,
  spec: Spec,
  costs: Costs, // the effective ones of the spec
  into?: Times, // its arrays are reused when they are long enough
): { schedule: Schedule; times: Times } {
  const barriers = spec.vocabulary === "interlaced" ? 0 : barriersOf(spec);
  const mean = costs.sized ? meanTiming(spec) : costs;
  const spread = schedule.base && barriers > 0 ? withShards(schedule, mean, barriers) : schedule;
  const made =
    schedule.base && spec.offload !== "none"
      ? withOffload(spread, mean, spec.offload, into)
      : { schedule: spread, times: null };
  const timed = costs.sized ? null : made.times;
  if (spec.streams === "none" || spec.streams === undefined)
    return { schedule: made.schedule, times: timed ?? simulate(made.schedule, costs, into) };
  const sending = withMessages(made.schedule, costs, spec.streams, spec.receives);
  return { schedule: sending, times: simulate(sending, costs, into) };
}
