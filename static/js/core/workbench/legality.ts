// Which ops a rank may do next, and for those it may not, why: the rules and the sentences of the server's checker
// (backend/schedule/simulation/check.py), and what keeps an op waiting.
import { t, tr } from "../i18n/language.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, LETTERS, chunkOf, kindOf } from "../schedule/ops.ts";
import {
  BITS,
  HAS_B,
  HAS_F,
  HAS_I,
  codeOf,
  effects,
  firstOf,
  halvesOf,
  nextMicro,
  opOf,
  secondOf,
  tablesOf,
  type Board,
  type Position,
} from "./position.ts";

/**
 * code: as the server names the rule; text: its sentence, without capital and full stop; brief: a shorter one beside
 * the op; needs: the slot and micro-batch that an op waits for.
 */
export type Reason = { code: string; text: string; brief: string; needs?: { slot: number; k: number } };
export type Candidate = {
  rank: number;
  kind: number;
  chunk: number;
  op: number; // -1 where none of this kind is left
  k: number;
  reason: Reason | null;
};

const DUST = 1e-9;

/** The text of an op, as torch spells it. */
export function textOf(board: Board, rank: number, op: number) {
  const { chunks } = board;
  const kind = kindOf(codeOf(op), chunks);
  if (kind !== KIND_PAIR) return halfText(board, rank * chunks + (codeOf(op) % chunks), kind, firstOf(op));
  const forward = halfText(board, rank * chunks + chunkOf(codeOf(op), chunks), KIND_F, firstOf(op));
  return `(${forward};${halfText(board, rank * chunks + (codeOf(op) % chunks), KIND_B, secondOf(op))})OVERLAP_F_B`;
}

function halfText({ placement, n }: Board, slot: number, kind: number, k: number) {
  return `${placement.stage[slot]}${LETTERS[kind]}${placement.stream[slot] * n + k}`;
}

/** message: the server's English. */
function rule(code: string, message: string, params: Record<string, string | number>): Reason {
  const english = message.replace(/\{(\w+)\}/g, (_, name) => String(params[name]));
  const text = tr({ code, params, message: english });
  return { code, text, brief: "needed" in params ? t("{op} needs {needed} first", params) : text };
}

/**
 * What breaks a rule of the rank's own row: an op done twice, or before what it needs of the same stage. done: bits of
 * what comes before it.
 */
export function rowReason(board: Board, done: Uint8Array, rank: number, op: number): Reason | null {
  for (const { kind, slot, k } of halvesOf(board, rank, op)) {
    const text = halfText(board, slot, kind, k);
    const other = (which: number) => halfText(board, slot, which, k);
    if (k < 0 || k >= board.n) {
      const { placement, n } = board;
      const low = n * placement.stream[slot];
      return rule(
        "schedule.micro_batch_out_of_range",
        "rank {rank} does {op}, but stage {stage} there has micro-batches {first} to {last}",
        { rank, op: text, stage: placement.stage[slot], first: low, last: low + n - 1 },
      );
    }
    const bits = done[slot * board.n + k];
    if (bits & BITS[kind]) return rule("schedule.op_twice", "rank {rank} does {op} twice", { rank, op: text });
    if (kind === KIND_F) continue;
    if ((kind === KIND_I && bits & HAS_B) || (kind === KIND_B && bits & HAS_I))
      return rule(
        "schedule.gradient_already_taken",
        "rank {rank} does {op} after {other}, which has taken that gradient already",
        { rank, op: text, other: other(kind === KIND_I ? KIND_B : KIND_I) },
      );
    if (!(bits & (kind === KIND_W ? HAS_I : HAS_F)))
      return rule("schedule.op_before_its_input", "rank {rank} does {op} before {needed}, which it needs", {
        rank,
        op: text,
        needed: other(kind === KIND_W ? KIND_I : KIND_F),
      });
  }
  return null;
}

/** The op of another stage whose value an op needs, where it is not placed yet. */
export function inputReason(board: Board, done: Uint8Array, rank: number, op: number): Reason | null {
  const { placement, chunks, n } = board;
  for (const { kind, slot, k } of halvesOf(board, rank, op)) {
    if (kind === KIND_W) continue;
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    if (from < 0 || done[from * n + k] & (kind === KIND_F ? HAS_F : HAS_I | HAS_B)) continue;
    const params = {
      rank,
      op: halfText(board, slot, kind, k),
      needed: halfText(board, from, kind, k),
      other: Math.floor(from / chunks),
    };
    const reason =
      params.other === rank
        ? rule("schedule.op_before_its_input", "rank {rank} does {op} before {needed}, which it needs", params)
        : rule(
            "workbench.input_not_placed",
            "rank {rank} cannot do {op} yet: its input {needed} on rank {other} is not placed",
            params,
          );
    return { ...reason, needs: { slot: from, k } };
  }
  return null;
}

/** Why an op would hold too much, placed on a rank that holds this level, in chunks' activations. */
export function memoryReason(board: Board, rank: number, op: number, level: number): Reason | null {
  const { limit, v } = board;
  if (limit === null) return null;
  const takes = effects(board).takes[codeOf(op)];
  const holds = (level + takes) / v;
  if (takes === 0 || holds <= limit * (1 + DUST)) return null;
  const [half] = halvesOf(board, rank, op);
  return rule(
    "workbench.over_memory",
    "rank {rank} cannot do {op}: {level} micro-batches would be in memory, the limit is {limit}",
    { rank, op: halfText(board, half.slot, half.kind, half.k), level: short(holds), limit: short(limit) },
  );
}

/** A number in six digits at most, as Python's :g. */
const short = (x: number) => Number(x.toPrecision(6));

/** Why a rank may not do an op next; null where it may. */
export function reasonAgainst(position: Position, rank: number, op: number): Reason | null {
  const { done, level } = tablesOf(position);
  return (
    rowReason(position.board, done, rank, op) ??
    inputReason(position.board, done, rank, op) ??
    memoryReason(position.board, rank, op, level[rank])
  );
}

function noneLeft({ placement, chunks }: Board, rank: number, kind: number, chunk: number): Reason {
  const stage = placement.stage[rank * chunks + chunk];
  const text =
    kind === KIND_W
      ? t("rank {rank} has no {kind} of stage {stage} left whose I is placed", { rank, kind: "W", stage })
      : t("rank {rank} has placed every {kind} of stage {stage}", { rank, kind: LETTERS[kind], stage });
  return { code: "workbench.none_left", text, brief: text };
}

/**
 * The next op of a kind and chunk on a rank, by the order of micro-batches, and why it may not be placed. kind: F, I, W
 * or B.
 */
export function candidate(position: Position, rank: number, kind: number, chunk: number): Candidate {
  const { board } = position;
  const k = nextMicro(position, rank, kind, chunk);
  if (k < 0) return { rank, kind, chunk, op: -1, k, reason: noneLeft(board, rank, kind, chunk) };
  const op = opOf(kind * board.chunks + chunk, k);
  return { rank, kind, chunk, op, k, reason: reasonAgainst(position, rank, op) };
}

/**
 * A forward of one chunk overlapped with a full backward of another. chunk: of the forward; back: chunk of the
 * backward.
 */
export function pairCandidate(position: Position, rank: number, chunk: number, back: number): Candidate {
  const { board } = position;
  const k = nextMicro(position, rank, KIND_F, chunk);
  const other = nextMicro(position, rank, KIND_B, back);
  if (k < 0 || other < 0) {
    const reason = noneLeft(board, rank, k < 0 ? KIND_F : KIND_B, k < 0 ? chunk : back);
    return { rank, kind: KIND_PAIR, chunk, op: -1, k, reason };
  }
  const op = opOf(4 * board.chunks + chunk * board.chunks + back, k, other);
  return { rank, kind: KIND_PAIR, chunk, op, k, reason: reasonAgainst(position, rank, op) };
}

/** Kinds in the order in which they are listed. */
export const KINDS = [KIND_F, KIND_B, KIND_I, KIND_W];

/** The next op of every kind and chunk of a rank. */
export const candidates = (position: Position, rank: number) =>
  Array.from({ length: position.board.chunks }, (_, chunk) => chunk).flatMap((chunk) =>
    KINDS.map((kind) => candidate(position, rank, kind, chunk)),
  );
