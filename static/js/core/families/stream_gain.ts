// What messages on streams cost: the step of a spec, without streams, and with receives that block nothing.
import { isConstructed } from "./accepts.ts";
import { baseOrder } from "./base_order.ts";
import { timedWithOptions } from "../options/apply_options.ts";
import { timing } from "../schedule/effective_costs.ts";
import type { Spec } from "../schedule/types.ts";

const MOST_OPS = 50_000; // of an order that is timed when the reader rests

/** The times of a step; null where the page does not construct the order, or it is large. */
export function stepsByReceives(spec: Spec): { alone: number; now: number; placed: number } | null {
  const alone = { ...spec, streams: "none", receives: "torch", costs: { ...spec.costs, wire: 0 } };
  if (!isConstructed(alone) || 3 * spec.p * spec.m * spec.v > MOST_OPS) return null;
  const order = baseOrder(alone);
  const step = (asked: Spec) => timedWithOptions(order, asked, timing(asked)).times.makespan;
  try {
    return { alone: step(alone), now: step(spec), placed: step({ ...spec, receives: "placed" }) };
  } catch {
    return null; // receives that are held back may deadlock
  }
}
