// Help on the way: hints to a task's goals, from a reference order or by list scheduling, in three steps, and a run
// that stops at what a learner should look at.
import { t } from "../i18n/language.ts";
import { formatNumber as num } from "../i18n/numbers.ts";
import { KIND_F, KIND_PAIR, KIND_W, LETTERS } from "../schedule/ops.ts";
import { NONE } from "./draft.ts";
import { parOf, wayTo, type Aim, type Way } from "./goals.ts";
import { TimedDraft, greedyStep, type Step } from "./greedy.ts";
import { textOf } from "./legality.ts";
import { backwardOf, codeOf, effects, halvesOf, scheduleOf, timesOf, type Board, type Position } from "./position.ts";

export type Hint = {
  rank: number;
  op: number;
  at: number;
  sentences: string[]; // where to look, which rank, which op; or what came too early, and why
  aside: number | null; // the index at which that rank left the reference, else null
};

/** at: when it begins. */
type Next = { rank: number; op: number; at: number };

const DUST = 1e-9;

/** How far each row agrees with a reference's. */
export const agreement = (position: Position, reference: Position) =>
  position.rows.map((row, r) => {
    const whole = reference.rows[r];
    let at = 0;
    while (at < row.length && at < whole.length && row[at] === whole[at]) at++;
    return at;
  });

/** The next step of a reference: the op that begins first of those that come next on a rank. */
export function referenceStep(position: Position, reference: Position): Next | null {
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
    .reduce((best, each) => (best && best.at <= each.at ? best : each), null as Next | null);
}

/** The hint of a task: along an order that meets its goals, or to take back what leaves par. null: nothing is left. */
export function hintTo(aim: Aim, position: Position): Hint | null {
  const way = wayTo(aim, position) ?? parOf(aim, position);
  const found = hint(position, way);
  if (found && found.aside !== null && !aim.goals.some(({ metric }) => metric === "recognised"))
    found.sentences.push(t("No way to the goals is known with it."));
  return found;
}

/** The hint to take back what left the order that a task's hints follow; null where a way to the goals is known. */
export function departure(aim: Aim, position: Position): Hint | null {
  if (aim.name === null || wayTo(aim, position)) return null;
  const found = hint(position, parOf(aim, position));
  return found && found.aside !== null ? found : null;
}

/** Returns null where nothing is left to do. */
export function hint(
  position: Position,
  way: Way | null,
  backward: "full" | "split" = backwardOf(position) ?? "split", // where nothing shows it yet
): Hint | null {
  const reference = way?.position ?? null;
  const aside = way && leftAside(position, way.position);
  if (aside) {
    const { rank, index } = aside;
    const { board, rows } = position;
    const placed = rows[rank][index];
    const row = way.position.rows[rank];
    const values = { placed: textOf(board, rank, placed), title: way.title, rank };
    const wanted = row[index];
    return {
      ...{ rank, op: wanted ?? NONE, at: aside.at, aside: index },
      sentences: row.subarray(index).includes(placed)
        ? [
            t("{placed} came too early: take it back.", values),
            t("On rank {rank}, {title} has {op} there.", { ...values, op: textOf(board, rank, wanted) }),
          ]
        : [t("{placed} is not in {title}: take it back.", values)],
    };
  }
  const step = reference ? referenceStep(position, reference) : greedyHint(position, backward);
  if (!step) return null;
  const op = textOf(position.board, step.rank, step.op);
  const place = t("Place {op} on rank {rank}.", { op, rank: step.rank });
  return {
    ...{ rank: step.rank, op: step.op, at: step.at, aside: null },
    sentences: [
      t("Look at the time {at}: a rank has nothing to do there yet, and could.", { at: num(step.at) }),
      t("Rank {rank} is free then.", { rank: step.rank }),
      `${place}${t(" ")}${useOf(position.board, step.rank, step.op)}`,
    ],
  };
}

/** What an op is good for: which stage goes on with its output, and whether it frees memory. */
function useOf(board: Board, rank: number, op: number) {
  const { placement } = board;
  const [{ kind, slot }] = halvesOf(board, rank, op).slice(-1);
  const to = kind === KIND_F ? placement.next[slot] : kind === KIND_W ? NONE : placement.prev[slot];
  const values = { stage: to < 0 ? 0 : placement.stage[to] };
  if (kind === KIND_F)
    return to < 0
      ? t("Its backward can follow.")
      : t("Its input is there, and stage {stage} needs its output.", values);
  const frees = effects(board).gives[codeOf(op)] > 0;
  if (to >= 0)
    return frees
      ? t("It frees memory, and stage {stage} needs its gradient.", values)
      : t("Stage {stage} needs its gradient.", values);
  if (kind === KIND_W)
    return frees ? t("It frees memory, and no other op needs it.") : t("It can wait, as no other op needs it.");
  return frees ? t("It frees memory.") : t("Its weight gradient can follow.");
}

function greedyHint(position: Position, backward: "full" | "split") {
  const step = greedyStep(position, backward);
  return step && { rank: step.rank, op: step.op, at: step.start };
}

/** Where a row first leaves the reference, the earliest in time. */
function leftAside(position: Position, reference: Position) {
  const { times } = timesOf(position);
  const { offsets } = scheduleOf(position);
  let first: { rank: number; index: number; at: number } | null = null;
  agreement(position, reference).forEach((index, rank) => {
    if (index >= position.rows[rank].length) return;
    const start = times.start[offsets[rank] + index];
    const at = Number.isFinite(start) ? start : times.makespan;
    if (!first || at < first.at) first = { rank, index, at };
  });
  return first as { rank: number; index: number; at: number } | null;
}

type Strange = "bubble" | "tie" | "cap" | "phase" | "end";
type Stopped = {
  position: Position;
  placed: number;
  kind: Strange;
  rank: number;
  at: number;
  sentence: string;
  key: string; // what it was; the same is not stopped at twice
};

const MOST_STEPS = 20_000;

/**
 * Place ops one after the other until something is worth a look: a rank that must wait, two ops that could both come
 * next, a forward that memory holds back, the end of a rank's warm-up or the begin of its cool-down.
 */
export function runUntilStrange(
  position: Position,
  reference: Position | null, // the order to follow; null: list scheduling
  seen: Set<string>, // keys of earlier stops
  backward: "full" | "split" = backwardOf(reference ?? position) ?? "split",
): Stopped {
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

/** The ops of a reference that are not placed yet, in the order in which they begin. */
function followed(position: Position, reference: Position) {
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

function stepFrom(draft: TimedDraft, next: { rank: number; op: number } | undefined): Step | null {
  if (!next || !draft.allows(next.rank, next.op)) return null;
  const ready = draft.ready(next.rank, next.op);
  return { ...next, ready, start: Math.max(ready, draft.clock[next.rank]) };
}

/** What is worth a look about a step, before it is done. */
function strangeness(
  draft: TimedDraft,
  step: Step,
  seen: Set<string>,
  backward: "full" | "split",
): { kind: Strange; rank: number; at: number; sentence: string; key: string } | null {
  const { board, kinds } = draft;
  const { rank, op, start } = step;
  const text = textOf(board, rank, op);
  const free = draft.clock[rank];
  const row = draft.rows[rank];
  const kind = kinds[codeOf(op)];
  const stop = (what: Strange, at: number, sentence: string, more = "") => {
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

type Stop = (what: Strange, at: number, sentence: string, more?: string) => any;

function bubble(stop: Stop, rank: number, free: number, start: number, text: string, others: Step[]) {
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

function tie(stop: Stop, { board, kinds }: TimedDraft, { rank, op, start }: Step, others: Step[]) {
  const rival = others.find((each) => Math.abs(each.start - start) <= DUST * Math.max(1, start));
  if (!rival) return null;
  const pair = [op, rival.op].map((each) => LETTERS[kinds[codeOf(each)]]).join("");
  const values = { rank, op: textOf(board, rank, op), other: textOf(board, rank, rival.op), at: num(start) };
  return stop("tie", start, t("At {at} rank {rank} could do {op} or {other}.", values), pair);
}

/** A forward whose input is there when its rank is free and that memory holds back; 0 for none. */
function capAt(draft: TimedDraft, rank: number, start: number) {
  const { chunks } = draft.board;
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (draft.level[rank] + draft.effects.takes[chunk] <= draft.most) continue; // the code of an F is its chunk
    const op = draft.next(rank, chunk);
    if (op !== NONE && draft.ready(rank, op) <= start) return op;
  }
  return 0;
}

function forwardsLeft({ board, rows, kinds }: TimedDraft, rank: number) {
  const done = rows[rank].reduce(
    (sum, op) => sum + Number(kinds[codeOf(op)] === KIND_F || kinds[codeOf(op)] === KIND_PAIR),
    0,
  );
  return board.chunks * board.n - done;
}
