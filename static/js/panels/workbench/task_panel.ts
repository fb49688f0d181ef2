// A task: what to do, its goals as they are met, its stars, and the entry to its leaderboard, which the server checks.
import { whyFailed } from "../../data/api.ts";
import { starsKept } from "../../data/workbench/progress.ts";
import { submit, textOf, type Task } from "../../data/workbench/tasks.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../../core/i18n/numbers.ts";
import { goalState, isDone, type Goal } from "../../core/workbench/goals.ts";
import { titleOf } from "../../core/workbench/references.ts";
import type { Position } from "../../core/workbench/position.ts";
import { h, hasServer, replace, setText, show } from "../../ui/dom.ts";
import { levelNode, starsNode } from "./task_map.ts";
import type { Session } from "../../core/workbench/session.ts";
import { metricTexts, type createTaskBoard } from "./task_board.ts";

type Parts = {
  session: Session;
  openMap: () => void;
  openCard: () => void;
  board: ReturnType<typeof createTaskBoard>;
};

const LONGEST_NAME = 24;
/** How a goal is marked, and what a screen reader says of it. */
const MARKS = {
  open: ["○", () => ""],
  met: ["✓", () => t(" (met)")],
  missed: ["✗", () => t(" Not met.")],
  lost: ["✗", () => t(" Can no longer be met: take something back.")],
} as const;

export function createTaskPanel({ session, openMap, openCard, board }: Parts) {
  const title = h("h2#task-title");
  const facts = h("p.row.task-facts");
  const text = h("p#task-text");
  const goals = h("ul#task-goals.task-goals", { "aria-label": t("Goals") });
  const name = h("input#task-name", { type: "text", maxlength: LONGEST_NAME, autocomplete: "nickname" });
  const enter = h("button#task-enter.button", { onclick: send });
  const status = h("p#task-status", { role: "status" });
  const entry = h(
    "div.task-entry",
    h("label.bench-field", { for: "task-name" }, h("span", { text: t("Name on the leaderboard (if you like)") }), name),
    enter,
  );
  const card = h("button#task-card.button.soft", { onclick: openCard }, t("Show the card"));
  const body = h("div#task.task", { hidden: true }, title, facts, text, goals, card, entry, status, board.node);
  const open = h("button#bench-tasks.button.soft", { onclick: openMap }, t("All tasks"));
  const node = h("section", { "aria-label": t("Task") }, open, body);
  /** The goals over the board, where the panel is above the board and may be out of sight. */
  const line = h("p#task-line.task-line", { hidden: true, "aria-hidden": "true" });
  let task: Task | null = null;

  async function send() {
    if (!task) return;
    const { slug } = task;
    enter.disabled = true;
    try {
      const { solved, place } = await submit(slug, session.position, name.value.trim());
      const where = place === null ? "" : `${t(" ")}${t("Place {place} on its leaderboard.", { place })}`;
      void board.refresh();
      setText(status, `${solved ? t("Solved: the server agrees.") : t("Entered; not all goals are met.")}${where}`);
    } catch (problem) {
      setText(status, whyFailed(problem));
    }
    enter.disabled = false;
  }

  function sync(position: Position) {
    if (!task) return;
    const { kinds } = task;
    const states = task.goals.map((goal) => goalState(goal, position, kinds));
    replace(
      goals,
      ...task.goals.map((goal, at) => {
        const [mark, said] = MARKS[states[at]];
        return h(
          "li",
          { class: `is-${states[at]}`, "data-metric": goal.metric },
          h("span", { "aria-hidden": "true", text: `${mark} ` }),
          goalText(goal),
          h(`span${states[at] === "met" ? ".visually-hidden" : ""}`, { text: said() }),
        );
      }),
    );
    const solved = states.every((state) => state === "met");
    const kept = starsKept(task.slug);
    replace(facts, levelNode(task.level), kept ? starsNode(kept) : "");
    show(card, solved);
    setText(line, task.goals.map((goal, at) => `${MARKS[states[at]][0]} ${goalText(goal)}`).join("\n"));
    setText(enter, solved ? t("Enter it") : t("Enter it unsolved"));
    enter.classList.toggle("primary", solved);
    enter.classList.toggle("soft", !solved);
    show(entry, hasServer && isDone(position));
  }

  return {
    node,
    line,
    sync,
    /** Go to the entry on the leaderboard. */
    enter() {
      sync(session.position);
      name.focus();
    },
    put(next: Task | null) {
      task = next;
      board.put(next);
      show(body, next !== null);
      show(line, next !== null);
      setText(status, "");
      if (!next) return;
      setText(title, textOf(next.title));
      setText(text, textOf(next.text));
      sync(session.position);
    },
  };
}

function goalText(goal: Goal) {
  if ("below" in goal)
    return t("{metric} below {family}'s {most}.", {
      metric: metricTexts()[goal.metric],
      family: titleOf(goal.than),
      most: goal.metric === "bubble" ? formatPercent(goal.below) : num(goal.below),
    });
  if (!("at_most" in goal))
    return goal.metric === "recognised"
      ? t("It is {family}.", { family: titleOf(goal.as[0]) })
      : t("It is none of the known orders.");
  const most = num(goal.at_most);
  if (goal.metric === "makespan") return t("The step takes at most {most}.", { most });
  if (goal.metric === "bubble")
    return t("At most {most} of the step are bubble.", { most: formatPercent(goal.at_most) });
  if (goal.metric === "peak") return t("No rank holds more than {most} micro-batches.", { most });
  if (goal.metric === "messages") return t("At most {most} messages.", { most });
  return t("A rule of at most {most} symbols writes it.", { most });
}
