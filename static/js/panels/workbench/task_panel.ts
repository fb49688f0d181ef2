// A task: what to do, its goals as they are met, and the entry to its board, which the server checks.
import { whyFailed } from "../../data/api.ts";
import { submit, textOf, type Listed, type Task } from "../../data/workbench/tasks.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../../core/i18n/numbers.ts";
import { goalState, isDone, type Goal } from "../../core/workbench/goals.ts";
import { titleOf } from "../../core/workbench/references.ts";
import type { Position } from "../../core/workbench/position.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { optionNodes, type Choice } from "../../ui/fields/choices.ts";
import { setNote } from "../../ui/notes.ts";
import type { Session } from "../../core/workbench/session.ts";
import type { createTaskBoard } from "./task_board.ts";

type Parts = {
  session: Session;
  go: (slug: string) => void;
  load: () => Promise<Listed[]>;
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

/** go: opens a task, "" leaves the present one; load: requests the list of tasks. */
export function createTaskPanel({ session, go, load, board }: Parts) {
  const choice = h("select#bench-task", { onchange: () => go(choice.value) });
  const title = h("h2#task-title");
  const text = h("p#task-text");
  const goals = h("ul#task-goals.task-goals", { "aria-label": t("Goals") });
  const name = h("input#task-name", { type: "text", maxlength: LONGEST_NAME, autocomplete: "nickname" });
  const enter = h("button#task-enter.button", { onclick: send });
  const status = h("p#task-status", { role: "status" });
  const entry = h(
    "div.task-entry",
    h("label.bench-field", { for: "task-name" }, h("span", { text: t("Name on the board (if you like)") }), name),
    enter,
  );
  const body = h("div#task.task", { hidden: true }, title, text, goals, entry, status, board.node);
  const pick = h("label.bench-field.wide", { for: "bench-task" }, h("span", { text: t("Task") }), choice);
  const open = h("button#bench-tasks.button.soft", { onclick: list }, t("Tasks …"));
  const failed = h("p.problem", { role: "alert", hidden: true });
  const node = h("section", { "aria-label": t("Task") }, open, pick, failed, body);
  show(pick, false);
  let task: Task | null = null;

  /** Put the list of tasks in the place of its button. */
  async function list() {
    open.disabled = true;
    try {
      const listed = await load();
      replace(
        choice,
        ...optionNodes([
          ["", t("none: an own board")],
          ...listed.map((each): Choice => [each.slug, `${each.number} · ${textOf(each.title)}`]),
        ]),
      );
      choice.value = task?.slug ?? "";
      show(pick, true);
      show(open, false);
      show(failed, false);
      choice.focus();
    } catch (problem) {
      setNote(failed, whyFailed(problem));
    }
    open.disabled = false;
  }

  async function send() {
    if (!task) return;
    const { slug } = task;
    enter.disabled = true;
    try {
      const { solved, place } = await submit(slug, session.position, name.value.trim());
      const where = place === null ? "" : `${t(" ")}${t("Place {place} on its board.", { place })}`;
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
    setText(enter, solved ? t("Enter it") : t("Enter it unsolved"));
    enter.classList.toggle("primary", solved);
    enter.classList.toggle("soft", !solved);
    show(entry, isDone(position));
  }

  return {
    node,
    sync,
    put(next: Task | null) {
      task = next;
      board.put(next);
      show(body, next !== null);
      choice.value = next?.slug ?? "";
      setText(status, "");
      if (!next) return;
      setText(title, textOf(next.title));
      setText(text, textOf(next.text));
      sync(session.position);
    },
  };
}

function goalText(goal: Goal) {
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
