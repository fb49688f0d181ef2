// A task's goals: which are met, which can no longer be, an order that leads from a position to all of them, and what
// an order that meets them has achieved.
import { t, tr } from "../i18n/language.ts";
import { formatNumber as num } from "../i18n/numbers.ts";
import { canComplete } from "./completable.ts";
import { KIND_PAIR, LETTERS, kindOf } from "../schedule/ops.ts";
import { makespanBound } from "./bound.ts";
import { complete } from "./greedy.ts";
import { backwardOf, codeOf, isWhole, onBoard, rewind, scheduleOf, timesOf, type Position } from "./position.ts";
import { begins, recognise, references, titleOf } from "./references.ts";
import { scoreOf, type Score } from "./score.ts";
import { violations } from "./violations.ts";
import type { Text } from "../schedule/types.ts";

/** than: the family that has the value to beat. */
export type Goal =
  | { metric: keyof Score; at_most: number }
  | { metric: keyof Score; below: number; than: string }
  | { metric: "recognised"; as: string[] }
  | { metric: "unrecognised" };

/**
 * What a task leads to. kinds: of ops that may be placed; name: of the family that par is, null for a searched one;
 * least: a time that no order beats, 0 where none is known.
 */
export type Aim = { goals: Goal[]; kinds: string; par: Position; name: string | null; least: number };

/** A family's order at a task's sizes; within: it keeps the task's limit and kinds. */
export type Named = { family: string; title: Text; score: Score; within: boolean };

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
  if ("at_most" in goal) return isAtMost(scoreOf(position)[goal.metric], goal.at_most);
  if ("below" in goal) return !isAtMost(goal.below, scoreOf(position)[goal.metric]);
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
  const grows = goal.metric === "peak" || goal.metric === "messages";
  if (goal.metric !== "makespan" && !grows) return false;
  const least = grows ? scoreOf(position)[goal.metric] : makespanBound(position, kinds === "FB");
  return "below" in goal ? isAtMost(goal.below, least) : !isAtMost(least, goal.at_most);
}

const isAtMost = (value: number, most: number) => value <= most * (1 + DUST) + DUST;

const meetsAll = ({ goals, kinds }: Aim, position: Position) =>
  isDone(position) &&
  position.rows.every((row) => row.every((op) => isOf(kinds, kindOf(codeOf(op), position.board.chunks)))) &&
  goals.every((goal) => isMet(goal, position));

const isOf = (kinds: string, kind: number) => kind !== KIND_PAIR && kinds.includes(LETTERS[kind]);

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

/** Whether no goal is lost or missed, and the rest can be completed, as far as is known. */
export const isOpen = ({ goals, kinds }: Aim, position: Position) =>
  canComplete(position).answer !== "no" &&
  goals.every((goal) => !["lost", "missed"].includes(goalState(goal, position, kinds)));

/**
 * Where all goals could still be met: the last step before from which a way to them is known, else the ops that begin
 * before what rules it out; where no way is known, the same for what no goal rules out. past: earlier positions, the
 * last one latest.
 */
export function lastOpen(aim: Aim, position: Position, past: Position[]): Position | null {
  const { times } = timesOf(position);
  const moments = [...new Set(times.start.subarray(0, scheduleOf(position).count))].filter(Number.isFinite);
  const begun = moments.sort((a, b) => b - a).map((moment) => rewind(position, moment));
  const before = [...past].reverse();
  const test = (each: Position) => wayTo(aim, each) !== null;
  const free = (each: Position) => isOpen(aim, each);
  return before.find(test) ?? begun.find(test) ?? before.find(free) ?? begun.find(free) ?? null;
}

/** The stars of a position: 1 for the goals, 2 for the time of par, 3 for a time that no order beats; else 0. */
export function starsOf(aim: Aim, position: Position) {
  if (!meetsAll(aim, position)) return 0;
  const { makespan } = scoreOf(position);
  if (aim.least > 0 && isAtMost(makespan, aim.least)) return 3;
  return isAtMost(makespan, scoreOf(onBoard(aim.par, position.board)).makespan) ? 2 : 1;
}

/** What a solution has achieved, as the server says it (backend/tasks/award.py). executed: a run has verified it. */
export function achieved(aim: Aim, position: Position, named: Named[], executed: boolean) {
  return [
    claim(aim, position, named),
    starsOf(aim, position) === 3 ? t("proved optimal") : "",
    executed ? t("executed") : "",
  ]
    .filter(Boolean)
    .join(t(", "));
}

/** The strongest of what can be said. */
function claim({ goals }: Aim, position: Position, named: Named[]) {
  const { makespan, peak } = scoreOf(position);
  const title = (each: Named) => ({ family: tr(each.title) });
  const known = goals.find((goal) => goal.metric === "recognised");
  const built = named.find(({ family }) => family === known?.as[0]);
  if (built) return t("Built op by op: {family}", title(built));
  const isFirst = ({ family }: Named) => Number(family !== "1f1b");
  const beaten = named
    .filter(({ score }) => !isAtMost(score.makespan, makespan))
    .sort((a, b) => isFirst(a) - isFirst(b) || a.score.makespan - b.score.makespan);
  const fuller = beaten.find(({ score }) => isAtMost(peak, score.peak));
  if (fuller) return t("{family} beaten within its own memory", title(fuller));
  const within = beaten.find((each) => each.within);
  if (within) return t("{family} beaten", title(within));
  const level = named
    .filter(({ score }) => isAtMost(makespan, score.makespan) && !isAtMost(score.peak, peak))
    .sort((a, b) => a.score.peak - b.score.peak);
  if (level.length) return t("As short as {family}, with less memory", title(level[0]));
  return t("A step of {time} with a peak memory of {peak}", { time: num(makespan), peak: num(peak) });
}
