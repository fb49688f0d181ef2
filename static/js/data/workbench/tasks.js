// The workbench's tasks: what the server lists, a task as a board with goals, and entries to its board.
import { getJson, postJson } from "../api.js";
import { language } from "../../core/i18n/language.js";
import { IMPORTED } from "../../core/schedule/spec_tables.js";
import { positionOfRows } from "../../core/workbench/op_texts.js";
import { toText } from "../../core/workbench/order_text.js";
import { createBoard } from "../../core/workbench/position.js";

/** @import {PlacementKind, Spec} from "../../core/schedule/types.js" */
/** @import {Position} from "../../core/workbench/position.js" */
/** @import {Score} from "../../core/workbench/score.js" */
/** @typedef {{en: string, zh: string}} Text */
/** @typedef {{metric: keyof Score, at_most: number} | {metric: "recognised", as: string[]} | {metric: "unrecognised"}}
 *   Goal */
/** @typedef {{slug: string, number: number, level: number, title: Text}} Listed */
/**
 * @typedef {Listed & {text: Text, kinds: string, fixed: boolean, goals: Goal[], next: string | null, previous: string |
 *   null, position: {placement: PlacementKind, p: number, m: number, v: number, costs: Partial<Spec["costs"]>, w_share:
 *   number, memory: number | null, rows: string[]}, par: {source: string, name: string | null, rows: string[], score:
 *   Score}, named: {family: string, title: import("../../core/schedule/types.js").Text, score: Score, within:
 *   boolean}[]}} Task  kinds: FB, FIW or FBIW; fixed: the ops of the start stay; named: the families' orders at these
 *   sizes; within: one keeps the limit and the kinds
 */
/** @typedef {{id: string, score: Score, name: string | null, count: number, rows: string[]}} BoardEntry */
/**
 * @typedef {{entries: number, submissions: number, histograms: Record<keyof Score, {width: number, counts: number[]}>,
 *   front: BoardEntry[], best: BoardEntry[]}} TaskBoard
 */
/** @typedef {{solved: boolean, new: boolean, place: number | null}} Entered  place: on the board, from 1 */

/** A text in the reader's language. @param {Text} text */
export const textOf = (text) => (language() === "zh" ? text.zh : text.en);

/** @returns {Promise<Listed[]>} */
export const getTasks = async () => (await getJson("/api/tasks")).tasks;

/** @param {string} slug @returns {Promise<Task>} */
export const getTask = (slug) => getJson(`/api/tasks/${encodeURIComponent(slug)}`);

/** @param {string} slug @returns {Promise<TaskBoard>} */
export const getTaskBoard = (slug) => getJson(`/api/tasks/${encodeURIComponent(slug)}/board`);

/** Submit an order to a task; the server checks and scores it. @param {string} slug @param {Position} position
 * @param {string} name shown on the board; "" for none @returns {Promise<Entered>} */
export const submit = (slug, position, name) =>
  postJson(`/api/tasks/${encodeURIComponent(slug)}/entries`, {
    order: toText(position),
    ...(name ? { name } : {}),
  });

/** The board of a task, its start and its par. @param {Task} task @param {Spec} defaults
 * @returns {{start: Position, par: Position}} */
export function openTask({ position, par }, defaults) {
  const { placement, p, m, v, costs, w_share, memory, rows } = position;
  const given = { ...defaults.costs, FB: null, ...costs, S: null, T: null, O: null };
  const spec = { ...defaults, family: IMPORTED, p, m, v, w_share, memory, order: null, costs: given };
  const board = createBoard(spec, placement);
  return { start: positionOfRows(board, rows), par: positionOfRows(board, par.rows) };
}
