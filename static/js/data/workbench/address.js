// The workbench's address: the query of an imported order, whole or not, which the main page reads as well, and keys of
// its own: free (free mode), ghost (the order that is shown faintly), task.
import { answerTo } from "../orders/orders.js";
import { tr, t } from "../../core/i18n/language.js";
import { shapedByOptions } from "../../core/schedule/effective_costs.js";
import { IMPORTED } from "../../core/schedule/spec_tables.js";
import { format, specQuery } from "../../core/state/link.js";
import { fromText, isSize, toText } from "../../core/workbench/order_text.js";
import { createBoard, emptyPosition, fromSchedule } from "../../core/workbench/position.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {ViewState} from "../../core/state/link.js" */
/** @import {Position} from "../../core/workbench/position.js" */
/** @import {Store} from "../store.js" */
/** @typedef {{free: boolean, ghost: string, task: string}} Own */
/** @typedef {{position: Position, problem: string}} Opened  problem: why it is not what the link asked for, or "" */

const OWN = ["free", "ghost", "task"];
const NAME = /^[a-z0-9][a-z0-9-]{0,59}$/;
/** The board that is shown where nothing asks for another. */
const PLAIN = { p: 4, m: 8, v: 1 };

/** @param {string} search @returns {{query: string, own: Own}} query: what the other pages read too */
export function splitQuery(search) {
  const all = new URLSearchParams(search);
  const named = (/** @type {string} */ key) =>
    NAME.test(all.get(key) ?? "") ? /** @type {string} */ (all.get(key)) : "";
  const own = { free: all.get("free") === "1", ghost: named("ghost"), task: named("task") };
  for (const key of OWN) all.delete(key);
  const query = all.toString().replaceAll("%2C", ",");
  return { query: query ? `?${query}` : "", own };
}

/** The address of a position. @param {Store} store @param {Position} position @param {Own} own */
export function addressOf(store, position, own) {
  const query = queryOf(store, position, ["theme", "colours", "hatch", "lang", "mem", "run", "crit"]);
  const more = [
    ...(own.free ? ["free=1"] : []),
    ...(own.ghost ? [`ghost=${own.ghost}`] : []),
    ...(own.task ? [`task=${own.task}`] : []),
  ];
  return more.length ? `${query}${query ? "&" : "?"}${more.join("&")}` : query;
}

/**
 * The query of a position's order, as the main page reads it.
 * @param {Store} store @param {Position} position @param {(keyof ViewState)[]} keys of the view that it keeps
 */
export function queryOf(store, position, keys) {
  const { view } = store.get();
  const entries = Object.entries(view).map(([key, value]) => [key, keys.some((each) => each === key) ? value : null]);
  const kept = /** @type {ViewState} */ (Object.fromEntries(entries));
  return format({ spec: orderSpec(position), others: [], preset: null, view: kept }, store.defaults, {});
}

/** The position's order as the spec of an imported order. @param {Position} position @returns {Spec} */
export const orderSpec = (position) => ({ ...position.board.spec, family: IMPORTED, order: toText(position) });

/** What a spec of an order needs beside its sizes: costs, limit, what W keeps, recomputation. @param {Spec} spec
 * @param {Spec} defaults @returns {Spec} */
const bare = (spec, defaults) => ({
  ...defaults,
  ...{ family: IMPORTED, p: spec.p, m: spec.m, v: spec.v, costs: { ...spec.costs, S: null, T: null, O: null } },
  ...{ memory: spec.memory, w_share: spec.w_share, recompute: spec.recompute, order: null },
});

/** @param {Spec} defaults */
export const plainPosition = (defaults) =>
  emptyPosition(createBoard(bare({ ...defaults, ...PLAIN }, defaults), "looped"));

/**
 * The position that a link's spec asks for: an order, whole or not, or the order of a family.
 * @param {Spec} spec @param {Spec} defaults @returns {Promise<Opened>}
 */
export async function openSpec(spec, defaults) {
  if (spec.family === IMPORTED) {
    const found = spec.order === null ? null : fromText(spec.order, bare(spec, defaults));
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

/** A family's order at its own sizes, as a position. Throws an Error with a sentence where there is none.
 * @param {Spec} spec @param {Spec} defaults @returns {Promise<Position>} */
export async function fork(spec, defaults) {
  if (!isSmall(spec.p, spec.m, spec.v)) throw new Error(tooLarge());
  const answer = await answerTo(spec, specQuery(spec, defaults), new AbortController().signal);
  if (!answer.schedule) throw new Error(tr(answer.error));
  const { schedule } = answer;
  if (shapedByOptions(spec) || schedule.barriers || schedule.copies)
    throw new Error(t("An order with a sharded output layer or with copies cannot be edited in the workbench."));
  return fromSchedule(createBoard(bare(spec, defaults), schedule.placement.kind), schedule);
}

/** @param {number} p @param {number} m @param {number} v */
const isSmall = (p, m, v) => isSize("looped", p, m, v);

const tooLarge = () => t("The workbench has boards of up to p = 16, m = 64 and v = 8; this one is larger.");
