// The order of a spec: constructed in the page, or asked of the server where it is searched, imported, or not surely
// legal. Orders are kept, bounded by ops, oldest out first.
import { Offline, Refusal, getSchedule } from "../api.ts";
import { constructAside } from "./slow_orders.ts";
import { CONSTRUCTED } from "../../core/families/construct.ts";
import { refusal } from "../../core/families/legal.ts";
import { isConstructed } from "../../core/families/accepts.ts";
import { placedHere } from "../../core/options/apply_options.ts";
import { baseOrder } from "../../core/families/base_order.ts";
import { barriersOf, shapedByOptions } from "../../core/schedule/effective_costs.ts";
import { decode } from "../../core/schedule/wire.ts";
import type { Schedule, Spec, SpecError } from "../../core/schedule/types.ts";

export type Answer = { schedule: Schedule; error: null } | { schedule: null; error: SpecError };

const LIMIT_OPS = 12_000_000;
const LIMIT_ANSWERS = 200;
const REST = 150; // ms until the server validates a spec that the page is not sure of: a drag has many of them
const LONG_MS = 50; // an order that takes longer is constructed in a worker
const ROWS_US = 0.02; // of an op of an order from a table's rows
const SLOTS_US = 0.4; // from slots
const BLOCK_US = 10; // from a block, at the costs

const kept = new Map<string, Answer>();
let keptOps = 0;

function known(key: string) {
  const answer = kept.get(key);
  if (answer) {
    // the youngest is last
    kept.delete(key);
    kept.set(key, answer);
  }
  return answer;
}

function keep(key: string, answer: Answer) {
  if (kept.has(key)) return answer;
  kept.set(key, answer);
  keptOps += answer.schedule?.count ?? 0;
  for (const [oldest, old] of kept) {
    if ((keptOps <= LIMIT_OPS && kept.size <= LIMIT_ANSWERS) || oldest === key) break;
    kept.delete(oldest);
    keptOps -= old.schedule?.count ?? 0;
  }
  return answer;
}

/** An order that came another way than by being asked for. */
export const keepOrder = (key: string, schedule: Schedule) => void keep(key, { schedule, error: null });

/** Whether constructing an order, with what its options place in it, would hold up the page. */
function takesLong(spec: Spec) {
  const { table } = CONSTRUCTED[spec.family];
  const us = table === null ? BLOCK_US : table.rows.length ? ROWS_US : SLOTS_US;
  const placed = shapedByOptions(spec) && !placedHere(spec);
  return placed || 3 * spec.p * spec.m * spec.v * us > 1000 * LONG_MS;
}

/** What the order that the page constructs for a spec depends on. */
function shapeOf(spec: Spec) {
  const { family, p, m, v, group, lifo, forward_only } = spec;
  if (CONSTRUCTED[family].shaped_by_costs || takesLong(spec)) return `#${JSON.stringify(spec)}`;
  const ahead = barriersOf(spec) > 0 ? spec.vocabulary : "";
  return `#${JSON.stringify([family, p, m, v, group, lifo, forward_only, ahead])}`;
}

/** The answer to a spec if it is here, or at once constructed here. query: of its order to the server. */
export function answerHere(spec: Spec, query: string): Answer | undefined {
  if (!isConstructed(spec)) return known(query);
  const error = refusal(spec);
  if (error) return { schedule: null, error };
  const shape = shapeOf(spec);
  return known(shape) ?? (takesLong(spec) ? undefined : keep(shape, { schedule: baseOrder(spec), error: null }));
}

export async function answerTo(spec: Spec, query: string, signal: AbortSignal): Promise<Answer> {
  const here = answerHere(spec, query);
  if (here) return here;
  if (isConstructed(spec)) return keep(shapeOf(spec), { schedule: await constructAside(spec, signal), error: null });
  if (Object.hasOwn(CONSTRUCTED, spec.family)) await rest(signal);
  return keep(query, await load(query, signal));
}

const rest = (signal: AbortSignal) =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, REST);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

async function load(query: string, signal: AbortSignal): Promise<Answer> {
  try {
    return { schedule: decode(await getSchedule(query, signal)), error: null };
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    if (problem.status === 429 || problem.status >= 500) throw new Offline();
    return { schedule: null, error: problem.error };
  }
}
