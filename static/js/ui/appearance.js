// The look of the page as the link names it: theme, colours of the kinds of op, hatching; and who must draw anew.
import { readPalette } from "./palette.js";

/** @import {ViewState} from "../core/state/link.js" */
/** @typedef {Pick<ViewState, "theme" | "colours" | "hatch">} Appearance */

const system = matchMedia("(prefers-color-scheme: dark)");
/** @type {(() => void)[]} */
const tasks = [];

/** Whether a theme is dark here, now. @param {ViewState["theme"]} theme */
export const isDark = (theme) => (theme === "auto" ? system.matches : theme === "dark");

/** @param {Appearance} a @param {Appearance} b */
export const sameAppearance = (a, b) => a.theme === b.theme && a.colours === b.colours && a.hatch === b.hatch;

/** Apply a look to the page and draw anew what has colours of its own. @param {Appearance} appearance */
export function applyAppearance({ theme, colours, hatch }) {
  const { dataset } = document.documentElement;
  dataset.theme = theme;
  dataset.colours = colours ?? "standard";
  dataset.hatch = hatch ?? "0";
  recolour();
}

/** Call a task whenever the colours have changed; the palette has the new ones by then. @param {() => void} task */
export function onRecolour(task) {
  tasks.push(task);
}

function recolour() {
  readPalette();
  for (const task of tasks) task();
}

system.addEventListener("change", recolour);
