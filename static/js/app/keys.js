// Every key the page knows: one table that both acts and explains itself.
import { t } from "../core/i18n/language.js";

/**
 * @typedef {{keys: string[], say: string, show: string, act: (event: KeyboardEvent) => void, shift?: boolean, part:
 *   string}} Binding shift: with the shift key, where the key itself does not say so; part: under which heading the
 *   keys tab lists it
 */

/**
 * @param {Record<"zoomIn" | "zoomOut" | "panLeft" | "panRight" | "pageUp" | "pageDown" | "fit" | "next" | "previous" |
 *   "up" | "down" | "play" | "stepBack" | "stepOn" | "help" | "clear" | "enter" | "strips" | "areaLeft" | "areaRight" |
 *   "areaUp" | "areaDown" | "mark" | "pin" | "openFind", () => void>} acts
 * @returns {Binding[]}
 */
export function bindings(acts) {
  const [play, look, select, area, show] = parts();
  return [
    { part: play, keys: [" "], show: t("Space"), say: t("play and pause"), act: acts.play },
    {
      part: play,
      keys: ["ArrowLeft"],
      show: "←",
      say: t("playhead back to where an op or a copy starts or ends"),
      act: acts.stepBack,
    },
    { part: play, keys: ["ArrowRight"], show: "→", say: t("playhead on to the next such moment"), act: acts.stepOn },
    { part: look, keys: ["w", "W"], show: "W", say: t("zoom in"), act: acts.zoomIn },
    { part: look, keys: ["s", "S"], show: "S", say: t("zoom out"), act: acts.zoomOut },
    { part: look, keys: ["a", "A"], show: "A", say: t("pan to earlier"), act: acts.panLeft },
    { part: look, keys: ["d", "D"], show: "D", say: t("pan to later"), act: acts.panRight },
    { part: look, keys: ["f", "F"], show: "F", say: t("fit what is selected, then all"), act: acts.fit },
    { part: look, keys: ["PageUp"], show: "Page ↑", say: t("ranks above, where not all fit"), act: acts.pageUp },
    { part: look, keys: ["PageDown"], show: "Page ↓", say: t("ranks below"), act: acts.pageDown },
    { part: select, keys: ["."], show: ".", say: t("next op on the row"), act: acts.next },
    { part: select, keys: [","], show: ",", say: t("previous op on the row"), act: acts.previous },
    { part: select, keys: ["ArrowUp"], show: "↑", say: t("the row above"), act: acts.up },
    { part: select, keys: ["ArrowDown"], show: "↓", say: t("the row below"), act: acts.down },
    { part: select, keys: ["Enter"], show: "Enter", say: t("select the op under the pointer"), act: acts.enter },
    { part: select, keys: ["/"], show: "/", say: t("find ops: 2F5, or F5, 2F, 5"), act: acts.openFind },
    {
      part: select,
      keys: ["Escape"],
      show: "Esc",
      say: t("clear what was found, the area, the selection, then the playhead"),
      act: acts.clear,
    },
    {
      part: area,
      keys: ["ArrowRight"],
      shift: true,
      show: "Shift →",
      say: t("grow an area from the selected op"),
      act: acts.areaRight,
    },
    {
      part: area,
      keys: ["ArrowLeft"],
      shift: true,
      show: "Shift ←",
      say: t("its moving edge to the op edge before"),
      act: acts.areaLeft,
    },
    {
      part: area,
      keys: ["ArrowDown"],
      shift: true,
      show: "Shift ↓",
      say: t("the area down by a rank"),
      act: acts.areaDown,
    },
    { part: area, keys: ["ArrowUp"], shift: true, show: "Shift ↑", say: t("the area up by a rank"), act: acts.areaUp },
    {
      part: area,
      keys: ["m", "M"],
      show: "M",
      say: t("put or remove a mark: at the pointer, the selected op or the playhead"),
      act: acts.mark,
    },
    { part: area, keys: ["p", "P"], show: "P", say: t("pin or unpin the selected op's rank"), act: acts.pin },
    { part: show, keys: ["h", "H"], show: "H", say: t("memory that each rank holds: show and hide"), act: acts.strips },
    { part: show, keys: ["?"], show: "?", say: t("all keys"), act: acts.help },
  ];
}

/** The headings of the keys tab. */
export const parts = () => [
  t("Play"),
  t("Look around"),
  t("Select and find"),
  t("Areas, marks, pins"),
  t("Show"),
  t("Explain"),
];

/** What the pointer does, for the same list. */
export const gestures = () => [
  { show: t("Click"), say: t("select an op") },
  { show: t("Drag"), say: t("pan, in time and over the ranks") },
  { show: t("Shift + drag"), say: t("select an area; drag its edges to resize it") },
  { show: t("Shift + click"), say: t("an area from the selected op to this one") },
  { show: t("Drag the axis"), say: t("move the playhead") },
  { show: t("Alt or Ctrl"), say: t("while dragging: do not snap to the edges of ops") },
  { show: t("Rank's number"), say: t("a click pins that rank on top of its schedule") },
  { show: t("A mark's flag"), say: t("a click removes it") },
  { show: t("Ctrl + wheel"), say: t("zoom at the pointer") },
  { show: t("Shift + wheel"), say: t("pan") },
  { show: t("Wheel"), say: t("scroll the ranks, where not all fit") },
  { show: t("Minimap"), say: t("drag the window or its edges; a click centres it") },
];

/** The same for a touch screen. */
export const touches = () => [
  { show: t("Tap"), say: t("select an op, or pin a rank by its number") },
  { show: t("One finger"), say: t("pan") },
  { show: t("Two fingers"), say: t("zoom") },
  { show: t("Press and hold"), say: t("then drag: select an area") },
];

const NAMED = /^(Arrow|Page|Home|End)/; // keys that shift does not turn into others

/** Keys act anywhere but where text or another control wants them. @param {Binding[]} table */
export function listenKeys(table) {
  document.addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.defaultPrevented ||
      document.querySelector("dialog:modal")
    )
      return;
    if (event.key === "Escape" && document.querySelector(":popover-open")) return; // it closes what is open
    const target = event.target instanceof Element ? event.target : null;
    const wants = wantsKeys(target);
    const binding = table.find(
      (each) => each.keys.includes(event.key) && (!NAMED.test(event.key) || (each.shift ?? false) === event.shiftKey),
    );
    if (!binding || wants === "all" || (wants === "some" && !/^([a-zA-Z?.,/[\]]|Escape)$/.test(event.key))) return;
    event.preventDefault();
    binding.act(event);
  });
}

/**
 * Does the focused control use keys itself: all of them (text), or the ones that act on a control?
 * @param {Element | null} node
 */
function wantsKeys(node) {
  if (!node || node.id === "plot" || node === document.body) return "none";
  if (node instanceof HTMLInputElement && node.type === "text") return "all";
  if (node.closest(".picker")) return "all";
  return node.closest("input, select, button, a, summary, [role=tab], [tabindex]") ? "some" : "none";
}
