// Follows a task's hints for tests/cli/test_tasks.py: a task as the server gives it in; out, from its start and from
// some legal ops placed at random, the goals that are not met where no hint is left.
import { openTask, type Task } from "../../../static/js/data/workbench/tasks.ts";
import { goalState } from "../../../static/js/core/workbench/goals.ts";
import { hintTo } from "../../../static/js/core/workbench/hints.ts";
import { Session } from "../../../static/js/core/workbench/session.ts";
import { DEFAULTS, answerLines, seeded } from "./helpers.ts";

const WALKS = [0, 2, 7]; // ops placed at random
const MOST_HINTS = 500;

function missedAfter(task: Task, walk: number) {
  const { start, aim } = openTask(task, DEFAULTS);
  const session = new Session(start);
  session.beginTask(start, aim, task.fixed, "");
  const random = seeded(walk);
  for (let placed = 0; placed < walk; placed++) {
    const open = session.position.rows.flatMap((_, rank) => session.legal(rank));
    if (!open.length) break;
    const { rank, op } = open[Math.floor(random() * open.length)];
    session.place(rank, op);
  }
  for (let hints = 0; hints < MOST_HINTS; hints++) {
    const next = hintTo(aim, session.position);
    if (!next) break;
    const made = next.aside === null ? session.place(next.rank, next.op) : session.takeBack(next.rank, next.aside);
    if (!made) return [`${next.sentences.at(-1)} is refused`];
  }
  return aim.goals
    .filter((goal) => goalState(goal, session.position, aim.kinds) !== "met")
    .map(({ metric }) => `${metric} after ${walk} ops at random`);
}

await answerLines((task: Task) => WALKS.flatMap((walk) => missedAfter(task, walk)));
