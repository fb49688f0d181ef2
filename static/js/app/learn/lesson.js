// A lesson's page: the text and, beside it, the live timeline, which shows the scene whose text is being read.
import { createCharts } from "./charts.js";
import { createLook, createLookMenu, lookQuery } from "./look.js";
import { createProgress } from "./progress.js";
import { createQuestions } from "./questions.js";
import { createSizes } from "./sizes.js";
import { createSteps } from "./steps.js";
import { SceneView } from "./scene_view.js";
import { exposeForTests } from "../inspection.js";
import { start } from "../start.js";
import { TimelineView } from "../timeline_view.js";
import { getJson } from "../../data/api.js";
import { applyAppearance } from "../../ui/appearance.js";
import { byId } from "../../ui/dom.js";
import { listenKeys } from "../../ui/keyboard.js";
import { loadLanguage } from "../../ui/languages.js";

const WITHOUT_SCENE = "?family=1f1b&p=4&m=8";

export async function startLesson() {
  const article = byId("lesson");
  const { slug = "" } = article.dataset;
  const language = document.documentElement.dataset.language ?? "en";
  const scenes = /** @type {HTMLElement[]} */ ([...article.querySelectorAll(".scene")]);
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${language}`);
  createLookMenu(look);
  const progress = createProgress(slug);
  const first = scenes[0]?.dataset.query ?? WITHOUT_SCENE;
  const started = await start(first + lookQuery(look.get().view));
  /** @type {SceneView | null} */
  let scene = null;
  createQuestions({
    ask(number, given, tries) {
      const query = { question: String(number), answer: given, try: String(tries), lang: language };
      return getJson(`/api/lessons/${slug}/answers?${new URLSearchParams(query)}`);
    },
    show: (place) => scene?.visit(place),
    keep: progress.keep,
    kept: progress.kept,
  });
  if (!started) return;
  const { store, plans } = started;
  const view = new TimelineView(store, plans, { showShortcuts: () => {} });
  listenKeys(view.keys(), byId("stage"));
  look.subscribe(({ view: { theme, colours, hatch } }) => store.setView({ theme, colours, hatch }, "none"));
  createSizes(store, plans, byId("lesson-sliders"));
  scene = new SceneView(view);
  const charts = createCharts(store, article);
  createSteps(article, progress, scene);
  view.begin();
  createPrint(charts.drawAll);
  exposeForTests(view);
}

/** The handout: the text with a picture of each scene, and the charts, which are drawn first. @param {() =>
 * Promise<void>} ready */
function createPrint(ready) {
  const button = byId("lesson-print");
  button.hidden = false;
  button.addEventListener("click", async () => {
    await ready();
    window.print();
  });
}
