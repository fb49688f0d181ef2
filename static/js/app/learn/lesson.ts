// A lesson's page: the text and, beside it, the live timeline, which shows the scene whose text is being read.
import { createCharts } from "./charts.ts";
import { createPresenting, startsPresenting } from "../present/presenting.ts";
import { lessonDeck } from "../present/lesson_deck.ts";
import { createLook, createLookMenu, lookQuery } from "./look.ts";
import { createProgress, createScore } from "./progress.ts";
import { createQuestions } from "./questions.ts";
import { createOnTimeline, valuesOf } from "./on_timeline.ts";
import { gradeTry, opened, type Key, type Sealed } from "./grade.ts";
import { createSizes } from "./sizes.ts";
import { createSteps } from "./steps.ts";
import { SceneView } from "./scene_view.ts";
import { joinClass } from "../classroom/join_class.ts";
import { exposeForTests } from "../inspection.ts";
import { start } from "../start.ts";
import { TimelineView } from "../timeline_view.ts";
import { Offline, getJson } from "../../data/api.ts";
import { tellWork } from "../../data/classroom/work.ts";
import { applyAppearance } from "../../ui/appearance.ts";
import { byId } from "../../ui/dom.ts";
import { listenKeys } from "../../ui/keyboard.ts";
import { loadLanguage } from "../../ui/languages.ts";

const WITHOUT_SCENE = "?family=1f1b&p=4&m=8";

export async function startLesson() {
  const article = byId("lesson");
  const { slug = "" } = article.dataset;
  const language = document.documentElement.dataset.language ?? "en";
  const scenes = [...article.querySelectorAll(".scene")] as HTMLElement[];
  const look = createLook();
  applyAppearance(look.get().view);
  await loadLanguage(`?lang=${language}`, () => import("../../core/i18n/zh/served.ts"));
  createLookMenu(look);
  const progress = createProgress(slug);
  const writeScore = createScore(progress);
  const first = scenes[0]?.dataset.query ?? WITHOUT_SCENE;
  const started = await start(first + lookQuery(look.get().view));
  let scene: SceneView | null = null;
  let key: Key | null = null; // for answers while the server is away
  createQuestions({
    async ask(number, given, tries) {
      const query = { question: String(number), answer: given, try: String(tries), lang: language };
      try {
        return await getJson(`/api/lessons/${slug}/answers?${new URLSearchParams(query)}`);
      } catch (problem) {
        if (!key || !(problem instanceof Offline)) throw problem;
        const question = key.questions.find((each) => each.number === number) as Sealed;
        const found = started ? valuesOf(started.plans.first) : undefined;
        const graded = gradeTry(question, given, tries, key.reasons, found);
        return { ...graded, place: question.kind === "reach" && graded.right ? null : question.view };
      }
    },
    show: ({ place, spot }, number) => scene?.answer(place, spot ?? null, number),
    keep(number, answered) {
      progress.keep(number, answered);
      tellWork(`learn/${slug}/${number}`, () => (answered.right ? "done" : "wrong"));
      writeScore();
    },
    kept: progress.kept,
  });
  if (!started) return;
  const isPresented = startsPresenting();
  const { store, plans } = started;
  const view = new TimelineView(store, plans, { showShortcuts: () => {} });
  listenKeys(view.keys(), byId("stage"));
  look.subscribe(({ view: { theme, colours, hatch } }) => store.setView({ theme, colours, hatch }, "none"));
  const sizes = createSizes(store, plans, byId("lesson-sliders"));
  scene = new SceneView(view);
  createOnTimeline(view, scene, sizes);
  const charts = createCharts(view, article);
  createSteps(article, progress, scene);
  const presenting = createLessonPresenting(article, scene, charts);
  createReset(progress);
  view.begin();
  (window.requestIdleCallback ?? setTimeout)(async () => {
    const answer = await getJson(`/api/lessons/${slug}/key?lang=${language}`).catch(() => null);
    key = answer && opened(answer.sealed);
  });
  createPrint(charts.drawAll);
  exposeForTests(view);
  const shown = scene;
  void joinClass(async () => (await import("../classroom/places.ts")).lessonPlace(view, shown));
  if (isPresented) presenting.enter();
}

/** The key P, and back to where the text is about the slide that was shown last. */
function createLessonPresenting(article: HTMLElement, scene: SceneView, charts: ReturnType<typeof createCharts>) {
  const presenting = createPresenting({
    deck: async () => lessonDeck(article, scene, charts),
    onLeave: () => {
      const current = article.querySelector(".is-current");
      current?.classList.remove("is-current");
      current?.scrollIntoView({ block: "center" });
      if (current?.classList.contains("chart")) charts.redraw(current as HTMLElement);
    },
  });
  listenKeys([presenting.key]);
  return presenting;
}

/** The lesson's last button: everything that is kept of it goes, and it begins again. */
function createReset({ forget }: ReturnType<typeof createProgress>) {
  const button = byId("lesson-reset");
  button.hidden = false;
  button.addEventListener("click", () => {
    forget();
    location.assign(location.pathname + location.search);
  });
}

/** The handout: the text with a picture of each scene, and the charts, which are drawn first. */
function createPrint(ready: () => Promise<void>) {
  const button = byId("lesson-print");
  async function print() {
    await ready();
    window.print();
  }
  button.hidden = false;
  button.addEventListener("click", print);
  // The browser's own way to print waits for no chart: its key does. From its menu a chart that is not drawn is a link.
  addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "p" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    print();
  });
}
