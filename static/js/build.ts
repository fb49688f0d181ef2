// Starts the workbench: with the order or the task of its address; else with the board that this browser had last, if
// it is not a solved task; else with the first task that is not solved.
import { BuildView, SAVED } from "./app/build_view.ts";
import { exposeForTests } from "./app/inspection.ts";
import { start } from "./app/start.ts";
import { whyFailed } from "./data/api.ts";
import { openSpec, plainPosition, splitQuery } from "./data/workbench/address.ts";
import { nextTask, starsKept } from "./data/workbench/progress.ts";
import { getTask, getTasks, openTask, type Task } from "./data/workbench/tasks.ts";
import { isLinkKey } from "./core/state/link.ts";
import { SPEC_FIELDS } from "./core/schedule/spec_tables.ts";
import { byId } from "./ui/dom.ts";
import { recall } from "./ui/remembered.ts";

/** Whether a query names a schedule, not only a look. */
const namesOrder = (query: string) =>
  [...new URLSearchParams(query).keys()].some((key) => key === "z" || (SPEC_FIELDS.includes(key) && isLinkKey(key)));

async function startBuild() {
  const given = splitQuery(location.search);
  const saved = splitQuery(recall(SAVED) ?? "");
  const isAsked = namesOrder(given.query) || given.own.task !== "";
  const isKept = !isAsked && namesOrder(saved.query) && !starsKept(saved.own.task);
  const { query, own } = isKept ? { ...saved, query: withLook(saved.query, given.query) } : given;
  const listed = isAsked || own.task ? null : firstUnsolved(); // while the rest is loaded
  const started = await start(query || "?");
  if (!started) {
    byId("task-place").append(" "); // the page, which says why, is painted once this is not empty
    return;
  }
  const { defaults } = started.store;
  let { position, problem } = namesOrder(query)
    ? await openSpec(started.store.get().spec, defaults)
    : { position: plainPosition(defaults), problem: "" };
  const wanted = own.task || (position.count > 0 ? "" : ((await listed) ?? ""));
  let task: Task | null = null;
  try {
    if (wanted) task = await getTask(wanted);
  } catch (error) {
    problem ||= whyFailed(error);
  }
  own.task = task?.slug ?? "";
  const isGiven = namesOrder(query) && position.count > 0;
  if (task && !isGiven) position = openTask(task, defaults).start;
  exposeForTests(new BuildView(started, own, position, problem, task, isGiven));
}

/** "" where the server does not answer, or all are solved. */
const firstUnsolved = async () => nextTask((await getTasks().catch(() => ({ tasks: [] }))).tasks)?.slug ?? "";

/** A query with the look of another one in place of its own. */
function withLook(query: string, look: string) {
  const all = new URLSearchParams(query);
  for (const [key, value] of new URLSearchParams(look)) all.set(key, value);
  return `?${all.toString().replaceAll("%2C", ",")}`;
}

startBuild();
