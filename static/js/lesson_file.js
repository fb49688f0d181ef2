// The script of a lesson's file: the component for its scenes, and its questions, judged here. Sends no request.
import { judge } from "./app/learn/judge.js";
import { createQuestions } from "./app/learn/questions.js";
import { BubbleLine } from "./component/element.js";

/** @import {Reasons, Sealed} from "./app/learn/judge.js" */

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const TRIES = 2;

/** @type {{questions: Sealed[], reasons: Reasons}} */
const sealed = JSON.parse(
  new TextDecoder().decode(
    Uint8Array.from(atob(document.getElementById("lesson-answers")?.textContent ?? ""), (char) => char.charCodeAt(0)),
  ),
);

/** @type {Element | null} the scene above the question that was answered last */
let shownFor = null;

/** The last scene before a question. @param {number} number */
function nearestLive(number) {
  const form = document.getElementById(`question-${number}`);
  const all = [...document.querySelectorAll("bubble-line")];
  shownFor =
    all.reverse().find((each) => form && each.compareDocumentPosition(form) & Node.DOCUMENT_POSITION_FOLLOWING) ?? null;
  return shownFor;
}

customElements.define("bubble-line", BubbleLine);
document.documentElement.classList.add("is-live");

createQuestions({
  async ask(number, given, tries) {
    const question = /** @type {Sealed} */ (sealed.questions.find((each) => each.number === number));
    const verdict = judge(question, given, sealed.reasons);
    if (!verdict.right && tries < TRIES) return verdict;
    const { explanation, place, shown, kind, right } = question;
    return {
      ...verdict,
      explanation,
      place: nearestLive(number) && place,
      answer: shown,
      option: kind === "choose" ? right : null,
    };
  },
  show(place) {
    const live = shownFor ?? document.querySelector("bubble-line");
    for (const [name, value] of Object.entries(place)) live?.setAttribute(name, value);
    live?.scrollIntoView({ block: "center" });
  },
  keep: () => {},
  kept: () => null,
});

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      for (const line of target.querySelectorAll("bubble-line")) /** @type {BubbleLine} */ (line).play();
    }
  },
  { threshold: 0.6 },
);
if (!STILL.matches) for (const scene of document.querySelectorAll(".scene[data-play]")) observer.observe(scene);
