// The list of lessons: how far this reader has come in each.
import { createLook, createLookMenu } from "./look.js";
import { progressOf } from "./progress.js";
import { applyAppearance } from "../../ui/appearance.js";
import { byId, setText } from "../../ui/dom.js";
import { loadLanguage } from "../../ui/languages.js";

export async function startList() {
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${document.documentElement.dataset.language}`);
  createLookMenu(look);
  const { done = "", step = "" } = byId("lesson-words").dataset;
  for (const row of document.querySelectorAll("#lesson-list [data-slug]")) {
    const { slug = "", steps = "0" } = /** @type {HTMLElement} */ (row).dataset;
    const { at, seen } = progressOf(slug);
    if (!seen.length) continue;
    const node = /** @type {HTMLElement} */ (row.querySelector(".lesson-progress"));
    const whole = seen.length >= Number(steps);
    setText(node, whole ? `✓ ${done}` : step.replace("{at}", String(seen.length)).replace("{all}", steps));
    node.hidden = false;
    row.classList.toggle("is-done", whole);
    const link = /** @type {HTMLAnchorElement} */ (row.querySelector("a"));
    if (at && !whole) link.hash = at;
  }
}
