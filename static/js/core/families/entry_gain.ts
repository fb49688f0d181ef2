// What the order in which micro-batches enter does to the time of a step.
import { isConstructed } from "./accepts.ts";
import { baseOrder } from "./base_order.ts";
import { timedWithOptions } from "../options/apply_options.ts";
import { timing } from "../schedule/effective_costs.ts";
import type { Spec } from "../schedule/types.ts";

const MOST_OPS = 50_000; // of an order that is timed when the reader rests

/** The time of a step by the order of entry; null where the page does not construct the order, or it is large. */
export function stepsByEntry(spec: Spec): { given: number; mountain: number } | null {
  if (!isConstructed(spec) || 3 * spec.p * spec.m * spec.v > MOST_OPS) return null;
  const order = baseOrder(spec);
  const step = (injection: string) => {
    const asked = { ...spec, injection };
    return timedWithOptions(order, asked, timing(asked)).times.makespan;
  };
  return { given: step("given"), mountain: step("mountain") };
}
