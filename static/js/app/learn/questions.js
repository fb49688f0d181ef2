// The questions of a lesson: an answer is judged, a wrong one gets its reason and a second try, then the explanation.
// Works on the HTML that the server made, in a lesson's page and in its file; its texts are in that HTML too.
import { createOrder } from "./order_list.js";
import { h, replace } from "../../ui/dom.js";

/**
 * @typedef {object} Judged
 * @property {boolean} right
 * @property {string} reason as HTML
 * @property {string} [explanation] as HTML; after a right answer, or the second wrong one
 * @property {any} [place] where the answer is on the timeline
 * @property {string} [answer]
 * @property {number | null} [option] the right one
 */
/** @typedef {{given: string, right: boolean}} Answered */
/**
 * @typedef {object} Acts
 * @property {(number: number, given: string, tries: number) => Promise<Judged>} ask
 * @property {(place: any) => void} show
 * @property {(number: number, answered: Answered) => void} keep  a question that is over
 * @property {(number: number) => Answered | null} kept
 */

const TRIES = 2;

/** What a text of the server contains. @param {string} html */
const nodesOf = (html) => [...new DOMParser().parseFromString(html, "text/html").body.childNodes];

/** The page's words for answers. */
const words = () => /** @type {HTMLElement} */ (document.getElementById("lesson-words")).dataset;

/** @param {Acts} acts */
export function createQuestions(acts) {
  for (const form of document.querySelectorAll("form.question"))
    createQuestion(/** @type {HTMLFormElement} */ (form), acts);
}

/** @param {HTMLFormElement} form @param {Acts} acts */
function createQuestion(form, acts) {
  const number = Number(form.dataset.number);
  const fieldset = /** @type {HTMLFieldSetElement} */ (form.querySelector("fieldset"));
  const said = /** @type {HTMLElement} */ (form.querySelector(".said"));
  const hint = /** @type {HTMLElement} */ (form.querySelector(".hint"));
  const hintButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-hint]"));
  const placeButton = /** @type {HTMLButtonElement} */ (form.querySelector("[data-place]"));
  const check = /** @type {HTMLButtonElement} */ (form.querySelector("[type=submit]"));
  const list = /** @type {HTMLElement | null} */ (form.querySelector(".order"));
  if (list) createOrder(list, (op, place) => replace(said, `${op} ${words().moved} ${place}`));
  let tries = 0;
  let asking = false;
  /** @type {any} */
  let place = null;

  hintButton.addEventListener("click", () => {
    hint.hidden = false;
    hintButton.hidden = true;
  });
  placeButton.addEventListener("click", () => acts.show(place));

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = answerOf(form);
    if (asking || check.hidden) return;
    if (!given) {
      replace(said, words().empty);
      return;
    }
    asking = true;
    try {
      const judged = await acts.ask(number, given, tries + 1);
      tries += 1;
      tell(judged, given, true);
    } catch {
      replace(said, words().offline);
    } finally {
      asking = false;
    }
  });

  /** @param {Judged} judged @param {string} given @param {boolean} fresh not one of an earlier visit */
  function tell(judged, given, fresh) {
    const { right, reason, explanation } = judged;
    const over = right || tries >= TRIES;
    const { right: yes, wrong: no, again, answer: itIs } = words();
    const answer = !right && over && judged.answer ? ` ${itIs} ${judged.answer}.` : "";
    form.dataset.result = right ? "right" : "wrong";
    replace(
      said,
      h("p", {}, h("strong", { text: right ? yes : no }), " ", ...nodesOf(reason), answer, over ? "" : ` ${again}`),
    );
    if (!over) {
      if (hint.childNodes.length) hint.hidden = hintButton.hidden = false;
      hintButton.hidden = true;
      return;
    }
    if (explanation) said.append(h("div", { class: "explanation" }, ...nodesOf(explanation)));
    markRight(form, judged);
    form.dataset.over = "";
    form.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
    check.hidden = hintButton.hidden = true;
    fieldset.querySelectorAll("input, .order button").forEach((node) => node.setAttribute("disabled", ""));
    place = judged.place ?? null;
    placeButton.hidden = place === null;
    if (!fresh) return;
    acts.keep(number, { given, right });
    if (!right && place) acts.show(place);
  }

  restore(form, acts.kept(number));

  /** As an earlier visit left it. @param {HTMLFormElement} node @param {Answered | null} kept */
  async function restore(node, kept) {
    if (!kept) return;
    tries = TRIES;
    fill(node, kept.given);
    try {
      tell(await acts.ask(number, kept.given, TRIES), kept.given, false);
    } catch {
      tries = 0; // it can be answered again
    }
  }
}

/** @param {HTMLFormElement} form @returns {string} "" for none */
function answerOf(form) {
  if (form.dataset.kind === "order")
    return [...form.querySelectorAll("[data-op]")].map((row) => /** @type {HTMLElement} */ (row).dataset.op).join(" ");
  return String(new FormData(form).get("answer") ?? "").trim();
}

/** @param {HTMLFormElement} form @param {string} given */
function fill(form, given) {
  if (form.dataset.kind === "order") arrange(form, given.split(" "));
  else if (form.dataset.kind === "choose") {
    const option = /** @type {HTMLInputElement | undefined} */ (form.querySelectorAll("input")[Number(given)]);
    if (option) option.checked = true;
  } else {
    const box = form.querySelector("input");
    if (box) box.value = given;
  }
}

/** Put the ops of an order into this one. @param {HTMLFormElement} form @param {string[]} ops */
function arrange(form, ops) {
  const rows = [...form.querySelectorAll("[data-op]")];
  for (const op of ops) {
    const row = rows.find((each) => /** @type {HTMLElement} */ (each).dataset.op === op);
    row?.parentElement?.append(row);
  }
}

/** @param {HTMLFormElement} form @param {Judged} judged */
function markRight(form, { option, right, answer }) {
  if (typeof option === "number") form.querySelectorAll(".options li")[option]?.classList.add("is-right");
  if (form.dataset.kind === "order" && !right && answer) arrange(form, answer.split(" "));
}
