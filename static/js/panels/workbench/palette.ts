// The palette under the board: which rank, which op, place it or take it back; ops can also be dragged onto a row.
import { t } from "../../core/i18n/language.ts";
import { isWhole } from "../../core/workbench/position.ts";
import { h, keepFocus, replace, setText } from "../../ui/dom.ts";
import { asSentence, type Session } from "../../core/workbench/session.ts";

type Parts = { session: Session; rankAt: (x: number, y: number) => number };

const DRAG = 6; // px a press moves before it drags
const CHIP_KINDS = ["f", "i", "w", "b", "pair"];

export function createPalette({ session, rankAt }: Parts) {
  const rank = h("output#bench-rank", { "aria-live": "off" });
  const options = h("div#palette-ops.palette-ops", { role: "group", "aria-label": t("Op to place") });
  const why = h("p#palette-why.palette-why");
  const button = (id: string, text: string, label: string, act: () => void, kind = "soft") =>
    h("button", { class: `button ${kind}`, id, title: label, "aria-label": label, onclick: act }, text);
  const undo = button("bench-undo", "↶", t("Undo (Ctrl Z)"), () => session.undo());
  const redo = button("bench-redo", "↷", t("Redo (Ctrl Shift Z)"), () => session.redo());
  const node = h(
    "div#palette.palette",
    h(
      "div.row.palette-row",
      h("span.palette-rank", h("span", { text: t("Rank") }), " ", rank),
      button("bench-rank-up", "▲", t("The rank above (↑)"), () => session.setRank(session.rank - 1)),
      button("bench-rank-down", "▼", t("The rank below (↓)"), () => session.setRank(session.rank + 1)),
      options,
      button("bench-place", t("Place"), t("Place what is chosen (Enter)"), () => session.placePick(), "primary"),
      button("bench-back", "⌫", t("Take back the rank's last op (Backspace)"), () => session.takeBack()),
      undo,
      redo,
    ),
    why,
  );

  function sync() {
    setText(rank, String(session.rank));
    const all = session.options();
    const split = all.filter(({ reason, op }) => op >= 0 || !reason);
    keepFocus(options, () => replace(options, ...split.map(optionNode)));
    const chosen = all.find(({ id }) => id === session.pick);
    setText(
      why,
      isWhole(session.position)
        ? t("The order is complete.")
        : !chosen
          ? ""
          : chosen.reason
            ? asSentence(chosen.reason.brief)
            : t("{op} can come next on rank {rank}.", { op: chosen.label, rank: session.rank }),
    );
    why.classList.toggle("is-refused", Boolean(chosen?.reason) && !isWhole(session.position));
    undo.disabled = session.steps.undo === 0;
    redo.disabled = session.steps.redo === 0;
  }

  function optionNode({ id, kind, label, reason }: ReturnType<Session["options"]>[number]) {
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
    drag(chip, () => session.choose(id), place);
    return chip;
  }

  function place(x: number, y: number) {
    const at = rankAt(x, y);
    if (at >= 0) session.placePick(at);
  }

  session.onChange(({ refused }) => {
    sync();
    if (refused?.sentence === why.textContent) setText(why, ""); // it is said at the row
  });
  sync();
  return { node };
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
