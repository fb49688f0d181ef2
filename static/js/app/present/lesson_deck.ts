// The slides of a lesson: its scenes, charts and questions, each alone. The page is the same: the style sheet shows of
// the text what is marked as current.
import type { SceneView } from "../learn/scene_view.ts";
import type { createCharts } from "../learn/charts.ts";
import type { Deck, Slide } from "./presenting.ts";

/** What is a slide; the server numbers the same blocks (Lesson.slides). */
const SLIDES = ".scene, .chart, .question";

export function lessonDeck(
  article: HTMLElement,
  view: SceneView,
  charts: ReturnType<typeof createCharts>,
): Deck & { nodes: HTMLElement[] } {
  const nodes = [...article.querySelectorAll(SLIDES)] as HTMLElement[];
  const isScene = (node: HTMLElement) => node.classList.contains("scene");

  function show(node: HTMLElement) {
    nodes.forEach((each) => each.classList.toggle("is-current", each === node));
    const kind = isScene(node) ? "scene" : node.classList.contains("chart") ? "chart" : "question";
    document.body.dataset.slide = kind;
    const before = nodes.slice(0, nodes.indexOf(node) + 1).filter(isScene);
    const scene = before[before.length - 1] ?? nodes.find(isScene);
    if (scene) view.take(scene, kind === "scene");
    if (kind === "chart") charts.redraw(node);
  }

  const slides = nodes.map((node, number): Slide => ({
    number,
    title: node.closest(".step")?.querySelector("h1, h2")?.textContent ?? "",
    caption: [...(node.querySelector("figcaption > p")?.childNodes ?? [])],
    show: () => show(node),
  }));
  const reading = nodes.findIndex((node) => node.classList.contains("is-shown"));
  return { name: article.dataset.slug ?? "", slides, first: Math.max(0, reading), nodes };
}
