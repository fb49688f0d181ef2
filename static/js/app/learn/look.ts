// The look of the lessons' pages: of the address, else as this browser last had it there.
import { createAppearance, type Look, type LookStore } from "../appearance.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { recall, remember } from "../../ui/remembered.ts";

const NAME = "look";
const KEYS = ["theme", "colours", "hatch"] as const;
const CHOICES: Record<string, string[]> = { theme: ["auto", "light", "dark"], colours: ["paper"], hatch: ["1"] };

function readLook(): Look {
  const asked = new URLSearchParams(location.search);
  const kept = new URLSearchParams(recall(NAME) ?? "");
  const [theme, colours, hatch] = KEYS.map((key) =>
    [asked.get(key), kept.get(key)].find((text) => text !== null && CHOICES[key].includes(text)),
  );
  return {
    theme: (theme ?? "auto") as Look["theme"],
    colours: colours ?? null,
    hatch: hatch ?? null,
    lang: null,
  };
}

/** Keys of a query that give a view this look. */
export const lookQuery = (look: Look) =>
  KEYS.map((key) => (look[key] && look[key] !== "auto" ? `&${key}=${look[key]}` : "")).join("");

/** A store of nothing but the look, which it applies and keeps. */
export function createLook() {
  let state = { view: readLook() };
  const listeners: ((state: { view: Look }, before: { view: Look }) => void)[] = [];
  const store: LookStore = {
    get: () => state,
    setView(patch) {
      const before = state;
      state = { view: { ...state.view, ...patch } };
      remember(NAME, lookQuery(state.view).slice(1));
      applyAppearance(state.view);
      for (const listener of listeners) listener(state, before);
    },
    subscribe: (listener) => {
      listeners.push(listener);
    },
  };
  return store;
}

/** The menu behind the button; a language is another address. */
export function createLookMenu(look: LookStore) {
  createAppearance(look, (lang) => {
    const address = new URL(location.href);
    address.searchParams.set("lang", lang);
    location.href = address.href;
  });
}
