// What the order in which micro-batches enter does to the time of a step, and what replicas lose that wait.
import { isConstructed } from "./accepts.ts";
import { baseOrder } from "./base_order.ts";
import { timedWithOptions } from "../options/apply_options.ts";
import { timing } from "../schedule/effective_costs.ts";
import { dealt } from "../schedule/sizes.ts";
import type { Spec } from "../schedule/types.ts";

const MOST_REPLICA_OPS = 500_000; // of all replicas together
const MOST_OPS = 50_000; // of an order that is timed when the reader rests

/**
 * The time of a step by the order of entry, also by the one that the spec lists, if it does; null where the page does
 * not construct the order, or it is large.
 */
export function stepsByEntry(spec: Spec): { given: number; mountain: number; listed: number | null } | null {
  if (!isConstructed(spec) || 3 * spec.p * spec.m * spec.v > MOST_OPS) return null;
  const order = baseOrder(spec);
  const step = (injection: Spec["injection"]) => {
    const asked = { ...spec, injection };
    return timedWithOptions(order, asked, timing(asked)).times.makespan;
  };
  const { injection } = spec;
  return {
    given: step("given"),
    mountain: step("mountain"),
    listed: Array.isArray(injection) ? step(injection) : null,
  };
}

/**
 * When each replica ends, and the step if the longest micro-batches were dealt first and entered as a mountain; null
 * where there is one, or as above.
 */
export function replicaEnds(spec: Spec): { ends: number[]; dealt: number } | null {
  const count = spec.replicas * spec.p * spec.m * spec.v;
  if (spec.replicas === 1 || !isConstructed(spec) || 3 * count > MOST_REPLICA_OPS) return null;
  const order = baseOrder(spec);
  const ends = (asked: Spec) =>
    (dealt(asked) ?? []).map((_, replica) => {
      const mine = { ...asked, replica };
      return timedWithOptions(order, mine, timing(mine)).times.makespan;
    });
  return { ends: ends(spec), dealt: Math.max(...ends({ ...spec, deal: "longest", injection: "mountain" })) };
}
