// What is wrong with a position in which anything may be placed: ops against a rule of their row, ranks that wait for
// each other in a circle, and memory over the limit, each with its rank and op.
import { t } from "../i18n/language.ts";
import { KIND_F, KIND_W } from "../schedule/ops.ts";
import { makers } from "../schedule/dependencies.ts";
import { inputReason, memoryReason, rowReason, textOf, type Reason } from "./legality.ts";
import { BITS, codeOf, effects, halvesOf, scheduleOf, tablesOf, timesOf, type Position } from "./position.ts";

export type Violation = {
  rank: number;
  index: number; // in the rank's row
  op: number;
  reason: Reason;
};

/**
 * All violations, by rank and place. An op that waits for an op which is not placed yet is none: it has only no time.
 */
export function violations(position: Position): Violation[] {
  return [...position.rows.keys()].flatMap((rank) => inRow(position, rank)).concat(circles(position));
}

function inRow(position: Position, rank: number): Violation[] {
  const { board, rows } = position;
  const { chunks, n } = board;
  const { takes, gives } = effects(board);
  const done = new Uint8Array(board.p * chunks * n);
  const found: Violation[] = [];
  let level = 0;
  rows[rank].forEach((op, index) => {
    const reason = rowReason(board, done, rank, op) ?? memoryReason(board, rank, op, level);
    if (reason) found.push({ rank, index, op, reason });
    level += takes[codeOf(op)] - gives[codeOf(op)];
    for (const { kind, slot, k } of halvesOf(board, rank, op)) done[slot * n + k] |= BITS[kind];
  });
  return found;
}

/**
 * The first op of each rank that has no time, with what it waits for; op -1 for a rank that runs to its end. Returns
 * reason: set where that is not placed.
 */
export function waiting(position: Position): { op: number; index: number; reason: Reason | null }[] {
  const { board, rows } = position;
  const { at } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const { done } = tablesOf(position);
  return rows.map((row, rank) => {
    const index = at[rank] - offsets[rank];
    if (index >= row.length) return { op: -1, index, reason: null };
    return { op: row[index], index, reason: inputReason(board, done, rank, row[index]) };
  });
}

/** Ranks that wait for each other: each at an op whose input is placed, behind the op at which another waits. */
function circles(position: Position): Violation[] {
  const stuck = waiting(position);
  const awaits = stuck.map(({ op, reason }, rank) => (op < 0 || reason ? -1 : rankAwaited(position, rank, op)));
  const found: Violation[] = [];
  const seen = new Set();
  for (let first = 0; first < awaits.length; first++) {
    const chain: number[] = [];
    let rank = first;
    while (rank >= 0 && !chain.includes(rank) && !seen.has(rank)) {
      chain.push(rank);
      rank = awaits[rank];
    }
    const circle = rank >= 0 && chain.includes(rank) ? chain.slice(chain.indexOf(rank)) : [];
    for (const each of chain) seen.add(each);
    if (circle.length < 2) continue; // a rank that waits for itself breaks a rule of its row, which is listed
    for (const each of circle) {
      const { op, index } = stuck[each];
      const text = t("deadlock: rank {rank} waits at {op} for rank {other}, which waits for it in turn", {
        rank: each,
        op: textOf(position.board, each, op),
        other: awaits[each],
      });
      found.push({ rank: each, index, op, reason: { code: "schedule.deadlock", text, brief: text } });
    }
  }
  return found;
}

/** The rank of the placed op whose value an op waits for; -1 for none. */
function rankAwaited(position: Position, rank: number, op: number) {
  const { board } = position;
  const { placement, n, chunks } = board;
  const schedule = scheduleOf(position);
  const { forward, gradient } = makers(schedule);
  const { times } = timesOf(position);
  for (const { kind, slot, k } of halvesOf(board, rank, op)) {
    if (kind === KIND_W) continue;
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    // the last stage's gradient needs its own forward
    const maker =
      from < 0 ? (kind === KIND_F ? -1 : forward[slot * n + k]) : (kind === KIND_F ? forward : gradient)[from * n + k];
    if (maker >= 0 && times.end[maker] === Infinity) return from < 0 ? rank : Math.floor(from / chunks);
  }
  return -1;
}
