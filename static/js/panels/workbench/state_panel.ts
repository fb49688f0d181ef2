// Which order it is, how far it is and whether the rest can be completed, and what is wrong with it.
import { t, tr } from "../../core/i18n/language.ts";
import { formatCount } from "../../core/i18n/numbers.ts";
import { canComplete } from "../../core/workbench/completable.ts";
import { textOf } from "../../core/workbench/legality.ts";
import { isWhole, wholeCount, type Position } from "../../core/workbench/position.ts";
import { recognise, references } from "../../core/workbench/references.ts";
import { violations, type Violation } from "../../core/workbench/violations.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { sourceNodes } from "../../ui/paper_link.ts";
import type { Family } from "../../core/schedule/types.ts";
import type { Session } from "../../core/workbench/session.ts";

const MOST_NAMED = 3;
const MOST_LISTED = 8; // violations

type Parts = { session: Session; families: Family[]; goTo: (violation: Violation) => void };

export function createStatePanel({ session, families, goTo }: Parts) {
  const named = h("p#bench-named.bench-named", { role: "status" });
  const state = h("p#bench-state.bench-state", { role: "status" });
  const wrong = h("ul#bench-wrong.bench-wrong", { "aria-label": t("Violations") });
  const node = h("section", { "aria-label": t("Your order") }, named, state, wrong);
  let found: Violation[] = [];

  function sync(position: Position) {
    found = violations(position);
    writeNamed(position);
    const text = stateText(position, session.backward);
    setText(state, text);
    state.classList.toggle("is-bad", canComplete(position).answer === "no");
    const listed = found.slice(0, MOST_LISTED).map((each) => h("li", violationNode(position, each)));
    const more = found.length - listed.length;
    replace(wrong, ...listed, more > 0 ? h("li", { text: t("and {more} more", { more }) }) : "");
    show(wrong, found.length > 0);
  }

  function writeNamed(position: Position) {
    const known = references(position.board);
    const { exact, prefix } = recognise(position, known);
    const titles = (names: string[]) =>
      names.slice(0, MOST_NAMED).map((name) => known.find((each) => each.name === name)?.title ?? name);
    const more = prefix.length - MOST_NAMED;
    if (exact.length) {
      const family = families.find(({ name }) => name === exact[0]);
      replace(
        named,
        h("b", { text: t("This is {family}.", { family: titles(exact)[0] }) }),
        " ",
        ...(family ? sourceNodes(tr(family.source)) : []),
      );
    } else if (prefix.length) {
      const list = titles(prefix).join(t(", "));
      setText(
        named,
        more > 0
          ? t("So far this is a beginning of {families} and {more} others.", { families: list, more })
          : t("So far this is a beginning of {families}.", { families: list }),
      );
    } else
      setText(
        named,
        position.count ? t("This is no order that the workbench knows: it is yours.") : t("Nothing is placed."),
      );
  }

  const violationNode = (position: Position, violation: Violation) =>
    h(
      "button.link",
      { "data-op": textOf(position.board, violation.rank, violation.op), onclick: () => goTo(violation) },
      capital(violation.reason.text),
    );

  return { node, sync, violations: () => found };
}

/** How much is placed, and whether the rest can be. */
function stateText(position: Position, backward: "full" | "split" | null) {
  const { answer, why } = canComplete(position);
  if (isWhole(position) && answer !== "no") return t("The order is complete.");
  const all = wholeCount(position, backward);
  const count = formatCount(position.count);
  const so =
    all === null
      ? t("Ops placed: {count}.", { count })
      : t("{count} of {all} ops are placed.", { count, all: formatCount(all) });
  return `${so}${t(" ")}${restText(answer, why)}`;
}

function restText(answer: string, why: string) {
  if (answer === "yes") return t("The rest can be completed.");
  if (answer === "unknown") return t("Whether the rest can be completed within the memory limit cannot be told.");
  if (why === "memory") return t("The rest cannot be completed: the memory limit leaves no way on.");
  if (why === "deadlock") return t("The rest cannot be completed: ranks would wait for each other.");
  return t("It cannot be completed before the violations are taken back.");
}

const capital = (text: string) => (text ? text[0].toUpperCase() + text.slice(1) : text);
