// Keyboard shortcuts and gestures: one table that the keyboard follows and that the Shortcuts tab shows.
import { h } from "../ui/dom.ts";
import { t } from "../core/i18n/language.ts";
import type { Binding } from "../ui/keyboard.ts";

type Act =
  | "zoomIn"
  | "zoomOut"
  | "panLeft"
  | "panRight"
  | "pageUp"
  | "pageDown"
  | "fit"
  | "next"
  | "previous"
  | "up"
  | "down"
  | "play"
  | "stepBack"
  | "stepOn"
  | "help"
  | "clear"
  | "enter"
  | "strips"
  | "areaLeft"
  | "areaRight"
  | "areaUp"
  | "areaDown"
  | "mark"
  | "pin"
  | "openFind"
  | "undo"
  | "redo";

export function bindings(acts: Record<Act, () => void>): Binding[] {
  const [play, look, select, area, show] = sections();
  return [
    { section: play, keys: [" "], label: t("Space"), description: t("play and pause"), act: acts.play },
    {
      section: play,
      keys: ["ArrowLeft"],
      label: "←",
      description: t("playhead back to where an op or a copy starts or ends"),
      act: acts.stepBack,
    },
    {
      section: play,
      keys: ["ArrowRight"],
      label: "→",
      description: t("playhead on to the next such moment"),
      act: acts.stepOn,
    },
    { section: look, keys: ["w", "W"], label: "W", description: t("zoom in"), act: acts.zoomIn },
    { section: look, keys: ["s", "S"], label: "S", description: t("zoom out"), act: acts.zoomOut },
    { section: look, keys: ["a", "A"], label: "A", description: t("pan to earlier"), act: acts.panLeft },
    { section: look, keys: ["d", "D"], label: "D", description: t("pan to later"), act: acts.panRight },
    { section: look, keys: ["f", "F"], label: "F", description: t("fit what is selected, then all"), act: acts.fit },
    {
      section: look,
      keys: ["PageUp"],
      label: "Page ↑",
      description: t("ranks above, where not all fit"),
      act: acts.pageUp,
    },
    { section: look, keys: ["PageDown"], label: "Page ↓", description: t("ranks below"), act: acts.pageDown },
    { section: select, keys: ["."], label: ".", description: t("next op on the row"), act: acts.next },
    { section: select, keys: [","], label: ",", description: t("previous op on the row"), act: acts.previous },
    { section: select, keys: ["ArrowUp"], label: "↑", description: t("the row above"), act: acts.up },
    { section: select, keys: ["ArrowDown"], label: "↓", description: t("the row below"), act: acts.down },
    {
      section: select,
      keys: ["Enter"],
      label: "Enter",
      description: t("select the op or the idle time under the pointer, else the idle time before the selected op"),
      act: acts.enter,
    },
    { section: select, keys: ["/"], label: "/", description: t("find ops: 2F5, or F5, 2F, 5"), act: acts.openFind },
    {
      section: select,
      keys: ["Escape"],
      label: "Esc",
      description: t("clear what was found, the area, the selection, then the playhead"),
      act: acts.clear,
    },
    {
      section: area,
      keys: ["ArrowRight"],
      shift: true,
      label: "Shift →",
      description: t("grow an area from the selected op"),
      act: acts.areaRight,
    },
    {
      section: area,
      keys: ["ArrowLeft"],
      shift: true,
      label: "Shift ←",
      description: t("its moving edge to the op edge before"),
      act: acts.areaLeft,
    },
    {
      section: area,
      keys: ["ArrowDown"],
      shift: true,
      label: "Shift ↓",
      description: t("the area down by a rank"),
      act: acts.areaDown,
    },
    {
      section: area,
      keys: ["ArrowUp"],
      shift: true,
      label: "Shift ↑",
      description: t("the area up by a rank"),
      act: acts.areaUp,
    },
    {
      section: area,
      keys: ["m", "M"],
      label: "M",
      description: t("put or remove a mark: at the pointer, the selected op or the playhead"),
      act: acts.mark,
    },
    {
      section: area,
      keys: ["p", "P"],
      label: "P",
      description: t("pin or unpin the selected op's rank"),
      act: acts.pin,
    },
    {
      section: show,
      keys: ["h", "H"],
      label: "H",
      description: t("memory that each rank holds: show and hide"),
      act: acts.strips,
    },
    ...steps(acts, show),
    { section: show, keys: ["?"], label: "?", description: t("all shortcuts"), act: acts.help },
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

/** Back and forward through the gestures. */
const steps = (acts: Record<"undo" | "redo", () => void>, section: string): Binding[] => [
  {
    section,
    ctrl: true,
    keys: ["z"],
    label: "Ctrl Z",
    description: t("undo the last change"),
    act: acts.undo,
  },
  {
    section,
    ctrl: true,
    keys: ["Z", "y"],
    label: "Ctrl ⇧ Z",
    description: t("redo it"),
    act: acts.redo,
  },
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
