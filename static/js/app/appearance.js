// The menu of theme, colours, hatching and language. All of it is in the link, so that a shared view looks the same.
import { byId, h, setText } from "../ui/dom.js";
import { LANGUAGES } from "../ui/languages.js";
import { language, t } from "../core/i18n/language.js";

/** @import {ViewState} from "../core/state/link.js" */
/** @typedef {Pick<ViewState, "theme" | "colours" | "hatch" | "lang">} Look */
/**
 * @typedef {object} LookStore  the page's store, or one that keeps nothing but a look
 * @property {() => {view: Look}} get
 * @property {(patch: Partial<Look>, how?: "push") => void} setView
 * @property {(listener: (state: {view: Look}, before: {view: Look}) => void) => void} subscribe
 */

const SIGNS = { auto: "◐", light: "○", dark: "●" };

/** @param {LookStore} store @returns {(lang: string) => void} */
const reloadIn = (store) => (lang) => {
  store.setView({ lang }, "push");
  location.reload(); // each text is written once, when its element is made
};

/** The menu behind the button. @param {LookStore} store @param {(lang: string) => void} [speak] */
export function createAppearance(store, speak = reloadIn(store)) {
  const button = byId("theme");
  const groups = [
    group(
      "theme",
      t("Theme"),
      [
        ["auto", t("System")],
        ["light", t("Light")],
        ["dark", t("Dark")],
      ],
      (theme) => store.setView({ theme: /** @type {any} */ (theme) }),
    ),
    group(
      "colours",
      t("Colours"),
      [
        ["standard", t("Standard")],
        ["paper", t("As in papers")],
      ],
      (value) => store.setView({ colours: value === "paper" ? value : null }),
    ),
    group(
      "hatch",
      t("Kinds of op"),
      [
        ["0", t("Colour and bars")],
        ["1", t("Also hatched")],
      ],
      (value) => store.setView({ hatch: value === "1" ? value : null }),
    ),
    group(
      "lang",
      t("Language"),
      LANGUAGES.map(({ code, name }) => [code, name]),
      speak,
    ),
  ];
  const node = h(
    "div",
    {
      id: "appearance",
      class: "popup menu",
      popover: "auto",
      role: "dialog",
      "aria-label": t("Appearance and language"),
    },
    ...groups.map((each) => each.node),
  );
  document.body.append(node);
  button.setAttribute("popovertarget", "appearance");
  button.setAttribute("aria-haspopup", "dialog");
  node.addEventListener("beforetoggle", () => {
    const box = button.getBoundingClientRect(); // placed before it is shown, so that nothing moves under a pointer
    node.style.setProperty("--top", `${box.bottom + 6}px`);
    node.style.setProperty("--right", `${Math.max(8, innerWidth - box.right)}px`);
  });
  node.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
    /** @type {HTMLElement | null} */ (node.querySelector("input:checked"))?.focus();
  });
  node.addEventListener("keydown", (event) => event.stopPropagation()); // not the timeline's shortcuts

  /** @param {Look} view */
  function sync(view) {
    setText(button, SIGNS[view.theme]);
    button.title = t("Appearance and language");
    button.setAttribute("aria-label", button.title);
    const now = [view.theme, view.colours ?? "standard", view.hatch ?? "0", language()];
    groups.forEach((each, at) => each.set(now[at]));
  }
  store.subscribe(({ view }, before) => {
    if (view !== before.view) sync(view);
  });
  sync(store.get().view);
}

/**
 * Buttons of which one is chosen.
 * @param {string} name
 * @param {string} title
 * @param {string[][]} options
 * @param {(value: string) => void} pick
 */
function group(name, title, options, pick) {
  const inputs = options.map(([value]) =>
    h("input", {
      type: "radio",
      name: `look-${name}`,
      value,
      id: `look-${name}-${value}`,
      onchange: () => pick(value),
    }),
  );
  const node = h(
    "fieldset",
    { class: "segments" },
    h("legend", { text: title }),
    h(
      "div",
      {},
      ...options.map(([value, text], at) =>
        h("label", { lang: name === "lang" ? value : null }, inputs[at], h("span", { text })),
      ),
    ),
  );
  /** @param {string} value */
  const set = (value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { node, set };
}
