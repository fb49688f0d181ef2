// The look of the page as the link names it: theme, colours of the kinds of op, hatching; and who must draw anew.
import { readPalette } from "./palette.ts";
import type { ViewState } from "../core/state/link.ts";

type Appearance = Pick<ViewState, "theme" | "colours" | "hatch">;

const system = matchMedia("(prefers-color-scheme: dark)");
const tasks: (() => void)[] = [];

/** Whether a theme is dark here, now. */
export const isDark = (theme: ViewState["theme"]) => (theme === "auto" ? system.matches : theme === "dark");

export const sameAppearance = (a: Appearance, b: Appearance) =>
  a.theme === b.theme && a.colours === b.colours && a.hatch === b.hatch;

/** Apply a look to the page and draw anew what has colours of its own. */
export function applyAppearance({ theme, colours, hatch }: Appearance) {
  const { dataset } = document.documentElement;
  dataset.theme = theme;
  dataset.colours = colours ?? "standard";
  dataset.hatch = hatch ?? "0";
  recolour();
}

/** Call a task whenever the colours have changed; the palette has the new ones by then. */
export function onRecolour(task: () => void) {
  tasks.push(task);
}

/** Read the colours again and draw with them. */
export function recolour() {
  readPalette();
  for (const task of tasks) task();
}

system.addEventListener("change", recolour);
