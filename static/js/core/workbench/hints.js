// Help on the way: hints from a reference order or by list scheduling, in three steps, and a run that stops at what a
// learner should look at.
import { t } from "../i18n/language.js";
import { formatNumber as num } from "../i18n/numbers.js";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, LETTERS, kindOf } from "../schedule/ops.js";
import { NONE } from "./draft.js";
import { TimedDraft, greedyStep } from "./greedy.js";
import { textOf } from "./legality.js";
import { backwardOf, codeOf, scheduleOf, timesOf } from "./position.js";

/** @import {Position} from "./position.js" */
/** @import {Step} from "./greedy.js" */
/**
 * @typedef {{rank: number, op: number, at: number, sentences: [string, string, string], aside: number | null}} Hint
 *   sentences: where to look, which rank, which op; aside: the index at which that rank left the reference, else null
 */

/** @typedef {{rank: number, op: number, at: number}} Next  at: when it begins */

const DUST = 1e-9;

/** How far each row agrees with a reference's. @param {Position} position @param {Position} reference */
export const agreement = (position, reference) =>
  position.rows.map((row, r) => {
    const whole = reference.rows[r];
    let at = 0;
    while (at < row.length && at < whole.length && row[at] === whole[at]) at++;
    return at;
  });

/**
 * The next step of a reference: the op that begins first of those that come next on a rank.
 * @param {Position} position @param {Position} reference @returns {Next | null}
 */
export function referenceStep(position, reference) {
  const { times } = timesOf(reference);
  const { offsets } = scheduleOf(reference);
  const agreed = agreement(position, reference);
  return position.rows
    .map((row, rank) => ({
      rank,
      op: reference.rows[rank][row.length] ?? NONE,
      at: times.start[offsets[rank] + row.length],
      open: agreed[rank] === row.length,
    }))
    .filter(({ op, open }) => open && op !== NONE)
    .reduce((best, each) => (best && best.at <= each.at ? best : each), /** @type {Next | null} */ (null));
}

/**
 * @param {Position} position @param {Position | null} reference @param {string} [title] of the reference
 * @param {"full" | "split"} [backward] where nothing shows it yet
 * @returns {Hint | null} null where nothing is left to do
 */
export function hint(position, reference, title = "", backward = backwardOf(position) ?? "split") {
  const aside = reference ? leftAside(position, reference) : null;
  if (reference && aside) {
    const { rank, index } = aside;
    const placed = textOf(position.board, rank, position.rows[rank][index]);
    const wanted = reference.rows[rank][index];
    const op = wanted === undefined ? "" : textOf(position.board, rank, wanted);
    return {
      ...{ rank, op: wanted ?? NONE, at: aside.at, aside: index },
      sentences: [
        t("Look at the time from {at} on: there the order leaves {title}.", { at: num(aside.at), title }),
        t("It is rank {rank}, whose op number {number} differs.", { rank, number: index + 1 }),
        op
          ? t("{title} has {op} there instead of {placed}.", { title, op, placed })
          : t("{title} has no op there; {placed} is one too many.", { title, placed }),
      ],
    };
  }
  const step = reference ? referenceStep(position, reference) : greedyHint(position, backward);
  if (!step) return null;
  const op = textOf(position.board, step.rank, step.op);
  const kind = kindOf(codeOf(step.op), position.board.chunks);
  const why =
    kind === KIND_F
      ? t("Its input is there, and nothing more urgent is.")
      : kind === KIND_I || kind === KIND_B || kind === KIND_PAIR
        ? t("A gradient frees memory, and the rank before waits for it.")
        : t("A weight gradient can wait, and here it fills idle time.");
  return {
    ...{ rank: step.rank, op: step.op, at: step.at, aside: null },
    sentences: [
      t("Look at the time {at}: a rank has nothing to do there yet, and could.", { at: num(step.at) }),
      t("Rank {rank} is free then.", { rank: step.rank }),
      `${t("Place {op} on rank {rank}.", { op, rank: step.rank })}${t(" ")}${why}`,
    ],
  };
}

/** @param {Position} position @param {"full" | "split"} backward */
function greedyHint(position, backward) {
  const step = greedyStep(position, backward);
  return step && { rank: step.rank, op: step.op, at: step.start };
}

/** Where a row first leaves the reference, the earliest in time. @param {Position} position
 * @param {Position} reference */
function leftAside(position, reference) {
  const { times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  /** @type {{rank: number, index: number, at: number} | null} */
  let first = null;
  agreement(position, reference).forEach((index, rank) => {
    if (index >= position.rows[rank].length) return;
    const start = times.start[offsets[rank] + index];
    const at = Number.isFinite(start) ? start : times.makespan;
    if (!first || at < first.at) first = { rank, index, at };
  });
  return /** @type {{rank: number, index: number, at: number} | null} */ (first);
}

/** @typedef {"bubble" | "tie" | "cap" | "phase" | "end"} Strange */
/** @typedef {{position: Position, placed: number, kind: Strange, rank: number, at: number, sentence: string,
 *   key: string}} Stopped  key: what it was; the same is not stopped at twice */

const MOST_STEPS = 20_000;

/**
 * Place ops one after the other until something is worth a look: a rank that must wait, two ops that could both come
 * next, a forward that memory holds back, the end of a rank's warm-up or the begin of its cool-down.
 * @param {Position} position @param {Position | null} reference the order to follow; null: list scheduling
 * @param {Set<string>} seen keys of earlier stops
 * @param {"full" | "split"} [backward] @returns {Stopped}
 */
export function runUntilStrange(position, reference, seen, backward = backwardOf(reference ?? position) ?? "split") {
  const draft = new TimedDraft(position);
  const follow = reference ? followed(position, reference) : [];
  for (let placed = 0; placed < MOST_STEPS; placed++) {
    const step = reference ? stepFrom(draft, follow[placed]) : draft.greedy(backward);
    if (!step) break;
    const odd = strangeness(draft, step, seen, backward);
    if (odd && placed > 0) return { position: draft.position(), placed, ...odd };
    if (odd) seen.add(odd.key); // it was told when the run stopped before it
    draft.push(step.rank, step.op);
  }
  const placed = draft.count - position.count;
  const sentence = placed
    ? t("Nothing more was worth a look: {placed} ops were placed up to the end.", { placed })
    : t("Nothing is left to place.");
  return {
    position: draft.position(),
    placed,
    kind: "end",
    rank: NONE,
    at: timesOf(position).times.makespan,
    sentence,
    key: "end",
  };
}

/** The ops of a reference that are not placed yet, in the order in which they begin. @param {Position} position
 * @param {Position} reference */
function followed(position, reference) {
  const { times } = timesOf(reference);
  const { offsets } = scheduleOf(reference);
  return agreement(position, reference)
    .flatMap((agreed, rank) =>
      agreed < position.rows[rank].length
        ? []
        : Array.from(reference.rows[rank].subarray(agreed), (op, k) => ({
            rank,
            op,
            at: times.start[offsets[rank] + agreed + k],
          })),
    )
    .sort((a, b) => a.at - b.at || a.rank - b.rank);
}

/** @param {TimedDraft} draft @param {{rank: number, op: number} | undefined} next @returns {Step | null} */
function stepFrom(draft, next) {
  if (!next || !draft.allows(next.rank, next.op)) return null;
  const ready = draft.ready(next.rank, next.op);
  return { ...next, ready, start: Math.max(ready, draft.clock[next.rank]) };
}

/**
 * What is worth a look about a step, before it is done.
 * @param {TimedDraft} draft @param {Step} step @param {Set<string>} seen @param {"full" | "split"} backward
 * @returns {{kind: Strange, rank: number, at: number, sentence: string, key: string} | null}
 */
function strangeness(draft, step, seen, backward) {
  const { board, kinds } = draft;
  const { rank, op, start } = step;
  const text = textOf(board, rank, op);
  const free = draft.clock[rank];
  const row = draft.rows[rank];
  const kind = kinds[codeOf(op)];
  /** @param {Strange} what @param {number} at @param {string} sentence @param {string} [more] */
  const stop = (what, at, sentence, more = "") => {
    const key = `${what}/${rank}/${more}`;
    return seen.has(key) ? null : { kind: what, rank, at, sentence, key };
  };
  const others = draft.steps(rank, backward).filter((each) => each.op !== op);
  const capped = capAt(draft, rank, start);
  return (
    (capped &&
      stop(
        "cap",
        free,
        t("Rank {rank} could do {op} at {at}, but memory is full: it would hold more than {limit}.", {
          rank,
          op: textOf(board, rank, capped),
          at: num(free),
          limit: num(board.limit ?? 0),
        }),
      )) ||
    (row.length > 0 && start > free + DUST * Math.max(1, free)
      ? bubble(stop, rank, free, start, text, others)
      : null) ||
    tie(stop, draft, step, others) ||
    (kind !== KIND_F && !row.some((each) => kinds[codeOf(each)] !== KIND_F)
      ? stop(
          "phase",
          start,
          t("Rank {rank} does its first gradient, {op}, at {at}: its warm-up ends.", {
            rank,
            op: text,
            at: num(start),
          }),
          "warm",
        )
      : null) ||
    (kind === KIND_F && forwardsLeft(draft, rank) === 1
      ? stop(
          "phase",
          start,
          t("{op} is the last forward of rank {rank}: its cool-down begins.", { rank, op: text }),
          "cool",
        )
      : null)
  );
}

/** @typedef {(what: Strange, at: number, sentence: string, more?: string) => any} Stop */

/** @param {Stop} stop @param {number} rank @param {number} free @param {number} start @param {string} text
 * @param {Step[]} others */
function bubble(stop, rank, free, start, text, others) {
  const earlier = others.find((each) => each.start < start - DUST * Math.max(1, start));
  const values = { rank, from: num(free), to: num(start), op: text };
  if (!earlier)
    return stop(
      "bubble",
      free,
      t("Rank {rank} must wait from {from} to {to}: {op} is the first that can run.", values),
      String(free),
    );
  return stop(
    "bubble",
    free,
    t("Rank {rank} waits from {from} to {to} for {op}, though it could do something else before.", values),
    String(free),
  );
}

/** @param {Stop} stop @param {TimedDraft} draft @param {Step} step @param {Step[]} others */
function tie(stop, { board, kinds }, { rank, op, start }, others) {
  const rival = others.find((each) => Math.abs(each.start - start) <= DUST * Math.max(1, start));
  if (!rival) return null;
  const pair = [op, rival.op].map((each) => LETTERS[kinds[codeOf(each)]]).join("");
  const values = { rank, op: textOf(board, rank, op), other: textOf(board, rank, rival.op), at: num(start) };
  return stop("tie", start, t("At {at} rank {rank} could do {op} or {other}.", values), pair);
}

/** A forward whose input is there when its rank is free and that memory holds back; 0 for none.
 * @param {TimedDraft} draft @param {number} rank @param {number} start */
function capAt(draft, rank, start) {
  const { chunks } = draft.board;
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (draft.level[rank] + draft.effects.takes[chunk] <= draft.most) continue; // the code of an F is its chunk
    const op = draft.next(rank, chunk);
    if (op !== NONE && draft.ready(rank, op) <= start) return op;
  }
  return 0;
}

/** @param {TimedDraft} draft @param {number} rank */
function forwardsLeft({ board, rows, kinds }, rank) {
  const done = rows[rank].reduce(
    (sum, op) => sum + Number(kinds[codeOf(op)] === KIND_F || kinds[codeOf(op)] === KIND_PAIR),
    0,
  );
  return board.chunks * board.n - done;
}
