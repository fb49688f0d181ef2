// Every key the page knows: one table that both acts and explains itself.

/** @typedef {{keys: string[], say: string, show: string, act: (event: KeyboardEvent) => void}} Binding */

/**
 * @param {Record<"zoomIn" | "zoomOut" | "panLeft" | "panRight" | "fit" | "next" | "previous" | "up" | "down" | "play" |
 *   "stepBack" | "stepOn" | "help" | "clear" | "enter" | "strips", () => void>} acts
 * @returns {Binding[]}
 */
export function bindings(acts) {
  return [
    { keys: [" "], show: "Space", say: "play and pause", act: acts.play },
    { keys: ["ArrowLeft"], show: "←", say: "playhead back to the previous op's end", act: acts.stepBack },
    { keys: ["ArrowRight"], show: "→", say: "playhead on to the next op's end", act: acts.stepOn },
    { keys: ["w", "W"], show: "W", say: "zoom in", act: acts.zoomIn },
    { keys: ["s", "S"], show: "S", say: "zoom out", act: acts.zoomOut },
    { keys: ["a", "A"], show: "A", say: "pan to earlier", act: acts.panLeft },
    { keys: ["d", "D"], show: "D", say: "pan to later", act: acts.panRight },
    { keys: ["f", "F"], show: "F", say: "fit the selection, then all", act: acts.fit },
    { keys: ["."], show: ".", say: "next op on the row", act: acts.next },
    { keys: [","], show: ",", say: "previous op on the row", act: acts.previous },
    { keys: ["ArrowUp"], show: "↑", say: "the row above", act: acts.up },
    { keys: ["ArrowDown"], show: "↓", say: "the row below", act: acts.down },
    { keys: ["Enter"], show: "Enter", say: "select the op under the pointer", act: acts.enter },
    { keys: ["Escape"], show: "Esc", say: "clear the selection, then the playhead", act: acts.clear },
    { keys: ["h", "H"], show: "H", say: "memory that each rank holds: show and hide", act: acts.strips },
    { keys: ["?"], show: "?", say: "all keys", act: acts.help },
  ];
}

/** What the pointer does, for the same list. */
export const GESTURES = [
  { show: "Drag", say: "pan" },
  { show: "Drag the axis", say: "move the playhead" },
  { show: "Ctrl + wheel", say: "zoom at the pointer" },
  { show: "Shift + wheel", say: "pan" },
  { show: "Pinch", say: "zoom on a touch screen" },
  { show: "Click", say: "select an op" },
];

/** Keys act anywhere but where text or another control wants them. @param {Binding[]} table */
export function listenKeys(table) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : null;
    const wants = wantsKeys(target);
    const binding = table.find((each) => each.keys.includes(event.key));
    if (!binding || wants === "all" || (wants === "some" && !/^[a-zA-Z?.,]$/.test(event.key))) return;
    event.preventDefault();
    binding.act(event);
  });
}

/** Does the focused control use keys itself: all of them (text), or the ones that act on a control? @param {Element | null} node */
function wantsKeys(node) {
  if (!node || node.id === "plot" || node === document.body) return "none";
  if (node instanceof HTMLInputElement && node.type === "text") return "all";
  if (node.closest(".picker")) return "all";
  return node.closest("input, select, button, a, summary, [role=tab], [tabindex]") ? "some" : "none";
}
