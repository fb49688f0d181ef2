// How the page looks and speaks: light or dark, which colours the kinds have, hatching, the language. All of it is in
// the
// link, so a lecturer shares what the room should see.
import { byId, h, setText } from "../ui/dom.js";
import { LANGUAGES } from "../ui/languages.js";
import { language, t } from "../core/i18n/language.js";

/** @import {Store} from "../data/store.js" */
/** @import {ViewState} from "../core/state/link.js" */
/** @typedef {Pick<ViewState, "theme" | "colours" | "hatch">} Look */

const SIGNS = { auto: "◐", light: "○", dark: "●" };

/** Put a look on the page; the canvas must read its colours again afterwards. @param {Look} look */
export function wear({ theme, colours, hatch }) {
  const { dataset } = document.documentElement;
  dataset.theme = theme;
  dataset.colours = colours ?? "standard";
  dataset.hatch = hatch ?? "0";
}

/** @param {Look} a @param {Look} b */
export const sameLook = (a, b) => a.theme === b.theme && a.colours === b.colours && a.hatch === b.hatch;

/** The menu behind the button. @param {Store} store @param {() => void} repaint */
export function createAppearance(store, repaint) {
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
      (lang) => {
        store.setView({ lang }, "push");
        location.reload(); // every text of the page is written once, when it is made
      },
    ),
  ];
  const node = h(
    "div",
    { id: "appearance", class: "menu", popover: "auto", role: "dialog", "aria-label": t("Appearance and language") },
    ...groups.map((each) => each.node),
  );
  document.body.append(node);
  button.setAttribute("popovertarget", "appearance");
  button.setAttribute("aria-haspopup", "dialog");
  node.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "open") return;
    const box = button.getBoundingClientRect();
    node.style.setProperty("--top", `${box.bottom + 6}px`);
    node.style.setProperty("--right", `${Math.max(8, innerWidth - box.right)}px`);
    /** @type {HTMLElement | null} */ (node.querySelector("input:checked"))?.focus();
  });
  node.addEventListener("keydown", (event) => event.stopPropagation()); // the timeline's keys rest
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (store.get().view.theme === "auto") repaint();
  });

  /** As the state says. @param {ViewState} view */
  function set(view) {
    wear(view);
    setText(button, SIGNS[view.theme]);
    button.title = t("Appearance and language");
    button.setAttribute("aria-label", button.title);
    const now = [view.theme, view.colours ?? "standard", view.hatch ?? "0", language()];
    groups.forEach((each, at) => each.set(now[at]));
    repaint();
  }
  return { set };
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
