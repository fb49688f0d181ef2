// Keyboard shortcuts: finds the binding of a pressed key, unless the focused control needs that key itself.

export type Binding = {
  keys: string[]; // as KeyboardEvent.key names them
  label: string; // how the key is shown
  description: string; // what it does, for the Shortcuts tab
  section: string; // the heading in that tab
  act: (event: KeyboardEvent) => void;
  shift?: boolean; // with the shift key held, for keys that shift does not change
  ctrl?: boolean; // with Ctrl or ⌘ held; text fields keep such keys for themselves
};

/** A line of a table of keys: section, keys, their label, what they do, and what is called. */
export const binding = (
  section: string,
  keys: string[],
  label: string,
  description: string,
  act: () => void,
  more: Partial<Binding> = {},
): Binding => ({ section, keys, label, description, act, ...more });

const NAMED = /^(Arrow|Page|Home|End)/; // keys that shift does not change

/** The key's name; a letter is a capital with the shift key alone. */
const withoutCapsLock = ({ key, shiftKey }: KeyboardEvent) =>
  /^[a-z]$/i.test(key) ? (shiftKey ? key.toUpperCase() : key.toLowerCase()) : key;

/** Listen to keys everywhere, or inside an element, except where a text field or another control needs them. */
export function listenKeys(table: Binding[], home: Document | HTMLElement = document) {
  home.addEventListener("keydown", (given) => {
    const event = given as KeyboardEvent;
    if (event.altKey || event.defaultPrevented || document.querySelector("dialog:modal")) return;
    if (event.key === "Escape" && document.querySelector(":popover-open")) return; // it closes what is open
    const target = event.target instanceof Element ? event.target : null;
    const needed = keysNeededBy(target);
    const ctrl = event.ctrlKey || event.metaKey;
    const key = withoutCapsLock(event);
    const found = table.find(
      (each) =>
        each.keys.includes(key) &&
        (each.ctrl ?? false) === ctrl &&
        (!NAMED.test(key) || (each.shift ?? false) === event.shiftKey),
    );
    if (!found || needed === "all" || (needed === "some" && !/^([a-zA-Z?.,/[\]]|Escape)$/.test(event.key))) return;
    event.preventDefault();
    found.act(event);
  });
}

/** Which keys the focused control needs itself: all (text), some (those that act on a control), or none. */
function keysNeededBy(node: Element | null) {
  if (!node || node.id === "plot" || node === document.body) return "none";
  if (node instanceof HTMLInputElement && node.type === "text") return "all";
  if (node.closest(".picker")) return "all";
  return node.closest("input, select, button, a, summary, [role=tab], [tabindex]") ? "some" : "none";
}

export const isTooWide = (node: HTMLElement) => node.scrollWidth > node.clientWidth;

/** Let what is too wide for its place be focused, and so scrolled with the arrow keys. */
export function scrollByKeys(node: HTMLElement, label: string) {
  const given = { tabindex: "0", role: "group", "aria-label": label };
  const needed = isTooWide(node);
  for (const [name, value] of Object.entries(given))
    if (needed) node.setAttribute(name, value);
    else node.removeAttribute(name);
}
