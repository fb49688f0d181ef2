// The families' orders at a board's sizes: to fork from, to compare with, and to recognise what was built.
import { t } from "../i18n/language.js";
import { CONSTRUCTED, construct } from "../families/construct.js";
import { isLegal } from "../families/legal.js";
import { fromSchedule } from "./position.js";

/** @import {PlacementKind, Schedule, Spec} from "../schedule/types.js" */
/** @import {Board, Position} from "./position.js" */
/** @typedef {{name: string, title: string, position: Position}} Reference  a family's order at the board's sizes */
/** @typedef {{exact: string[], prefix: string[]}} Recognised  names of families: whose order it is, and those of which
 *   every rank has a beginning */

const MOST_SHAPED = 800; // ops of an order that is found by many tries; larger ones are made aside
const LIFO = "gpipe-lifo"; // GPipe with its backwards from the last micro-batch to the first

/** The spec of a family at a board's sizes and costs. @param {Board} board @param {string} family @returns {Spec} */
export const familySpec = (board, family) => ({
  ...board.spec,
  family,
  order: null,
  group: null,
  lifo: false,
  v: CONSTRUCTED[family]?.placement === "bidirectional" ? 1 : board.v,
});

/** Whether a family has an order of this placement and these sizes. @param {Board} board @param {string} family */
function fits(board, family) {
  const { placement, v } = CONSTRUCTED[family];
  if (placement !== board.placement.kind || board.v < v.min || board.v > v.max) return false;
  if (board.v === 1 && v.default > 1) return false; // with one chunk it is another family, under another name
  return isLegal(familySpec(board, family), CONSTRUCTED[family]);
}

/** Whether an order takes too long to be made now. @param {Board} board @param {string} family */
const isFar = (board, family) =>
  CONSTRUCTED[family].shaped_by_costs && 3 * board.p * board.chunks * board.n > MOST_SHAPED;

/** The families whose orders can be made here, now. @param {Board} board */
export const familiesFor = (board) =>
  Object.keys(CONSTRUCTED).filter((family) => fits(board, family) && !isFar(board, family));

/** The families of a board whose orders are made aside and are not here. @param {Board} board */
export const farFamilies = (board) =>
  Object.keys(CONSTRUCTED).filter(
    (family) => fits(board, family) && isFar(board, family) && !references(board).some(({ name }) => name === family),
  );

/** Take an order that was made aside among the references of a board. @param {Board} board
 * @param {string} family @param {Schedule} schedule */
export function addReference(board, family, schedule) {
  const found = references(board);
  if (!found.some(({ name }) => name === family))
    found.push({ name: family, title: titleOf(family), position: fromSchedule(board, schedule) });
}

/** @param {Board} board @param {string} family @returns {Position} */
export function forkOf(board, family) {
  const spec = family === LIFO ? { ...familySpec(board, "gpipe"), lifo: true } : familySpec(board, family);
  return fromSchedule(board, construct(spec));
}

/** @param {string} name of a family whose orders the page can make; of any other the name is the title */
export const titleOf = (name) => (name === LIFO ? t("GPipe, last backward first") : (CONSTRUCTED[name]?.title ?? name));

/** @type {Map<string, Reference[]>} */
const kept = new Map();
const MOST_KEPT = 8;

/** The families' orders on a board, made once. @param {Board} board @returns {Reference[]} */
export function references(board) {
  const { placement, p, m, v, costs, spec } = board;
  const key = JSON.stringify([placement.kind, p, m, v, costs, spec.recompute, spec.w_share]);
  let found = kept.get(key);
  if (!found) {
    found = familiesFor(board)
      .flatMap((name) => (name === "gpipe" ? [name, LIFO] : [name]))
      .map((name) => ({ name, title: titleOf(name), position: forkOf(board, name) }));
    if (kept.size >= MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
    kept.set(key, found);
  }
  return found;
}

/** Whether a row is the beginning of another. @param {Int32Array} row @param {Int32Array} whole */
const begins = (row, whole) => row.length <= whole.length && row.every((op, at) => op === whole[at]);

/** Which orders every rank of a position has a beginning of, and which it is. @param {Position} position
 * @param {Reference[]} known @returns {Recognised} */
export function recognise(position, known) {
  const prefix = position.count
    ? known.filter((each) => position.rows.every((row, r) => begins(row, each.position.rows[r])))
    : [];
  const exact = prefix.filter((each) => each.position.count === position.count);
  return { exact: exact.map(({ name }) => name), prefix: prefix.map(({ name }) => name) };
}

/** @param {Schedule} schedule @param {Board} board whether an order can be put on a board */
export const isOfBoard = ({ placement, p, m }, board) =>
  placement.kind === board.placement.kind && placement.chunks === board.chunks && p === board.p && m === board.m;

/** @type {PlacementKind[]} */
export const PLACEMENTS = ["looped", "v", "bidirectional"];
