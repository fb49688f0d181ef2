// Keyboard shortcuts and gestures: one table that the keyboard follows and that the Shortcuts tab shows.
import { h } from "../ui/dom.ts";
import { t } from "../core/i18n/language.ts";
import { binding, type Binding } from "../ui/keyboard.ts";
import type { createActions } from "./actions.ts";

type Acts = ReturnType<typeof createActions>;

export function bindings(acts: Acts): Binding[] {
  const [play, look, select, area, show] = sections();
  return [
    binding(play, [" "], t("Space"), t("play and pause"), acts.play),
    binding(play, ["ArrowLeft"], "←", t("playhead back to where an op or a copy starts or ends"), acts.stepBack),
    binding(play, ["ArrowRight"], "→", t("playhead on to the next such moment"), acts.stepOn),
    binding(look, ["w", "W"], "W", t("zoom in"), acts.zoomIn),
    binding(look, ["s", "S"], "S", t("zoom out"), acts.zoomOut),
    binding(look, ["a", "A"], "A", t("pan to earlier"), acts.panLeft),
    binding(look, ["d", "D"], "D", t("pan to later"), acts.panRight),
    binding(look, ["f", "F"], "F", t("fit what is selected, then all"), acts.fit),
    binding(look, ["PageUp"], "Page ↑", t("ranks above, where not all fit"), acts.pageUp),
    binding(look, ["PageDown"], "Page ↓", t("ranks below"), acts.pageDown),
    binding(select, ["."], ".", t("next op on the row"), acts.next),
    binding(select, [","], ",", t("previous op on the row"), acts.previous),
    binding(select, ["ArrowUp"], "↑", t("the row above"), acts.up),
    binding(select, ["ArrowDown"], "↓", t("the row below"), acts.down),
    binding(
      select,
      ["Enter"],
      "Enter",
      t("select the op or the idle time under the pointer, else the idle time before the selected op"),
      acts.enter,
    ),
    binding(select, ["/"], "/", t("find ops: 2F5, or F5, 2F, 5"), acts.openFind),
    binding(
      select,
      ["Escape"],
      "Esc",
      t("clear what was found, the area, the selection, then the playhead"),
      acts.clear,
    ),
    binding(area, ["ArrowRight"], "Shift →", t("grow an area from the selected op"), acts.areaRight, { shift: true }),
    binding(area, ["ArrowLeft"], "Shift ←", t("its moving edge to the op edge before"), acts.areaLeft, { shift: true }),
    binding(area, ["ArrowDown"], "Shift ↓", t("the area down by a rank"), acts.areaDown, { shift: true }),
    binding(area, ["ArrowUp"], "Shift ↑", t("the area up by a rank"), acts.areaUp, { shift: true }),
    binding(
      area,
      ["m", "M"],
      "M",
      t("put or remove a mark: at the pointer, the selected op or the playhead"),
      acts.mark,
    ),
    binding(area, ["P"], "Shift P", t("pin or unpin the selected op's rank"), acts.pin),
    binding(show, ["h", "H"], "H", t("memory that each rank holds: show and hide"), acts.strips),
    binding(show, ["z"], "Ctrl Z", t("undo the last change"), acts.undo, { ctrl: true }),
    binding(show, ["Z", "y"], "Ctrl ⇧ Z", t("redo it"), acts.redo, { ctrl: true }),
    binding(show, ["?"], "?", t("all shortcuts"), acts.help),
  ];
}

/** The headings of the tab. */
const sections = () => [
  t("Play"),
  t("Look around"),
  t("Select and find"),
  t("Areas, marks, pins"),
  t("Show"),
  t("Explain"),
];

/** Gestures of the mouse and the pen. */
const gestures = () => [
  { label: t("Click"), description: t("select an op") },
  { label: t("Drag"), description: t("pan, in time and over the ranks") },
  { label: t("Shift + drag"), description: t("select an area; drag its edges to resize it") },
  { label: t("Shift + click"), description: t("an area from the selected op to this one") },
  { label: t("Drag the axis"), description: t("move the playhead") },
  { label: t("Alt or Ctrl"), description: t("while dragging: do not snap to the edges of ops") },
  { label: t("Rank's number"), description: t("a click pins that rank on top of its schedule") },
  { label: t("A mark's flag"), description: t("a click removes it") },
  { label: t("Ctrl + wheel"), description: t("zoom at the pointer") },
  { label: t("Shift + wheel"), description: t("pan") },
  { label: t("Wheel"), description: t("scroll the ranks, where not all fit") },
  { label: t("Minimap"), description: t("drag the window or its edges; a click centres it") },
];

/** Gestures on a touch screen. */
const touches = () => [
  { label: t("Tap"), description: t("select an op, or pin a rank by its number") },
  { label: t("One finger"), description: t("pan") },
  { label: t("Two fingers"), description: t("zoom") },
  { label: t("Press and hold"), description: t("then drag: select an area") },
];

type Line = { label: string; description: string };

/** The Shortcuts tab. */
export function createShortcuts(all: Binding[]) {
  const byKey = sections().map((title) =>
    list(
      title,
      all.filter((each) => each.section === title),
    ),
  );
  return h(
    "div",
    h("div.keys", ...byKey, list(t("Mouse and pen"), gestures(), "gestures"), list(t("Touch"), touches(), "gestures")),
    h(
      "p.note",
      t("Marks: ● solid red, what the op needs. ▶ dashed green, what it unblocks."),
      t(" "),
      t(
        "A bar below an op is an input gradient (I), above it a weight gradient (W), both a full backward (B); " +
          "none is a forward (F).",
      ),
      t(" "),
      t(
        "Under a run's row, the messages that its rank sends last until they are known to have come, those it " +
          "receives as long as it waited for them; where they are few, lines lead from sender to receiver.",
      ),
      t(" "),
      t(
        "A corner above marks a shard of the output layer (S), one below its gradients (T). On a copy lane ▲ " +
          "goes to host memory and ▼ comes back.",
      ),
    ),
  );
}

function list(title: string, lines: Line[], cls?: string) {
  return h(
    "section",
    { class: cls },
    h("h3", { text: title }),
    h(
      "ul",
      ...lines.map(({ label, description }) => h("li", h("kbd", { text: label }), h("span", { text: description }))),
    ),
  );
}
