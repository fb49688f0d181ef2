// Moves of many ops, edits of the selected op, free mode, and the order that is followed.
import { t } from "../../core/i18n/language.ts";
import { blocksWithin, goOn, stamp, type Continued } from "../../core/workbench/continue.ts";
import { runUntilStrange } from "../../core/workbench/hints.ts";
import { complete } from "../../core/workbench/greedy.ts";
import { wayTo, type Way } from "../../core/workbench/goals.ts";
import { move, rewind, scheduleOf, timesOf } from "../../core/workbench/position.ts";
import { textOf } from "../../core/workbench/legality.ts";
import { references } from "../../core/workbench/references.ts";
import { refOf } from "../../core/schedule/ops.ts";
import { h, isNew, setText, show } from "../../ui/dom.ts";
import { fillSelect, type Choice } from "../../ui/fields/choices.ts";
import type { Session } from "../../core/workbench/session.ts";

/** A selected stretch of the first lane. */
type Area = { t0: number; t1: number; first: number; last: number };
type Parts = {
  session: Session;
  area: () => Area | null;
  selected: () => number; // the flat index of the selected op, -1 for none
  select: (i: number) => void;
  setGhost: (name: string) => void;
  tell: (sentence: string) => void;
};

export function createMoves({ session, area, selected, select, setGhost, tell }: Parts) {
  /** What a run has stopped at. */
  let seen = new Set<string>();
  let seenOn = session.board;
  const ghost = h("select#bench-ghost", { onchange: () => setGhost(ghost.value) });
  const free = h("input#bench-free", { type: "checkbox", onchange: () => session.setFree(free.checked) });
  const copies = h("input#bench-copies", { type: "number", min: 1, max: 64, value: 1, inputmode: "numeric" });
  const edit = createEdit(session, selected, select);
  const fill = t("Place all the rest, always the op that can start first");
  const whole = button("bench-rest", t("Complete it"), fill, rest);
  const node = h(
    "section.bench-moves",
    { "aria-label": t("Moves") },
    h("h2", { text: t("Moves") }),
    edit.node,
    h(
      "div.row.bench-buttons",
      button("bench-rule", t("Go on by the rule"), t("Each rank repeats the pattern at the end of its row"), byRule),
      button("bench-strange", t("Run until something strange"), t("Place ops until one is worth a look"), strange),
      whole,
    ),
    h(
      "div.row.bench-stamp",
      button("bench-stamp", t("Stamp the selection"), t("Repeat the selected ops for the next micro-batches"), stampIt),
      h("label", { for: "bench-copies" }, t("times"), " ", copies),
    ),
    h("p.note", {
      text: t("Select ops with Shift and drag, press and hold, or Shift and the arrow keys; then stamp them."),
    }),
    h("label.check", free, h("span", { text: t("Free mode: place anything, see what is wrong") })),
    h("label.bench-field.wide", { for: "bench-ghost" }, h("span", { text: t("Follow an order") }), ghost),
  );

  function told({ position, placed, stops }: Continued, none: string) {
    const [first] = stops;
    const why = first
      ? t(" ") + t("Rank {rank} stopped: {reason}.", { rank: first.rank, reason: first.reason.text })
      : "";
    if (placed) session.go(position, `${t("{placed} ops were placed.", { placed })}${why}`);
    else session.refuse(first?.rank ?? session.rank, first ? `${none}${why}` : none);
  }

  function byRule() {
    told(goOn(session.position), t("No row ends in a pattern that goes on."));
  }

  function stampIt() {
    const selection = area();
    const found = selection ? blocksWithin(session.position, selection) : [];
    if (!found.length) {
      session.refuse(session.rank, t("Nothing is selected: select ops first, with Shift and drag or press and hold."));
      return;
    }
    const times = Math.max(1, Math.min(64, Math.floor(Number(copies.value)) || 1));
    told(stamp(session.position, found, times), t("Nothing of the selection can come next."));
  }

  function strange() {
    if (seenOn !== session.board) seen = new Set();
    seenOn = session.board;
    const way = session.aim && wayTo(session.aim, session.position);
    const follow = followed()?.position ?? way?.position ?? null;
    const stopped = runUntilStrange(session.position, follow, seen, session.backward ?? undefined);
    session.rank = stopped.rank < 0 ? session.rank : stopped.rank;
    session.go(stopped.position, stopped.sentence);
    tell(stopped.sentence);
  }

  function rest() {
    const next = complete(session.position, session.backward ?? undefined);
    session.go(next, t("{placed} ops were placed.", { placed: next.count - session.position.count }));
  }

  function followed(): Way | null {
    return references(session.board).find(({ name }) => name === ghost.value) ?? null;
  }

  function sync() {
    free.checked = session.free;
    show(whole, session.aim === null); // of a task it would be the solution
    const known = references(session.board);
    const none = session.aim ? t("none: hints lead to the goals") : t("none: hints by list scheduling");
    const names = known.map(({ name }) => name);
    if (!isNew(node, [none, ...names])) return;
    const present = ghost.value;
    const choices = known.map(({ name, title }): Choice => [name, title]);
    const value = known.some(({ name }) => name === present) ? present : "";
    fillSelect(ghost, [["", none], ...choices], value);
    if (value !== present) setGhost(value);
  }

  return {
    node,
    sync,
    followed,
    follow(name: string) {
      sync();
      ghost.value = name;
      if (ghost.value !== name) ghost.value = "";
      setGhost(ghost.value);
    },
    showSelected: edit.sync,
  };
}

const button = (id: string, text: string, title: string, act: () => void) =>
  h("button.button.soft", { id, title, onclick: act }, text);

/** What can be done with the selected op. */
function createEdit(session: Session, selected: () => number, select: (i: number) => void) {
  const name = h("span#bench-selected");
  const node = h(
    "div#bench-edit.row.bench-edit",
    { hidden: true, role: "group", "aria-label": t("The selected op") },
    name,
    button("bench-earlier", t("Earlier"), t("Move it before the op in front of it"), () => shift(-1)),
    button("bench-later", t("Later"), t("Move it behind the op that follows it"), () => shift(1)),
    button("bench-rewind", t("Back to here"), t("Take back all that begins from this op on"), toHere),
  );
  function shift(by: number) {
    const i = selected();
    if (i < 0) return;
    const { rank, index } = refOf(scheduleOf(session.position), i);
    const to = index + by;
    if (to < 0 || to >= session.position.rows[rank].length) return;
    const op = textOf(session.board, rank, session.position.rows[rank][index]);
    const moved = session.edit(
      move(session.position, rank, index, to),
      rank,
      by < 0 ? t("{op} comes one op earlier.", { op }) : t("{op} comes one op later.", { op }),
    );
    if (moved) select(i + by);
  }

  function toHere() {
    const i = selected();
    if (i < 0) return;
    const { times } = timesOf(session.position);
    const next = rewind(session.position, times.start[i]);
    session.go(next, t("{more} ops are taken back.", { more: session.position.count - next.count }));
  }

  return {
    node,
    /** Show it for the op that is selected, if one is. */
    sync() {
      const i = selected();
      show(node, i >= 0);
      if (i < 0) return;
      const { rank, index } = refOf(scheduleOf(session.position), i);
      setText(name, textOf(session.board, rank, session.position.rows[rank][index]));
    },
  };
}
