// The look of the lessons' pages: of the address, else as this browser last had it there.
import { createAppearance } from "../appearance.js";
import { applyAppearance } from "../../ui/appearance.js";
import { recall, remember } from "../../ui/remembered.js";

/** @import {Look, LookStore} from "../appearance.js" */

const NAME = "look";
const KEYS = /** @type {const} */ (["theme", "colours", "hatch"]);
/** @type {Record<string, string[]>} */
const CHOICES = { theme: ["auto", "light", "dark"], colours: ["paper"], hatch: ["1"] };

/** @returns {Look} */
function readLook() {
  const asked = new URLSearchParams(location.search);
  const kept = new URLSearchParams(recall(NAME) ?? "");
  const [theme, colours, hatch] = KEYS.map((key) =>
    [asked.get(key), kept.get(key)].find((text) => text !== null && CHOICES[key].includes(text)),
  );
  return {
    theme: /** @type {Look["theme"]} */ (theme ?? "auto"),
    colours: colours ?? null,
    hatch: hatch ?? null,
    lang: null,
  };
}

/** Keys of a query that give a view this look. @param {Look} look */
export const lookQuery = (look) =>
  KEYS.map((key) => (look[key] && look[key] !== "auto" ? `&${key}=${look[key]}` : "")).join("");

/** A store of nothing but the look, which it applies and keeps. */
export function createLook() {
  let state = { view: readLook() };
  /** @type {((state: {view: Look}, before: {view: Look}) => void)[]} */
  const listeners = [];
  /** @type {LookStore} */
  const store = {
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

/** The menu behind the button; a language is another address. @param {LookStore} look */
export function createLookMenu(look) {
  createAppearance(look, (lang) => {
    const address = new URL(location.href);
    address.searchParams.set("lang", lang);
    location.href = address.href;
  });
}
