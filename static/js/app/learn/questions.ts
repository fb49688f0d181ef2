// The questions of a lesson: an answer is graded, a wrong one gets its reason and a second try, then the explanation.
// Works on the HTML that the server made, in a lesson's page and in its file; its texts are in that HTML too.
import { TRIES } from "./grade.ts";
import { createOrder } from "./order_list.ts";
import { h, replace } from "../../ui/dom.ts";

type Graded = {
  right: boolean;
  reason: string; // as HTML
  counted: boolean; // false: it could not be read as an answer, which is no try
  explanation?: string; // as HTML; after a right answer, or the second wrong one
  place?: any; // where the answer is on the timeline
  spot?: string | null; // the op or wait there, of a question that asked for it
  answer?: string;
  option?: number | null; // the right one
};
export type Answered = { given: string; right: boolean };
type Acts = {
  ask: (number: number, given: string, tries: number) => Promise<Graded>;
  show: (graded: Graded, number: number, asked: boolean) => void; // asked: by its button
  keep: (number: number, answered: Answered) => void; // a question that is over
  kept: (number: number) => Answered | null;
};

/** What a text of the server contains. */
export const nodesOf = (html: string) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes];

/** The page's words for answers. */
const words = () => (document.getElementById("lesson-words") as HTMLElement).dataset;

/** A verdict must be seen at once: all of it, or where it is too long its beginning. */
function bringIntoView(said: HTMLElement) {
  said.scrollIntoView({ block: "nearest" });
  said.firstElementChild?.scrollIntoView({ block: "nearest" });
}

export function createQuestions(acts: Acts) {
  for (const form of document.querySelectorAll("form.question")) createQuestion(form as HTMLFormElement, acts);
}

function createQuestion(form: HTMLFormElement, acts: Acts) {
  const number = Number(form.dataset.number);
  const fieldset = form.querySelector("fieldset") as HTMLFieldSetElement;
  const said = form.querySelector(".said") as HTMLElement;
  const hint = form.querySelector(".hint") as HTMLElement;
  const hintButton = form.querySelector("[data-hint]") as HTMLButtonElement;
  const placeButton = form.querySelector("[data-place]") as HTMLButtonElement;
  const check = form.querySelector("[type=submit]") as HTMLButtonElement;
  const onTimeline = form.dataset.query !== undefined;
  const list = form.querySelector(".order") as HTMLElement | null;
  if (list) createOrder(list, (op, place) => replace(said, `${op} ${words().moved} ${place}`));
  let tries = 0;
  let asking = false;
  let verdict: Graded | null = null; // the last one

  hintButton.addEventListener("click", () => {
    hint.hidden = false;
    hintButton.hidden = true;
  });
  placeButton.addEventListener("click", () => verdict && acts.show(verdict, number, true));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = answerOf(form);
    if (asking || check.hidden) return;
    if (!given) {
      replace(said, onTimeline ? words().untouched : words().empty);
      return;
    }
    asking = true;
    try {
      const graded = await acts.ask(number, given, tries + 1);
      if (graded.counted) tries += 1;
      tell(graded, given, true);
    } catch {
      replace(said, words().offline);
    } finally {
      asking = false;
    }
  });

  /** fresh: not one of an earlier visit. */
  function tell(graded: Graded, given: string, fresh: boolean) {
    const { right, reason, explanation } = graded;
    const over = right || tries >= TRIES;
    if (!graded.counted) {
      replace(said, h("p", ...nodesOf(reason)));
      bringIntoView(said);
      return;
    }
    const { right: yes, wrong: notYet, lost, again, answer: itIs, end } = words();
    const answer = !right && over && graded.answer ? ` ${itIs} ${graded.answer}${end}` : "";
    form.dataset.result = right ? "right" : "wrong";
    const head = h("strong.verdict", { text: right ? yes : over ? lost : notYet });
    replace(said, h("p", head, " ", ...nodesOf(reason), answer, over ? "" : ` ${again}`));
    hintButton.hidden = true;
    hint.hidden = over || !hint.childNodes.length;
    if (!over) {
      bringIntoView(said);
      return;
    }
    if (explanation) said.append(h("div.explanation", ...nodesOf(explanation)));
    markRight(form, graded);
    form.dataset.over = "";
    check.hidden = true;
    fieldset.querySelectorAll("input, .order button").forEach((node) => node.setAttribute("disabled", ""));
    verdict = graded;
    placeButton.hidden = !graded.place;
    if (fresh) {
      // The button that had the focus is gone.
      if (fieldset.contains(document.activeElement) || document.activeElement === document.body)
        said.focus({ preventScroll: true });
      bringIntoView(said);
      acts.keep(number, { given, right });
    }
    form.dispatchEvent(new CustomEvent("over"));
    // The next scene need not wait any more; the answer's own place goes before it.
    if (fresh && graded.place) acts.show(graded, number, false);
    else if (!fresh || !onTimeline) form.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
  }

  restore(form, acts.kept(number));

  /** As an earlier visit left it. */
  async function restore(node: HTMLFormElement, kept: Answered | null) {
    if (!kept) return;
    tries = TRIES;
    fill(node, kept.given);
    try {
      const graded = await acts.ask(number, kept.given, TRIES);
      if (graded.counted) tell(graded, kept.given, false);
      else tries = 0;
    } catch {
      tries = 0; // it can be answered again
    }
  }
}

/** Returns "" for none. */
function answerOf(form: HTMLFormElement): string {
  if (form.dataset.query !== undefined) return form.dataset.answer ?? "";
  if (form.dataset.kind === "order")
    return [...form.querySelectorAll("[data-op]")].map((row) => (row as HTMLElement).dataset.op).join(" ");
  return String(new FormData(form).get("answer") ?? "").trim();
}

function fill(form: HTMLFormElement, given: string) {
  if (form.dataset.query !== undefined)
    replace(form.querySelector(".chosen") as HTMLElement, given.includes("@") ? "" : given.replaceAll("=", " = "));
  else if (form.dataset.kind === "order") arrange(form, given.split(" "));
  else if (form.dataset.kind === "choose") {
    const option = form.querySelectorAll("input")[Number(given)] as HTMLInputElement | undefined;
    if (option) option.checked = true;
  } else {
    const box = form.querySelector("input");
    if (box) box.value = given;
  }
}

/** Put the ops of an order into this one. */
function arrange(form: HTMLFormElement, ops: string[]) {
  const rows = [...form.querySelectorAll("[data-op]")];
  for (const op of ops) {
    const row = rows.find((each) => (each as HTMLElement).dataset.op === op);
    row?.parentElement?.append(row);
  }
}

function markRight(form: HTMLFormElement, { option, right, answer }: Graded) {
  if (typeof option === "number") form.querySelectorAll(".options li")[option]?.classList.add("is-right");
  if (form.dataset.kind === "order" && !right && answer) arrange(form, answer.split(" "));
}
