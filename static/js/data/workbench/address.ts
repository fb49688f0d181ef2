// The workbench's address: the query of an imported order, whole or not, which the main page reads as well, and keys of
// its own: free (free mode), ghost (the order that is shown faintly), task.
import { answerTo } from "../orders/orders.ts";
import { tr, t } from "../../core/i18n/language.ts";
import { customStages, shapedByOptions } from "../../core/schedule/effective_costs.ts";
import { entering } from "../../core/schedule/sizes.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import { format, specQuery, type ViewState } from "../../core/state/link.ts";
import { fromText, isSize, toText } from "../../core/workbench/order_text.ts";
import { createBoard, emptyPosition, fromSchedule, type Position } from "../../core/workbench/position.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Store } from "../store.ts";

export type Own = { free: boolean; ghost: string; task: string };
/** problem: why it is not what the link asked for, or "". */
type Opened = { position: Position; problem: string };

const OWN = ["free", "ghost", "task"];
const NAME = /^[a-z0-9][a-z0-9-]{0,59}$/;
/** The board that is shown where nothing asks for another. */
const PLAIN = { p: 4, m: 8, v: 1 };

/** Returns query: what the other pages read too. */
export function splitQuery(search: string): { query: string; own: Own } {
  const all = new URLSearchParams(search);
  const named = (key: string) => (NAME.test(all.get(key) ?? "") ? (all.get(key) as string) : "");
  const own = { free: all.get("free") === "1", ghost: named("ghost"), task: named("task") };
  for (const key of OWN) all.delete(key);
  const query = all.toString().replaceAll("%2C", ",");
  return { query: query ? `?${query}` : "", own };
}

/** The address of a position. */
export function addressOf(store: Store, position: Position, own: Own) {
  const query = queryOf(store, position, ["theme", "colours", "hatch", "lang", "mem", "run", "crit"]);
  const more = [
    ...(own.free ? ["free=1"] : []),
    ...(own.ghost ? [`ghost=${own.ghost}`] : []),
    ...(own.task ? [`task=${own.task}`] : []),
  ];
  return more.length ? `${query}${query ? "&" : "?"}${more.join("&")}` : query;
}

/** The query of a position's order, as the main page reads it. keys: of the view that it keeps. */
export function queryOf(store: Store, position: Position, keys: (keyof ViewState)[]) {
  const { view } = store.get();
  const entries = Object.entries(view).map(([key, value]) => [key, keys.some((each) => each === key) ? value : null]);
  const kept = Object.fromEntries(entries) as ViewState;
  return format({ spec: orderSpec(position), others: [], preset: null, view: kept }, store.defaults, {});
}

/** The position's order as the spec of an imported order. */
export const orderSpec = (position: Position): Spec => ({
  ...position.board.spec,
  family: IMPORTED,
  order: toText(position),
});

/**
 * What a spec of an order needs: costs, limit, what W keeps, recomputation, and the sizes of micro-batches in the order
 * in which they enter. Where these differ a board has no limit.
 */
function bare(spec: Spec, defaults: Spec): Spec {
  const { p, m, v, w_share, recompute, fixed } = spec;
  const recompute_at = spec.recompute_at === "bubble" ? "ahead" : spec.recompute_at; // a board has no whole order
  const sizes = entering({ ...spec, recompute_at, spared: 0 });
  const costs = { ...spec.costs, S: null, T: null, O: null, wire: 0 };
  const memory = sizes ? null : spec.memory;
  return {
    ...defaults,
    family: IMPORTED,
    ...{ p, m, v, w_share, recompute, recompute_at, fixed, sizes, memory, costs },
  };
}

export const plainPosition = (defaults: Spec) =>
  emptyPosition(createBoard(bare({ ...defaults, ...PLAIN }, defaults), "looped"));

/** The position that a link's spec asks for: an order, whole or not, or the order of a family. */
export async function openSpec(spec: Spec, defaults: Spec): Promise<Opened> {
  if (spec.family === IMPORTED) {
    if (customStages(spec) !== null) return { position: plainPosition(defaults), problem: otherPlacement() };
    if (spec.order === null)
      return { position: emptyPosition(createBoard(bare(spec, defaults), "looped")), problem: "" };
    const found = fromText(spec.order, bare(spec, defaults));
    const problem = found ? "" : t("The order of this link cannot be read; it may have been cut off.");
    return { position: found ?? plainPosition(defaults), problem };
  }
  try {
    return { position: await fork(spec, defaults), problem: "" };
  } catch (problem) {
    const text = problem instanceof Error ? problem.message : String(problem);
    return { position: plainPosition(defaults), problem: text };
  }
}

/** A family's order at its own sizes, as a position. Throws an Error with a sentence where there is none. */
export async function fork(spec: Spec, defaults: Spec): Promise<Position> {
  if (!isSmall(spec.p, spec.m, spec.v)) throw new Error(tooLarge());
  const answer = await answerTo(spec, specQuery(spec, defaults), new AbortController().signal);
  if (!answer.schedule) throw new Error(tr(answer.error));
  const { schedule } = answer;
  if (shapedByOptions(spec) || schedule.barriers || schedule.copies)
    throw new Error(t("An order with a sharded output layer or with copies cannot be edited in the workbench."));
  if (schedule.placement.kind === "custom") throw new Error(otherPlacement());
  return fromSchedule(createBoard(bare(spec, defaults), schedule.placement.kind), schedule);
}

const isSmall = (p: number, m: number, v: number) => isSize("looped", p, m, v);

const otherPlacement = () =>
  t("The workbench places stages looped, in a V, or in two directions; this order has another placement.");

const tooLarge = () => t("The workbench has boards of up to p = 16, m = 64 and v = 8; this one is larger.");
