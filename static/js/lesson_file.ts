// The script of a lesson's file: the component for its scenes, and its questions, graded here. Sends no request.
import { gradeTry, isMet, opened, type Sealed } from "./app/learn/grade.ts";
import { createQuestions } from "./app/learn/questions.ts";
import { BubbleLine } from "./component/element.ts";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const sealed = opened(document.getElementById("lesson-answers")?.textContent ?? "");

const formOf = (number: number) => document.getElementById(`question-${number}`) as HTMLFormElement | null;

/** The timeline of a question, else that of the last scene before it. */
function nearestLive(number: number) {
  const form = formOf(number);
  const all = [...document.querySelectorAll("bubble-line")].reverse() as BubbleLine[];
  const isBefore = (each: Element) => form && each.compareDocumentPosition(form) & Node.DOCUMENT_POSITION_FOLLOWING;
  return all.find((each) => form?.contains(each)) ?? all.find(isBefore);
}

customElements.define("bubble-line", BubbleLine);
document.documentElement.classList.add("is-live");

createQuestions({
  async ask(number, given, tries) {
    const question = sealed.questions.find((each) => each.number === number) as Sealed;
    const live = nearestLive(number);
    const graded = gradeTry(question, given, tries, sealed.reasons, live?.figures ?? undefined);
    return { ...graded, place: live && !(question.kind === "reach" && graded.right) && question.place };
  },
  show({ place }, number, asked) {
    const live = nearestLive(number) ?? document.querySelector("bubble-line");
    for (const [name, value] of Object.entries<string>(place)) live?.setAttribute(name, value);
    if (asked) live?.scrollIntoView({ block: "center" });
  },
  keep: () => {},
  kept: () => null,
});

for (const { number, kind, goals, sizes } of sealed.questions) {
  const form = formOf(number);
  const live = form?.querySelector("bubble-line") as BubbleLine | null | undefined;
  const chosen = form?.querySelector(".chosen");
  if (!form || !live || !chosen) continue;
  const choose = (answer: string, text: string) => {
    form.dataset.answer = answer;
    chosen.textContent = text;
  };
  if (kind === "find")
    live.addEventListener("choose", ({ detail: { op, rank, at } }: any) => choose(op ?? `${rank}@${at}`, op ?? ""));
  let met = false;
  live.addEventListener("change", ({ detail }: any) => {
    if (kind !== "reach" || !detail) return;
    met = goals.every((goal) => isMet(goal, detail[goal.quantity]));
    const pairs = sizes.map((size) => `${size}=${detail[size]}`);
    choose(pairs.join(" "), pairs.join(", ").replaceAll("=", " = "));
  });
  for (const released of ["pointerup", "keyup"]) live.addEventListener(released, () => met && form.requestSubmit());
}

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
