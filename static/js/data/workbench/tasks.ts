// The workbench's tasks: what the server lists, a task as a board with goals, and entries to its board.
import { getJson, postJson } from "../api.ts";
import { language } from "../../core/i18n/language.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import type { Aim, Goal, Named } from "../../core/workbench/goals.ts";
import { positionOfRows } from "../../core/workbench/op_texts.ts";
import { toText } from "../../core/workbench/order_text.ts";
import { createBoard, type Position } from "../../core/workbench/position.ts";
import type { PlacementKind, Spec } from "../../core/schedule/types.ts";
import type { Score } from "../../core/workbench/score.ts";

type Text = { en: string; zh: string };
export type Listed = { slug: string; number: number; idea: string; level: number; title: Text };
/** Every task in order, and the ideas that group them. */
export type Tasks = { ideas: { slug: string; title: Text; text: Text }[]; tasks: Listed[] };
/** kinds: FB, FIW or FBIW; fixed: the ops of the start stay; named: the families' orders at these sizes. */
export type Task = Listed & {
  text: Text;
  kinds: string;
  fixed: boolean;
  goals: Goal[];
  next: string | null;
  previous: string | null;
  position: {
    placement: PlacementKind;
    p: number;
    m: number;
    v: number;
    costs: Partial<Spec["costs"]>;
    w_share: number;
    memory: number | null;
    sizes: number[] | null;
    recompute: string;
    recompute_at: string;
    rows: string[];
  };
  par: { source: string; name: string | null; rows: string[]; score: Score };
  bound: { makespan: number } | null;
  named: Named[];
};
export type BoardEntry = { id: string; score: Score; name: string | null; count: number; rows: string[] };
export type TaskBoard = {
  entries: number;
  submissions: number;
  histograms: Record<keyof Score, { width: number; counts: number[] }>;
  front: BoardEntry[];
  best: BoardEntry[];
};
/** place: on the board, from 1. */
type Entered = { solved: boolean; stars: number; new: boolean; place: number | null };

/** A text in the reader's language. */
export const textOf = (text: Text) => (language() === "zh" ? text.zh : text.en);

export const getTasks = (): Promise<Tasks> => getJson("/api/tasks");

export const getTask = (slug: string): Promise<Task> => getJson(`/api/tasks/${encodeURIComponent(slug)}`);

export const getTaskBoard = (slug: string): Promise<TaskBoard> =>
  getJson(`/api/tasks/${encodeURIComponent(slug)}/board`);

/** Submit an order to a task; the server checks and scores it. name: shown on the board; "" for none. */
export const submit = (slug: string, position: Position, name: string): Promise<Entered> =>
  postJson(`/api/tasks/${encodeURIComponent(slug)}/entries`, {
    order: toText(position),
    ...(name ? { name } : {}),
  });

/** The start of a task on its board, and what it leads to. */
export function openTask({ position, par, goals, kinds, bound }: Task, defaults: Spec): { start: Position; aim: Aim } {
  const { placement, rows, costs, ...given } = position;
  const priced = { ...defaults.costs, FB: null, R: null, ...costs, S: null, T: null, O: null, wire: 0 };
  const spec = { ...defaults, ...given, family: IMPORTED, order: null, costs: priced };
  const board = createBoard(spec, placement);
  return {
    start: positionOfRows(board, rows),
    aim: { goals, kinds, par: positionOfRows(board, par.rows), name: par.name, least: bound?.makespan ?? 0 },
  };
}
