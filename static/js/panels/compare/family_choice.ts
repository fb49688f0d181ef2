// Which families the comparison shows: a list of boxes behind a button. All of them unless the reader or a link
// chooses.
import { h, setText } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { familyGroups } from "../../data/option_names.ts";
import type { Family } from "../../core/schedule/types.ts";

const NONE = "none";

/** changed: as a link has it. */
export function createChoice(families: Family[], onScreen: () => string[], changed: (text: string | null) => void) {
  const summary = h("summary.button.soft");
  const boxes = families.map((family) =>
    h("input", { type: "checkbox", value: family.name, checked: true, onchange: update }),
  );
  const all = families.map(({ name }) => name);
  const groups = familyGroups(families).map(({ title, families: members }) =>
    h(
      "fieldset",
      h("legend", { text: title }),
      ...members.map((family) => h("label", boxes[families.indexOf(family)], family.title)),
    ),
  );
  const node = h(
    "details.comparison-choice",
    summary,
    h(
      "div.choices",
      h(
        "div.row",
        h("button.link", { onclick: () => choose(all) }, t("All")),
        h("button.link", { onclick: () => choose(onScreen()) }, t("Those on the screen")),
      ),
      ...groups,
    ),
  );
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    node.open = false;
    summary.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !node.contains(event.target)) node.open = false;
  });

  function check(names: string[]) {
    for (const box of boxes) box.checked = names.includes(box.value);
    count();
  }

  function choose(names: string[]) {
    check(names);
    changed(textOf(chosen(), all));
  }

  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);

  function count() {
    const { length } = chosen();
    setText(
      summary,
      length === boxes.length
        ? t("All {count} families", { count: length })
        : t("{count} of {all} families", { count: length, all: boxes.length }),
    );
  }

  function update() {
    count();
    changed(textOf(chosen(), all));
  }

  return {
    node,
    /** Set the choice from a link's text. */
    set(text: string | null) {
      check(namesIn(text, all));
    },
    /** The chosen, null for all of them. */
    names: () => (chosen().length === boxes.length ? null : chosen()),
  };
}

/** The families that a text of a link means. */
function namesIn(text: string | null, all: string[]) {
  if (text === null) return all;
  const but = text.startsWith("-");
  const named = text.slice(but ? 1 : 0).split(",");
  return all.filter((name) => named.includes(name) !== but);
}

/** Those that are chosen or those that are not, whichever is shorter. */
function textOf(names: string[], all: string[]) {
  if (names.length === all.length) return null;
  const chosen = names.join() || NONE;
  const but = `-${all.filter((name) => !names.includes(name)).join()}`;
  return but.length < chosen.length ? but : chosen;
}
