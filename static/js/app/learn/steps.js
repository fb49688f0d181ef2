// The steps of a lesson: which one is being read decides the scene, the address and the progress; keys go between them.
import { byId, setText } from "../../ui/dom.js";

/** @import {createProgress} from "./progress.js" */
/** @import {SceneView} from "./scene_view.js" */

const FIRST = "start"; // the introduction's anchor, which no address needs
const LINE = 0.45; // of the window's height: what is above has been reached

/**
 * @param {HTMLElement} article @param {ReturnType<typeof createProgress>} progress @param {SceneView} view
 */
export function createSteps(article, progress, view) {
  const steps = /** @type {HTMLElement[]} */ ([...article.querySelectorAll(".step")]);
  const bar = byId("lesson-steps");
  const count = /** @type {HTMLElement} */ (bar.querySelector(".step-count"));
  const marks = steps.flatMap(marksOf);
  /** @type {Set<Element>} */
  const reached = new Set();
  let at = -1;
  let known = false; // where the marks are

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, boundingClientRect, rootBounds } of entries) {
        const above = boundingClientRect.top < (rootBounds?.bottom ?? innerHeight * LINE);
        if (above) reached.add(target);
        else reached.delete(target);
      }
      known = true;
      follow();
    },
    // Far above the window everything counts as seen, so that each mark is reported once on its way.
    { rootMargin: `1000000px 0px -${Math.round(100 * (1 - LINE))}% 0px` },
  );
  for (const { node } of marks) observer.observe(node);
  const questions = new IntersectionObserver(follow, { threshold: [0, 0.5, 1] });
  for (const question of article.querySelectorAll(".question")) questions.observe(question);
  article.addEventListener("answered", follow);

  function follow() {
    if (!known) return;
    const passed = marks.filter((each) => reached.has(each.node) && !isHeldBack(each)).reverse();
    const mark = passed[0] ?? marks[0];
    const { scene } = passed.find((each) => each.scene) ?? marks.find((each) => each.scene) ?? mark;
    if (scene) view.take(scene);
    const now = mark ? steps.indexOf(mark.step) : 0;
    if (now === at) return;
    at = now;
    const { id } = steps[at];
    progress.reach(id);
    if (at > 0 || location.hash) {
      const address = new URL(location.href);
      address.hash = id === FIRST ? "" : id;
      if (address.href !== location.href) history.replaceState(history.state, "", address);
    }
    setText(count, `${at + 1} / ${steps.length}`);
    for (const button of bar.querySelectorAll("button"))
      button.disabled = !steps[at + Number(/** @type {HTMLElement} */ (button).dataset.way)];
  }

  /** @param {number} way */
  function go(way) {
    const step = steps[at + way];
    if (!step) return;
    step.scrollIntoView();
    step.focus({ preventScroll: true });
  }

  bar.hidden = false;
  bar.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button) go(Number(button.dataset.way));
  });
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (target.closest("input, select, textarea, #stage, [popover], dialog, [role=application]")) return;
    if (event.key === "n") go(1);
    else if (event.key === "b") go(-1);
  });
  article.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest(".scene-show");
    const scene = /** @type {HTMLElement | null} */ (button?.closest(".scene") ?? null);
    if (scene) view.take(scene, true);
  });
}

/** @typedef {{node: HTMLElement, step: HTMLElement, scene: HTMLElement | null, after: HTMLElement | null}} Mark after:
 *   the question before the scene, in the same step */

/** Whether a scene would show the answer of a question that is still being read. @param {Mark} mark */
function isHeldBack({ after }) {
  if (!after || "over" in after.dataset) return false;
  const { top, height } = after.getBoundingClientRect();
  return top + height / 2 > parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
}

/**
 * Where the view changes: at a step's heading, to its first scene unless a question comes before that, and at each
 * scene. @param {HTMLElement} step @returns {Mark[]}
 */
function marksOf(step) {
  const parts = /** @type {HTMLElement[]} */ ([...step.querySelectorAll(".scene, .question")]);
  const begin = parts[0]?.classList.contains("scene") ? parts[0] : null;
  const heading = { node: /** @type {HTMLElement} */ (step.firstElementChild), step, scene: begin, after: null };
  const marks = [heading];
  parts.forEach((node, at) => {
    if (!node.classList.contains("scene") || node === begin) return;
    const before = parts[at - 1];
    const after = before?.classList.contains("question") ? before : null;
    marks.push(/** @type {any} */ ({ node, step, scene: node, after }));
  });
  return marks;
}
