// The families' orders at a board's sizes: to fork from, to compare with, and to recognise what was built.
import { t } from "../i18n/language.ts";
import { CONSTRUCTED, construct } from "../families/construct.ts";
import { isLegal } from "../families/legal.ts";
import { fromSchedule, type Board, type Position } from "./position.ts";
import type { Schedule, Spec } from "../schedule/types.ts";

/** A family's order at the board's sizes. */
type Reference = { name: string; title: string; position: Position };
/** Names of families: whose order it is, and those of which every rank has a beginning. */
type Recognised = { exact: string[]; prefix: string[] };

const MOST_SHAPED = 800; // ops of an order that is found by many tries; larger ones are made aside
const LIFO = "gpipe-lifo"; // GPipe with its backwards from the last micro-batch to the first

/** The spec of a family at a board's sizes and costs. */
export const familySpec = (board: Board, family: string): Spec => ({
  ...board.spec,
  family,
  order: null,
  group: null,
  lifo: false,
  v: CONSTRUCTED[family]?.placement === "bidirectional" ? 1 : board.v,
});

/** Whether a family has an order of this placement and these sizes. */
function fits(board: Board, family: string) {
  const { placement, v } = CONSTRUCTED[family];
  if (placement !== board.placement.kind || board.v < v.min || board.v > v.max) return false;
  if (board.v === 1 && v.default > 1) return false; // with one chunk it is another family, under another name
  return isLegal(familySpec(board, family), CONSTRUCTED[family]);
}

/** Whether an order takes too long to be made now. */
const isFar = (board: Board, family: string) =>
  CONSTRUCTED[family].shaped_by_costs && 3 * board.p * board.chunks * board.n > MOST_SHAPED;

/** The families whose orders can be made here, now. */
export const familiesFor = (board: Board) =>
  Object.keys(CONSTRUCTED).filter((family) => fits(board, family) && !isFar(board, family));

/** The families of a board whose orders are made aside and are not here. */
export const farFamilies = (board: Board) =>
  Object.keys(CONSTRUCTED).filter(
    (family) => fits(board, family) && isFar(board, family) && !references(board).some(({ name }) => name === family),
  );

/** Take an order that was made aside among the references of a board. */
export function addReference(board: Board, family: string, schedule: Schedule) {
  const found = references(board);
  if (!found.some(({ name }) => name === family))
    found.push({ name: family, title: titleOf(family), position: fromSchedule(board, schedule) });
}

export function forkOf(board: Board, family: string): Position {
  const spec = family === LIFO ? { ...familySpec(board, "gpipe"), lifo: true } : familySpec(board, family);
  return fromSchedule(board, construct(spec));
}

/** name: of a family whose orders the page can make; of any other the name is the title. */
export const titleOf = (name: string) =>
  name === LIFO ? t("GPipe, last backward first") : (CONSTRUCTED[name]?.title ?? name);

const kept = new Map<string, Reference[]>();
const MOST_KEPT = 8;

/** The families' orders on a board, made once. */
export function references(board: Board): Reference[] {
  const { placement, p, m, v, costs, spec } = board;
  const key = JSON.stringify([placement.kind, p, m, v, costs, spec.recompute, spec.w_share]);
  let found = kept.get(key);
  if (!found) {
    found = familiesFor(board)
      .flatMap((name) => (name === "gpipe" ? [name, LIFO] : [name]))
      .map((name) => ({ name, title: titleOf(name), position: forkOf(board, name) }));
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as string);
    kept.set(key, found);
  }
  return found;
}

/** Whether every rank of a position has the beginning of an order's row. */
export const begins = (position: Position, whole: Position) =>
  position.rows.every(
    (row, r) => row.length <= whole.rows[r].length && row.every((op, at) => op === whole.rows[r][at]),
  );

/** Which orders every rank of a position has a beginning of, and which it is. */
export function recognise(position: Position, known: Reference[]): Recognised {
  const prefix = position.count ? known.filter((each) => begins(position, each.position)) : [];
  const exact = prefix.filter((each) => each.position.count === position.count);
  return { exact: exact.map(({ name }) => name), prefix: prefix.map(({ name }) => name) };
}

/** board: whether an order can be put on a board. */
export const isOfBoard = ({ placement, p, m }: Schedule, board: Board) =>
  placement.kind === board.placement.kind && placement.chunks === board.chunks && p === board.p && m === board.m;
