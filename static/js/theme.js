// Light, dark, or as the system says. The canvas must be told, because it reads its colours once.
import { byId } from "./dom.js";

/** @typedef {"auto" | "light" | "dark"} Theme */
/** @type {Theme[]} */
const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "○", dark: "●" };

/** @param {(theme: Theme) => void} pick @param {() => void} repaint */
export function createTheme(pick, repaint) {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  /** @type {Theme} */
  let theme = "auto";

  /** @param {Theme} next */
  function set(next) {
    theme = next;
    document.documentElement.dataset.theme = next;
    button.textContent = SIGNS[next];
    button.title = `Theme: ${next === "auto" ? "as the system" : next}`;
    button.setAttribute("aria-label", button.title);
    repaint();
  }
  button.addEventListener("click", () => pick(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]));
  dark.addEventListener("change", () => { if (theme === "auto") repaint(); });
  return { set };
}
