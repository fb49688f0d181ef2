// The list of lessons: how far this reader has come in each.
import { createLook, createLookMenu } from "./look.ts";
import { progressOf } from "./progress.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { byId, setText } from "../../ui/dom.ts";
import { loadLanguage } from "../../ui/languages.ts";

export async function startList() {
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${document.documentElement.dataset.language}`);
  createLookMenu(look);
  const { done = "", step = "" } = byId("lesson-words").dataset;
  for (const row of document.querySelectorAll("#lesson-list [data-slug]")) {
    const { slug = "", steps = "0" } = (row as HTMLElement).dataset;
    const { at, seen } = progressOf(slug);
    if (!seen.length) continue;
    const node = row.querySelector(".lesson-progress") as HTMLElement;
    const whole = seen.length >= Number(steps);
    setText(node, whole ? `✓ ${done}` : step.replace("{at}", String(seen.length)).replace("{all}", steps));
    node.hidden = false;
    row.classList.toggle("is-done", whole);
    const link = row.querySelector("a") as HTMLAnchorElement;
    if (at && !whole) link.hash = at;
  }
}
