// A task's goals: which are met, which can no longer be, and an order that leads from a position to all of them.
import { t } from "../i18n/language.ts";
import { KIND_PAIR, LETTERS, kindOf } from "../schedule/ops.ts";
import { makespanBound } from "./bound.ts";
import { complete } from "./greedy.ts";
import { backwardOf, codeOf, isWhole, onBoard, type Position } from "./position.ts";
import { begins, recognise, references, titleOf } from "./references.ts";
import { scoreOf, type Score } from "./score.ts";
import { violations } from "./violations.ts";

export type Goal =
  { metric: keyof Score; at_most: number } | { metric: "recognised"; as: string[] } | { metric: "unrecognised" };

/** What a task leads to. kinds: of ops that may be placed; name: of the family that par is, null for a searched one. */
export type Aim = { goals: Goal[]; kinds: string; par: Position; name: string | null };

/** An order that is followed, and what a sentence calls it. */
export type Way = { position: Position; title: string };

const DUST = 1e-9;

/** Whether an order is complete and breaks no rule. */
export const isDone = (position: Position) => isWhole(position) && violations(position).length === 0;

/** missed: of a complete order; lost: nothing that can still be placed meets the goal. */
export function goalState(goal: Goal, position: Position, kinds: string): "met" | "missed" | "lost" | "open" {
  if (isDone(position)) return isMet(goal, position) ? "met" : "missed";
  return isLost(goal, position, kinds) ? "lost" : "open";
}

function isMet(goal: Goal, position: Position) {
  if ("at_most" in goal) return scoreOf(position)[goal.metric] <= most(goal.at_most);
  const { exact } = recognise(position, references(position.board));
  return goal.metric === "recognised" ? exact.some((family) => goal.as.includes(family)) : exact.length === 0;
}

/** Memory and messages only grow, and a time has a lower bound; the other metrics may still fall. */
function isLost(goal: Goal, position: Position, kinds: string) {
  if (!position.count || goal.metric === "unrecognised") return false;
  if (goal.metric === "recognised") {
    const named = references(position.board).filter(({ name }) => goal.as.includes(name));
    return named.length > 0 && !named.some((each) => begins(position, each.position));
  }
  if (goal.metric === "makespan") return makespanBound(position, kinds === "FB") > most(goal.at_most);
  return (goal.metric === "peak" || goal.metric === "messages") && scoreOf(position)[goal.metric] > most(goal.at_most);
}

const most = (atMost: number) => atMost * (1 + DUST) + DUST;

const meetsAll = ({ goals, kinds }: Aim, position: Position) =>
  isDone(position) &&
  position.rows.every((row) => row.every((op) => kindsOf(op, position).every((kind) => kinds.includes(kind)))) &&
  goals.every((goal) => isMet(goal, position));

function kindsOf(op: number, { board }: Position) {
  const kind = kindOf(codeOf(op), board.chunks);
  return kind === KIND_PAIR ? ["F", "B"] : [LETTERS[kind]];
}

/** The kind of backward of a position's rest where a task, or its ops so far, show it. */
export const backwardIn = (position: Position, kinds: string): "full" | "split" | null =>
  kinds === "FB" ? "full" : kinds === "FIW" ? "split" : backwardOf(position);

/** What par of a task is called. */
export const parOf = ({ par, name }: Aim, { board }: Position): Way => ({
  position: onBoard(par, board),
  title: name === null ? t("a solution") : titleOf(name),
});

/**
 * An order that begins as a position does and meets all goals: par, a named one, or one by list scheduling. Returns
 * null where none of them does; other orders may.
 */
export function wayTo(aim: Aim, position: Position): Way | null {
  const par = parOf(aim, position);
  const leads = (way: Way) => begins(position, way.position) && meetsAll(aim, way.position);
  const known = [par, ...references(position.board)].find(leads);
  if (known || !isMetBySpeed(aim)) return known ?? null;
  const scheduled = complete(position, backwardIn(position, aim.kinds) ?? undefined);
  return meetsAll(aim, scheduled) ? { position: scheduled, title: par.title } : null;
}

/** Whether an order that no table has may meet the goals. */
const isMetBySpeed = ({ goals }: Aim) => !goals.some(({ metric }) => metric === "recognised");
