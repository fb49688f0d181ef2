// Hints in three steps: where to look, which rank, which op, and the op can be placed from there; or, in one, what to
// take back.
import { t } from "../../core/i18n/language.ts";
import { isDone } from "../../core/workbench/goals.ts";
import type { Hint } from "../../core/workbench/hints.ts";
import { h, replace, show } from "../../ui/dom.ts";
import type { Session } from "../../core/workbench/session.ts";

type Parts = {
  session: Session;
  hint: () => Hint | null; // for the present position
  shown: () => void; // called when another step is shown
};

const STEPS = 3;

export function createHints({ session, hint, shown }: Parts) {
  const list = h("ol#bench-hints.bench-hints", { "aria-live": "polite" });
  const more = h("button#bench-hint.button.soft", { onclick: next });
  const act = h("button#bench-hint-place.button.primary", { hidden: true, onclick: place });
  const node = h(
    "section.bench-help",
    { "aria-label": t("Hints") },
    h("h2", { text: t("Hints") }),
    list,
    h("div.row.bench-buttons", more, act),
  );
  let present: Hint | null = null;
  let step = 0;

  function next() {
    if (!present) present = hint();
    step = present && present.aside !== null ? STEPS : Math.min(STEPS, step + 1);
    write();
    shown();
  }

  function place() {
    if (!present) return;
    if (present.aside === null) session.place(present.rank, present.op);
    else session.takeBack(present.rank, present.aside);
  }

  function write() {
    replace(list, ...(present?.sentences.slice(0, step) ?? []).map((text) => h("li", { text })));
    if (step > 0 && !present) replace(list, h("li", { text: t("Nothing is left to place.") }));
    more.textContent = [t("Hint: where to look"), t("Which rank?"), t("Which op?"), ""][step];
    show(node, step > 0 || !isDone(session.position));
    show(more, step < STEPS && (step === 0 || present !== null));
    act.textContent = present && present.aside !== null ? t("Take it back") : t("Place it");
    show(act, step >= STEPS && present !== null);
  }

  session.onChange(({ moved }) => {
    if (!moved) return;
    present = null;
    step = 0;
    write();
  });
  write();
  return {
    node,
    /** The op that a hint names, once it does. */
    op: () => (step >= STEPS && present && present.aside === null ? present : null),
    reset() {
      present = null;
      step = 0;
      write();
    },
  };
}
