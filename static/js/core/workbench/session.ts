// One person's work on a board: the present position, those before and after it, which rank and op are chosen, and
// what strict and free mode allow. Knows no DOM; tells its listeners what happened in a sentence.
import { t } from "../i18n/language.ts";
import { formatNumber as num } from "../i18n/numbers.ts";
import { canComplete } from "./completable.ts";
import { backwardIn, lastOpen, type Aim } from "./goals.ts";
import { candidate, candidates, pairCandidate, reasonAgainst, textOf, type Candidate } from "./legality.ts";
import { codeOf, cut, isWhole, onBoard, place, scheduleOf, tablesOf, timesOf } from "./position.ts";
import { violations } from "./violations.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, LETTERS } from "../schedule/ops.ts";
import type { Board, Position } from "./position.ts";

/** Why a move was not made, and at which rank. */
type Refused = { rank: number; sentence: string };
export type Event = { sentence: string; refused: Refused | null; moved: boolean };

const MOST_STEPS = 400; // that can be undone
const CHECKED_OPS = 1200; // forwards on larger boards are proved dead ends only when they are placed

export class Session {
  position: Position;

  rank = 0;
  free = false;
  /** The kinds of op that may be placed. */
  kinds = "FBIW";
  /** Ops that stay: each row begins with its row. */
  fixed: Position | null = null;
  /** What the task leads to. */
  aim: Aim | null = null;
  /** What the palette has chosen: a kind's letter and a chunk, "F0"; "P0" is a pair whose forward is of chunk 0. */
  pick = "F0";
  #past: Position[] = [];
  #future: Position[] = [];
  #listeners: ((event: Event) => void)[] = [];

  constructor(position: Position) {
    this.position = position;
  }

  /** Call a task after each change and each refusal. */
  onChange(listener: (event: Event) => void) {
    this.#listeners.push(listener);
  }

  #tell(sentence: string, refused: Refused | null = null, moved = false) {
    if (moved) this.#chooseOpen();
    for (const listener of this.#listeners) listener({ sentence, refused, moved });
    return !refused;
  }

  refuse(rank: number, sentence: string) {
    return this.#tell(sentence, { rank, sentence });
  }

  /** Where what is chosen cannot come next, choose what can. */
  #chooseOpen() {
    const all = this.options();
    const chosen = all.find(({ id }) => id === this.pick);
    if (chosen && chosen.op >= 0 && (this.free || !chosen.reason)) return;
    const open = all.find(({ reason }) => !reason);
    if (open) this.pick = open.id;
    else if (!chosen || chosen.op < 0) this.pick = all.find(({ op }) => op >= 0)?.id ?? this.pick;
  }

  get board() {
    return this.position.board;
  }

  /** The kind of backward of what is left, where the task or the ops so far show it. */
  get backward() {
    return backwardIn(this.position, this.kinds);
  }

  get steps() {
    return { undo: this.#past.length, redo: this.#future.length };
  }

  /** Go back to where the task's goals could still be met, as one step. */
  goBack() {
    const before = this.aim && lastOpen(this.aim, this.position, this.#past);
    if (before) this.go(before, t("Back to where the goals could still be met."));
  }

  /** Go to another position, as one step. */
  go(next: Position, sentence: string) {
    if (next === this.position) return this.#tell(sentence);
    const moved = this.fixed?.rows.findIndex((row, rank) => row.some((op, at) => op !== next.rows[rank][at])) ?? -1;
    if (moved >= 0) return this.refuse(moved, t("The first ops of this task stay as they are."));
    this.#past.push(this.position);
    if (this.#past.length > MOST_STEPS) this.#past.shift();
    this.#future = [];
    this.position = next;
    return this.#tell(sentence, null, true);
  }

  /** Begin anew, with no steps before. */
  begin(position: Position, sentence: string) {
    this.fixed = null;
    this.aim = null;
    this.kinds = "FBIW";
    this.#put(position, sentence);
  }

  /** Begin a task. fixed: whether its ops stay. */
  beginTask(position: Position, aim: Aim, fixed: boolean, sentence: string) {
    this.fixed = fixed ? position : null;
    this.aim = aim;
    this.kinds = aim.kinds;
    this.#put(position, sentence);
  }

  #put(position: Position, sentence: string) {
    this.#past = [];
    this.#future = [];
    this.position = position;
    const ranks = Array.from(position.rows.keys());
    this.rank = ranks.find((rank) => this.legal(rank).length) ?? Math.min(this.rank, position.board.p - 1);
    if (!this.options().some(({ id }) => id === this.pick)) this.pick = "F0";
    this.#tell(sentence, null, true);
  }

  /** The same rows with other costs or another limit; earlier steps get them too. */
  setBoard(board: Board, sentence: string) {
    const other = (position: Position) => onBoard(position, board);
    this.#past = this.#past.map(other);
    this.#future = this.#future.map(other);
    this.position = other(this.position);
    this.#tell(sentence, null, true);
  }

  undo() {
    const before = this.#past.pop();
    if (!before) return this.#tell(t("Nothing is left to undo."));
    this.#future.push(this.position);
    this.position = before;
    return this.#tell(t("Undone: {count} ops are placed.", { count: before.count }), null, true);
  }

  redo() {
    const after = this.#future.pop();
    if (!after) return this.#tell(t("Nothing is left to redo."));
    this.#past.push(this.position);
    this.position = after;
    return this.#tell(t("Redone: {count} ops are placed.", { count: after.count }), null, true);
  }

  setFree(free: boolean) {
    this.free = free;
    this.#tell(
      free ? t("Free mode: anything can be placed; violations are marked.") : t("Only legal ops can be placed."),
    );
  }

  setRank(rank: number) {
    const { p } = this.board;
    this.rank = (rank + p) % p;
    this.#chooseOpen();
    this.#tell(this.rankText(this.rank));
  }

  /** What a rank has and may do next. */
  rankText(rank: number) {
    const next = this.legal(rank).map(({ op }) => textOf(this.board, rank, op));
    return next.length
      ? t("Rank {rank}, {count} ops; next: {ops}.", {
          rank,
          count: this.position.rows[rank].length,
          ops: next.join(t(", ")),
        })
      : t("Rank {rank}, {count} ops; nothing can come next.", { rank, count: this.position.rows[rank].length });
  }

  /** The next ops that a rank may do. */
  legal(rank: number): Candidate[] {
    const { position } = this;
    const small = position.board.p * position.board.chunks * position.board.n <= CHECKED_OPS;
    return candidates(position, rank)
      .concat(this.#pairs(rank))
      .filter(({ reason, kind }) => !reason && this.#isAllowed(kind))
      .filter((each) => !small || !this.#isDead(each));
  }

  #isAllowed(kind: number) {
    return kind === KIND_PAIR ? this.aim === null : this.kinds.includes(LETTERS[kind]); // no task has pairs
  }

  /** Overlapped pairs of a rank's two chunks, where one may come next. */
  #pairs(rank: number) {
    if (this.board.chunks !== 2) return [];
    return [pairCandidate(this.position, rank, 0, 1), pairCandidate(this.position, rank, 1, 0)];
  }

  /** What the palette offers for the present rank. */
  options(): (Candidate & { id: string; label: string })[] {
    const { position, rank, board } = this;
    const list = [KIND_F, KIND_B, KIND_I, KIND_W].flatMap((kind) =>
      Array.from({ length: board.chunks }, (_, chunk) => candidate(position, rank, kind, chunk)),
    );
    const allowed = list.concat(this.#pairs(rank)).filter(({ kind }) => this.#isAllowed(kind));
    return allowed.map((each) => ({
      ...each,
      id: `${each.kind === KIND_PAIR ? "P" : LETTERS[each.kind]}${each.chunk}`,
      label: each.op < 0 ? "" : textOf(board, rank, each.op),
    }));
  }

  /** Choose what Enter places. */
  choose(id: string) {
    const found = this.options().find((each) => each.id === id);
    if (!found) return;
    this.pick = id;
    const { reason, label } = found;
    this.#tell(reason ? asSentence(reason.brief) : t("{op} can come next.", { op: label }));
  }

  /** Choose a kind; again, its next chunk, one that may come next if there is any. */
  chooseKind(letter: string) {
    const ofKind = this.options().filter(({ id }) => id.startsWith(letter));
    if (!ofKind.length) return;
    const at = ofKind.findIndex(({ id }) => id === this.pick);
    const rest = [...ofKind.slice(at + 1), ...ofKind.slice(0, at + 1)];
    const legal = rest.find(({ reason }) => !reason);
    this.choose((legal ?? rest[0]).id);
  }

  /** Choose the option before or after. */
  chooseBy(by: number) {
    const all = this.options();
    const at = all.findIndex(({ id }) => id === this.pick);
    this.choose(all[(at + by + all.length) % all.length].id);
  }

  /** Place what is chosen on a rank. */
  placePick(rank: number = this.rank) {
    this.rank = rank;
    const found = this.options().find(({ id }) => id === this.pick);
    if (!found) return false;
    if (found.op < 0) return this.refuse(rank, asSentence(found.reason?.brief ?? ""));
    return this.place(rank, found.op);
  }

  place(rank: number, op: number) {
    this.rank = rank;
    const { position, board } = this;
    const text = textOf(board, rank, op);
    if (!this.free) {
      const reason = reasonAgainst(position, rank, op);
      if (reason) return this.refuse(rank, asSentence(reason.brief));
      if (this.#isDead({ rank, op }))
        return this.refuse(
          rank,
          t("After {op} the rest could not be completed: the memory limit of {limit} would leave no way on.", {
            op: text,
            limit: num(board.limit ?? 0),
          }),
        );
    }
    const next = place(position, rank, op);
    const { times } = timesOf(next);
    const i = scheduleOf(next).offsets[rank + 1] - 1;
    const placed = Number.isFinite(times.end[i])
      ? t("{op} is placed on rank {rank}, from {from} to {to}.", {
          op: text,
          rank,
          from: num(times.start[i]),
          to: num(times.end[i]),
        })
      : t("{op} is placed on rank {rank} and waits for its input.", { op: text, rank });
    this.go(next, isWhole(next) ? `${placed}${t(" ")}${t("The order is complete.")}` : placed);
    return true;
  }

  /** Whether a forward surely leads to a position that cannot be completed. */
  #isDead({ rank, op }: { rank: number; op: number }) {
    const { position, board } = this;
    if (board.limit === null || codeOf(op) >= board.chunks) return false;
    const room = tablesOf(position).level.every((level) => level + board.chunks + 1 <= (board.limit ?? 0) * board.v);
    return !room && canComplete(place(position, rank, op)).answer === "no" && canComplete(position).answer !== "no";
  }

  /** Take back the last ops of a rank, from an index on, and in strict mode all that needs them. */
  takeBack(rank: number = this.rank, from: number = this.position.rows[rank].length - 1) {
    const { position, board } = this;
    const row = position.rows[rank];
    if (!row.length) return this.refuse(rank, t("Rank {rank} has no op to take back.", { rank }));
    const op = textOf(board, rank, row[from]);
    const shorter = cut(position, rank, from);
    const next = this.free ? shorter : withoutWaiting(shorter);
    const behind = row.length - from - 1;
    const more = position.count - next.count - 1;
    return this.go(
      next,
      !more
        ? t("{op} is taken back.", { op })
        : behind
          ? t("{op} is taken back, and {more} ops that come after it or need it.", { op, more })
          : t("{op} is taken back, and {more} ops that need it.", { op, more }),
    );
  }

  /** Go to an edited position if the mode allows it. */
  edit(next: Position, rank: number, sentence: string) {
    if (!this.free) {
      const [first] = violations(next);
      if (first) return this.refuse(rank, asSentence(first.reason.text));
      if (withoutWaiting(next).count < next.count)
        return this.refuse(rank, t("Ops would wait for one that is not placed; free mode allows it."));
    }
    return this.go(next, sentence);
  }
}

/** A position without the ops that cannot run. */
export function withoutWaiting(position: Position): Position {
  const { at } = timesOf(position);
  const { offsets } = scheduleOf(position);
  const rows = position.rows.map((row, r) => (at[r] < offsets[r + 1] ? row.slice(0, at[r] - offsets[r]) : row));
  const count = rows.reduce((sum, row) => sum + row.length, 0);
  return count === position.count ? position : { board: position.board, rows, count };
}

/** A reason as a sentence. */
export const asSentence = (text: string) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${t(".")}` : text);
