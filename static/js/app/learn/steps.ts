// The steps of a lesson: which one is being read decides the scene, the address and the progress; keys go between them.
import { byId, h, replace } from "../../ui/dom.ts";
import { isPresenting } from "../present/presenting.ts";
import type { createProgress } from "./progress.ts";
import type { SceneView } from "./scene_view.ts";

const VIEWS = ".scene, .question[data-query]"; // what has a view of its own
const FIRST = "start"; // the introduction's anchor, which no address needs
const LINE = 0.45; // of the window's height: what is above has been reached

/** Whether the browser may still have to scroll to the step of the address. */
const isLoading = () => document.readyState !== "complete" && location.hash !== "";

export function createSteps(article: HTMLElement, progress: ReturnType<typeof createProgress>, view: SceneView) {
  const steps = [...article.querySelectorAll(".step")] as HTMLElement[];
  const bar = byId("lesson-steps");
  const count = bar.querySelector(".step-count") as HTMLElement;
  const marks = steps.flatMap(marksOf);
  let at = -1;
  let wanted = -1; // the step that a key leads to, until the text has followed

  // Far above the window everything counts as seen, so that each mark is reported once on its way.
  const observer = new IntersectionObserver(follow, {
    rootMargin: `1000000px 0px -${Math.round(100 * (1 - LINE))}% 0px`,
  });
  for (const { node } of marks) observer.observe(node);
  const questions = new IntersectionObserver(follow, { threshold: [0, 0.5, 1] });
  for (const question of article.querySelectorAll(".question")) questions.observe(question);
  article.addEventListener("answered", follow);
  document.addEventListener("scrollend", follow); // the header covers what the window still counts as seen
  window.addEventListener("load", follow);

  function follow() {
    if (isPresenting()) return;
    const line = innerHeight * LINE;
    const isReached = ({ node }: Mark) => node.getBoundingClientRect().top < line;
    const passed = marks.filter((each) => isReached(each) && !isHeldBack(each)).reverse();
    const mark = passed[0] ?? marks[0];
    const { scene } = passed.find((each) => each.scene) ?? marks.find((each) => each.scene) ?? mark;
    if (scene && !isHeld(view.answered ?? view.scene, scene)) view.take(scene);
    const now = mark ? steps.indexOf(mark.step) : 0;
    wanted = -1;
    if (now === at || (now === 0 && isLoading())) return;
    at = now;
    const { id } = steps[at];
    progress.reach(id);
    if (at > 0 || location.hash) {
      const address = new URL(location.href);
      address.hash = id === FIRST ? "" : id;
      if (address.href !== location.href) history.replaceState(history.state, "", address);
    }
    const title = steps[at].querySelector("h1, h2")?.textContent ?? "";
    replace(count, `${at + 1} / ${steps.length}`, h("span.step-title", { text: ` · ${title}` }));
    for (const button of bar.querySelectorAll("button"))
      button.disabled = !steps[at + Number((button as HTMLElement).dataset.way)];
  }

  function go(way: number) {
    const next = (wanted < 0 ? at : wanted) + way;
    const step = steps[next];
    if (!step) return;
    wanted = next;
    step.scrollIntoView();
    step.focus({ preventScroll: true });
  }

  bar.hidden = false;
  bar.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest("button");
    if (button) go(Number(button.dataset.way));
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (target.closest("input, select, textarea, #stage, [popover], dialog, [role=application]")) return;
    if (event.key === "n") go(1);
    else if (event.key === "b") go(-1);
  });
  article.addEventListener("click", (event) => {
    const button = (event.target as HTMLElement).closest(".scene-show");
    const scene = (button?.closest(".scene") ?? null) as HTMLElement | null;
    if (scene) view.take(scene, true);
  });
}

type Mark = {
  node: HTMLElement;
  step: HTMLElement;
  scene: HTMLElement | null;
  after: HTMLElement | null; // the question before the scene, in the same step
};

/** Whether a scene would show the answer of a question that is still being read. */
const isHeldBack = ({ after }: Mark) => after !== null && isOpen(after) && middleOf(after) > topOfText();

/** Whether a question, or its answer, is on the timeline and still in view; once it is over, what comes after it may
 * follow. */
function isHeld(shown: HTMLElement | null, next: HTMLElement) {
  if (!shown?.matches(".question")) return false;
  const follows = shown.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING;
  if (follows && !isOpen(shown)) return false;
  return middleOf(shown) > topOfText() && shown.getBoundingClientRect().top < innerHeight;
}

const isOpen = (question: HTMLElement) => !("over" in question.dataset);
const topOfText = () => parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);

function middleOf(node: HTMLElement) {
  const { top, height } = node.getBoundingClientRect();
  return top + height / 2;
}

/**
 * Where the view changes: at a step's heading, to its first scene unless a question comes before that, and at each
 * scene.
 */
function marksOf(step: HTMLElement): Mark[] {
  const parts = [...step.querySelectorAll(".scene, .question")] as HTMLElement[];
  const begin = parts[0]?.matches(VIEWS) ? parts[0] : null;
  const heading = { node: step.firstElementChild as HTMLElement, step, scene: begin, after: null };
  const marks = [heading];
  parts.forEach((node, at) => {
    if (!node.matches(VIEWS) || node === begin) return;
    const before = parts[at - 1];
    const after = before?.classList.contains("question") ? before : null;
    marks.push({ node, step, scene: node, after } as any);
  });
  return marks;
}
