// The list of lessons: how far this reader has come in each, and the one to go on with.
import { createLook, createLookMenu } from "./look.ts";
import { progressOf } from "./progress.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { byId, setText } from "../../ui/dom.ts";
import { loadLanguage } from "../../ui/languages.ts";

type Row = { row: HTMLElement; link: HTMLAnchorElement; begun: boolean; whole: boolean; when: number };

export async function startList() {
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${document.documentElement.dataset.language}`);
  createLookMenu(look);
  const rows = [...document.querySelectorAll("#lesson-list [data-slug]")].map((row) =>
    showProgress(row as HTMLElement),
  );
  const [last] = rows.filter(({ begun, whole }) => begun && !whole).sort((a, b) => b.when - a.when);
  const wanted = last ?? rows.find(({ whole }) => !whole);
  const on = document.getElementById("lesson-on") as HTMLAnchorElement | null;
  if (!on) return;
  on.hidden = !wanted;
  if (!wanted) return;
  const { on: goOn = "", begin = "" } = byId("lesson-words").dataset;
  const { number = "", title = "" } = wanted.row.dataset;
  const text = last || rows.some(({ whole }) => whole) ? goOn : begin;
  setText(on, text.replace("{number}", number).replace("{title}", title));
  on.href = wanted.link.href;
}

function showProgress(row: HTMLElement): Row {
  const { done = "", step = "" } = byId("lesson-words").dataset;
  const { slug = "", steps = "0" } = row.dataset;
  const link = row.querySelector("a") as HTMLAnchorElement;
  const { at, seen, when } = progressOf(slug);
  const whole = seen.length > 0 && seen.length >= Number(steps);
  if (seen.length) {
    const node = row.querySelector(".lesson-progress") as HTMLElement;
    setText(node, whole ? `✓ ${done}` : step.replace("{at}", String(seen.length)).replace("{all}", steps));
    node.hidden = false;
    row.classList.toggle("is-done", whole);
    if (at && !whole) link.hash = at;
  }
  return { row, link, begun: seen.length > 0, whole, when };
}
