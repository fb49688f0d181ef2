// The map of the tasks: by idea, each with its difficulty and its stars, and where to go on.
import { whyFailed } from "../../data/api.ts";
import {
  MOST_STARS,
  forgetStars,
  keepStars,
  nextTask,
  onStarsElsewhere,
  starsKept,
} from "../../data/workbench/progress.ts";
import { textOf, type Listed, type Tasks } from "../../data/workbench/tasks.ts";
import { t } from "../../core/i18n/language.ts";
import { h, keepFocus, replace, setText, show } from "../../ui/dom.ts";
import { setNote } from "../../ui/notes.ts";

/** go: opens a task, "" an empty board. */
type Parts = { load: () => Promise<Tasks>; go: (slug: string) => void; present: () => string };

const MOST_LEVEL = 5;

export function createTaskMap({ load, go, present }: Parts) {
  const count = h("p#map-count.muted", { role: "status" });
  const failed = h("p.problem", { role: "alert", hidden: true });
  const body = h("div.map-ideas");
  const forget = h("button#map-forget.button.soft", { onclick: ask }, t("Forget my stars"));
  const close = h("button.button.icon", { "aria-label": t("Close"), onclick: () => node.close() }, "×");
  const node = h(
    "dialog#task-map.popup.share.task-map",
    { "aria-labelledby": "map-title" },
    h("div.share-head", h("h2#map-title", { text: t("Tasks") }), close),
    h("section", count, failed, body),
    h(
      "section.row",
      h("button#map-own.button.soft", { onclick: () => leave("") }, t("An empty board of my own")),
      forget,
      h("p.fine", {
        text: t("1 star: the goals are met; 2: in the time of par; 3: proved optimal. Kept in this browser only."),
      }),
    ),
  );
  let known: Tasks | null = null;
  let undo: [string, number][] = []; // the stars that were forgotten last
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  document.body.append(node);
  onStarsElsewhere(write);

  function leave(slug: string) {
    node.close();
    go(slug);
  }

  /** Forget all stars; the same button brings them back. */
  function ask() {
    if (!known) return;
    if (undo.length) for (const [slug, stars] of undo) keepStars(slug, stars);
    const had = undo.length ? [] : known.tasks.map(({ slug }): [string, number] => [slug, starsKept(slug)]);
    if (!undo.length) forgetStars(known.tasks);
    undo = had.filter(([, stars]) => stars > 0);
    write();
  }

  function write() {
    if (!known || !node.open) return;
    const { ideas, tasks } = known;
    const stars = tasks.map(({ slug }) => starsKept(slug));
    setText(
      count,
      t("{solved} of {all} tasks solved, {stars} of {most} stars.", {
        solved: stars.filter(Boolean).length,
        all: tasks.length,
        stars: stars.reduce((sum, each) => sum + each, 0),
        most: MOST_STARS * tasks.length,
      }),
    );
    const next = nextTask(tasks)?.slug;
    keepFocus(node, () =>
      replace(
        body,
        ...ideas.map(({ slug, title, text }) => {
          const own = tasks.filter(({ idea }) => idea === slug);
          const solved = own.filter((task) => starsKept(task.slug)).length;
          const done = h("span.fine", { text: `${solved}/${own.length}` });
          return h(
            "section.map-idea",
            { "aria-label": textOf(title) },
            h("h3.row", h("span", { text: textOf(title) }), done),
            h("p.fine", { text: textOf(text) }),
            h("ol", ...own.map((task) => h("li", tile(task, next)))),
          );
        }),
      ),
    );
    setText(forget, undo.length ? t("Bring them back") : t("Forget my stars"));
    show(forget, undo.length > 0 || stars.some(Boolean));
  }

  function tile({ slug, number, level, title }: Listed, next: string | undefined) {
    const isNext = slug === next;
    const stars = starsKept(slug);
    return h(
      "button",
      {
        class: `map-task${stars ? " is-solved" : ""}${isNext ? " is-next" : ""}`,
        id: `map-${slug}`,
        "aria-current": slug === present() ? "true" : null,
        onclick: () => leave(slug),
      },
      h("span.map-mark", { "aria-hidden": "true", text: stars ? "✓" : String(number) }),
      h("span.map-name", { text: textOf(title) }),
      h("span.map-facts", levelNode(level), stars ? starsNode(stars) : isNext ? h("b", { text: t("go on here") }) : ""),
    );
  }

  return {
    async open() {
      undo = [];
      node.showModal();
      try {
        known ??= await load();
        show(failed, false);
      } catch (problem) {
        setNote(failed, whyFailed(problem));
      }
      write();
      document.getElementById(`map-${present() || nextTask(known?.tasks ?? [])?.slug}`)?.focus();
    },
  };
}

/** How hard a task is. */
export const levelNode = (level: number) =>
  h(
    "span.map-level",
    { role: "img", "aria-label": t("difficulty {level} of {most}", { level, most: MOST_LEVEL }) },
    h("span", { "aria-hidden": "true", text: "●".repeat(level) }),
    h("span.is-off", { "aria-hidden": "true", text: "●".repeat(MOST_LEVEL - level) }),
  );

export const starsNode = (stars: number) =>
  h(
    "span.stars",
    { role: "img", "aria-label": t("{stars} of {most} stars", { stars, most: MOST_STARS }) },
    h("span", { "aria-hidden": "true", text: "★".repeat(stars) }),
    h("span.is-off", { "aria-hidden": "true", text: "★".repeat(MOST_STARS - stars) }),
  );
