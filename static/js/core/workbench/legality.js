// Which ops a rank may do next, and for those it may not, why: the rules and the sentences of the server's checker
// (backend/schedule/simulation/check.py), and what keeps an op waiting.
import { t, tr } from "../i18n/language.js";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, LETTERS, chunkOf, kindOf } from "../schedule/ops.js";
import {
  HAS_B,
  HAS_F,
  HAS_I,
  HAS_W,
  codeOf,
  effects,
  firstOf,
  nextMicro,
  opOf,
  secondOf,
  tablesOf,
} from "./position.js";

/** @import {Board, Position} from "./position.js" */
/** @typedef {{code: string, text: string, needs?: {slot: number, k: number}}} Reason code: as the server names the
 *   rule; text: a sentence without capital and full stop; needs: the slot and micro-batch that an op waits for */
/** @typedef {{rank: number, kind: number, chunk: number, op: number, k: number, reason: Reason | null}} Candidate
 *   op: -1 where none of this kind is left */

const DUST = 1e-9;

/** The text of an op, as torch spells it. @param {Board} board @param {number} rank @param {number} op */
export function textOf(board, rank, op) {
  const { chunks } = board;
  const kind = kindOf(codeOf(op), chunks);
  if (kind !== KIND_PAIR) return halfText(board, rank * chunks + (codeOf(op) % chunks), kind, firstOf(op));
  const forward = halfText(board, rank * chunks + chunkOf(codeOf(op), chunks), KIND_F, firstOf(op));
  return `(${forward};${halfText(board, rank * chunks + (codeOf(op) % chunks), KIND_B, secondOf(op))})OVERLAP_F_B`;
}

/** @param {Board} board @param {number} slot @param {number} kind @param {number} k */
function halfText({ placement, n }, slot, kind, k) {
  return `${placement.stage[slot]}${LETTERS[kind]}${placement.stream[slot] * n + k}`;
}

/** @param {string} code @param {string} message the server's English @param {Record<string, string | number>} params
 * @returns {Reason} */
function rule(code, message, params) {
  const english = message.replace(/\{(\w+)\}/g, (_, name) => String(params[name]));
  return { code, text: tr({ code, params, message: english }) };
}

/** The halves of an op. @param {Board} board @param {number} rank @param {number} op
 * @returns {{kind: number, slot: number, k: number}[]} */
export function halvesOf({ chunks }, rank, op) {
  const code = codeOf(op);
  const kind = kindOf(code, chunks);
  const back = rank * chunks + (code % chunks);
  if (kind !== KIND_PAIR) return [{ kind, slot: back, k: firstOf(op) }];
  return [
    { kind: KIND_F, slot: rank * chunks + chunkOf(code, chunks), k: firstOf(op) },
    { kind: KIND_B, slot: back, k: secondOf(op) },
  ];
}

/**
 * What breaks a rule of the rank's own row: an op done twice, or before what it needs of the same stage.
 * @param {Board} board @param {Uint8Array} done bits of what comes before it @param {number} rank @param {number} op
 * @returns {Reason | null}
 */
export function rowReason(board, done, rank, op) {
  for (const { kind, slot, k } of halvesOf(board, rank, op)) {
    const text = halfText(board, slot, kind, k);
    const other = (/** @type {number} */ which) => halfText(board, slot, which, k);
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
    if (bits & [HAS_F, HAS_I, HAS_W, HAS_B][kind])
      return rule("schedule.op_twice", "rank {rank} does {op} twice", { rank, op: text });
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

/**
 * The op of another stage whose value an op needs, where it is not placed yet.
 * @param {Board} board @param {Uint8Array} done @param {number} rank @param {number} op @returns {Reason | null}
 */
export function inputReason(board, done, rank, op) {
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

/**
 * Why an op would hold too much, placed on a rank that holds this level, in chunks' activations.
 * @param {Board} board @param {number} rank @param {number} op @param {number} level @returns {Reason | null}
 */
export function memoryReason(board, rank, op, level) {
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

/** A number in six digits at most, as Python's :g. @param {number} x */
const short = (x) => Number(x.toPrecision(6));

/**
 * Why a rank may not do an op next; null where it may.
 * @param {Position} position @param {number} rank @param {number} op @returns {Reason | null}
 */
export function reasonAgainst(position, rank, op) {
  const { done, level } = tablesOf(position);
  return (
    rowReason(position.board, done, rank, op) ??
    inputReason(position.board, done, rank, op) ??
    memoryReason(position.board, rank, op, level[rank])
  );
}

/** @param {Board} board @param {number} rank @param {number} kind @param {number} chunk @returns {Reason} */
function noneLeft({ placement, chunks }, rank, kind, chunk) {
  const stage = placement.stage[rank * chunks + chunk];
  const text =
    kind === KIND_W
      ? t("rank {rank} has no {kind} of stage {stage} left whose I is placed", { rank, kind: "W", stage })
      : t("rank {rank} has placed every {kind} of stage {stage}", { rank, kind: LETTERS[kind], stage });
  return { code: "workbench.none_left", text };
}

/** The next op of a kind and chunk on a rank, by the order of micro-batches, and why it may not be placed.
 * @param {Position} position @param {number} rank @param {number} kind F, I, W or B @param {number} chunk
 * @returns {Candidate} */
export function candidate(position, rank, kind, chunk) {
  const { board } = position;
  const k = nextMicro(position, rank, kind, chunk);
  if (k < 0) return { rank, kind, chunk, op: -1, k, reason: noneLeft(board, rank, kind, chunk) };
  const op = opOf(kind * board.chunks + chunk, k);
  return { rank, kind, chunk, op, k, reason: reasonAgainst(position, rank, op) };
}

/** A forward of one chunk overlapped with a full backward of another. @param {Position} position @param {number} rank
 * @param {number} chunk of the forward @param {number} back chunk of the backward @returns {Candidate} */
export function pairCandidate(position, rank, chunk, back) {
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

/** The next op of every kind and chunk of a rank. @param {Position} position @param {number} rank */
export const candidates = (position, rank) =>
  Array.from({ length: position.board.chunks }, (_, chunk) => chunk).flatMap((chunk) =>
    KINDS.map((kind) => candidate(position, rank, kind, chunk)),
  );

/** The next ops that a rank may do. @param {Position} position @param {number} rank */
export const legalNext = (position, rank) => candidates(position, rank).filter(({ reason }) => !reason);
