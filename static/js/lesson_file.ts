// The script of a lesson's file: the component for its scenes, and its questions, graded here. Sends no request.
import { grade, type Reasons, type Sealed } from "./app/learn/grade.ts";
import { createQuestions } from "./app/learn/questions.ts";
import { BubbleLine } from "./component/element.ts";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const TRIES = 2;

const sealed: { questions: Sealed[]; reasons: Reasons } = JSON.parse(
  new TextDecoder().decode(
    Uint8Array.from(atob(document.getElementById("lesson-answers")?.textContent ?? ""), (char) => char.charCodeAt(0)),
  ),
);

/** The last scene before a question. */
function nearestLive(number: number) {
  const form = document.getElementById(`question-${number}`);
  const all = [...document.querySelectorAll("bubble-line")];
  return all.reverse().find((each) => form && each.compareDocumentPosition(form) & Node.DOCUMENT_POSITION_FOLLOWING);
}

customElements.define("bubble-line", BubbleLine);
document.documentElement.classList.add("is-live");

createQuestions({
  async ask(number, given, tries) {
    const question = sealed.questions.find((each) => each.number === number) as Sealed;
    const verdict = grade(question, given, sealed.reasons);
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
  show(place, number, asked) {
    const live = nearestLive(number) ?? document.querySelector("bubble-line");
    for (const [name, value] of Object.entries<string>(place)) live?.setAttribute(name, value);
    if (asked) live?.scrollIntoView({ block: "center" });
  },
  keep: () => {},
  kept: () => null,
});

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      for (const line of target.querySelectorAll("bubble-line")) (line as BubbleLine).play();
    }
  },
  { threshold: 0.6 },
);
if (!STILL.matches) for (const scene of document.querySelectorAll(".scene[data-play]")) observer.observe(scene);
