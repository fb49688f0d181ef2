// The palette under the board: which rank, which op and what it would cost, place it or take it back; ops can also be
// dragged onto a row. And, as soon as a move leads away from a task's goals, what to take back.
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num } from "../../core/i18n/numbers.ts";
import { moveCost, type MoveCost } from "../../core/workbench/bound.ts";
import { textOf } from "../../core/workbench/legality.ts";
import { isWhole } from "../../core/workbench/position.ts";
import { h, keepFocus, replace, setText, show } from "../../ui/dom.ts";
import { asSentence, type Session } from "../../core/workbench/session.ts";

/** Why a task's goals are out of reach, and the way back. */
export type Aside = { text: string; label: string; act: () => void };
/** looked: called when another move is looked at, null for none. */
type Parts = {
  session: Session;
  rankAt: (x: number, y: number) => number;
  aside: () => Aside | null;
  looked: (cost: MoveCost | null) => void;
};

const DRAG = 6; // px a press moves before it drags
const CHIP_KINDS = ["f", "i", "w", "b", "pair"];

export function createPalette({ session, rankAt, aside, looked }: Parts) {
  const rankNode = h("output#bench-rank", { "aria-live": "off" });
  const options = h("div#palette-ops.palette-ops", { role: "group", "aria-label": t("Op to place") });
  const why = h("span");
  const back = h("button#bench-return.button.soft", { hidden: true, onclick: () => away?.act() });
  const line = h("p#palette-why.palette-why", why, back);
  let away: Aside | null = null;
  let looking: MoveCost | null = null;
  const button = (id: string, text: string, label: string, act: () => void, kind = "soft") =>
    h("button", { class: `button ${kind}`, id, title: label, "aria-label": label, onclick: act }, text);
  const undo = button("bench-undo", "↶", t("Undo (Ctrl Z)"), () => session.undo());
  const redo = button("bench-redo", "↷", t("Redo (Ctrl Shift Z)"), () => session.redo());
  const place = button("bench-place", t("Place"), t("Place what is chosen (Enter)"), () => session.placePick());
  const node = h(
    "div#palette.palette",
    h(
      "div.row.palette-row",
      h("span.palette-rank", h("span", { text: t("Rank") }), " ", rankNode),
      button("bench-rank-up", "▲", t("The rank above (↑)"), () => session.setRank(session.rank - 1)),
      button("bench-rank-down", "▼", t("The rank below (↓)"), () => session.setRank(session.rank + 1)),
      options,
      place,
      button("bench-back", "⌫", t("Take back the rank's last op (Backspace)"), () => session.takeBack()),
      undo,
      redo,
    ),
    line,
  );

  function sync() {
    setText(rankNode, String(session.rank));
    const all = session.options();
    const split = all.filter(({ reason, op }) => op >= 0 || !reason);
    keepFocus(options, () => replace(options, ...split.map(optionNode)));
    const chosen = all.find(({ id }) => id === session.pick);
    const open = chosen !== undefined && (session.free || !chosen.reason) && !isWhole(session.position);
    place.classList.toggle("primary", open);
    place.classList.toggle("soft", !open);
    place.setAttribute("aria-disabled", String(isWhole(session.position)));
    write();
    undo.disabled = session.steps.undo === 0;
    redo.disabled = session.steps.redo === 0;
  }

  /** One line: what leads away from the goals; else the move that is looked at; else the one that is chosen. */
  function write() {
    const chosen = session.options().find(({ id }) => id === session.pick);
    const whole = isWhole(session.position);
    const refused = !whole && !looking && Boolean(chosen?.reason);
    const cost = looking ?? (chosen && !chosen.reason ? costOf(session.rank, chosen.op) : null);
    const text = whole
      ? t("The order is complete.")
      : refused
        ? asSentence(chosen?.reason?.brief ?? "")
        : cost
          ? costText(cost)
          : "";
    setText(why, away?.text ?? text);
    line.classList.toggle("is-refused", refused || away !== null);
    show(back, away !== null);
    setText(back, away?.label ?? "");
  }

  const costOf = (rank: number, op: number) =>
    op < 0 ? null : moveCost(session.position, rank, op, session.backward === "full");

  /** When the op would run, how long the step is at least then, and what its rank would hold. */
  function costText({ rank, op, from, to, idle, held, ...bound }: MoveCost) {
    const { board, aim } = session;
    const [before, after] = [bound.before, bound.after].map((each) => Math.max(each, aim?.least ?? 0));
    const limit = board.limit ?? Infinity;
    const values = { op: textOf(board, rank, op), rank, from: num(from), to: num(to), idle: num(idle) };
    return [
      idle > 0
        ? t("{op} on rank {rank}: {from} to {to}, after {idle} idle", values)
        : t("{op} on rank {rank}: {from} to {to}", values),
      after > before
        ? t("step at least {before} → {after}", { before: num(before), after: num(after) })
        : t("step at least {after} as before", { after: num(after) }),
      limit < Infinity
        ? t("memory {held} of {limit}", { held: num(held), limit: num(limit) })
        : t("memory {held}", { held: num(held) }),
    ].join(" · ");
  }

  /** Look at the move of an op, or at none. */
  function look(rank: number, op: number) {
    looking = costOf(rank, op);
    write();
    looked(looking);
  }

  function optionNode({ id, kind, label, reason, op }: ReturnType<Session["options"]>[number]) {
    const text = label.replace(/^\((.*);(.*)\)OVERLAP_F_B$/, "$1+$2");
    const chip = h(
      "button",
      {
        class: `chip chip-${CHIP_KINDS[kind]}${reason ? " is-illegal" : ""}`,
        id: `op-${id}`,
        "data-op": text,
        "aria-pressed": String(id === session.pick),
        "aria-describedby": id === session.pick ? "palette-why" : null,
        title: reason ? reason.brief : t("Choose it, then place it on a row; or drag it there"),
        onclick: () => session.choose(id),
      },
      text,
    );
    drag(chip, () => session.choose(id), drop);
    const shown = reason ? -1 : op;
    for (const event of ["pointerenter", "focus"]) chip.addEventListener(event, () => look(session.rank, shown));
    for (const event of ["pointerleave", "blur"]) chip.addEventListener(event, () => look(session.rank, -1));
    return chip;
  }

  function drop(x: number, y: number) {
    const at = rankAt(x, y);
    if (at >= 0) session.placePick(at);
  }

  session.onChange(({ refused, moved }) => {
    looking = null;
    if (moved) {
      looked(null);
      away = aside();
    }
    sync();
    if (refused?.sentence === why.textContent) setText(why, ""); // it is said at the row
  });
  sync();
  return { node, look };
}

/** Drag an op's button onto a row, with any pointer. */
function drag(node: HTMLElement, begin: () => void, drop: (x: number, y: number) => void) {
  node.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    let shadow: HTMLElement | null = null;
    const move = (event: PointerEvent) => {
      if (event.pointerId !== down.pointerId) return;
      if (!shadow && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG) return;
      if (!shadow) {
        shadow = node.cloneNode(true) as HTMLElement;
        shadow.removeAttribute("id");
        shadow.classList.add("is-dragged");
        shadow.setAttribute("aria-hidden", "true");
        document.body.append(shadow);
      }
      shadow.style.left = `${event.clientX}px`;
      shadow.style.top = `${event.clientY}px`;
      event.preventDefault();
    };
    const end = (event: PointerEvent) => {
      if (event.pointerId !== down.pointerId) return;
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      if (!shadow) return;
      shadow.remove();
      if (event.type !== "pointerup") return;
      begin();
      drop(event.clientX, event.clientY);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  });
}
