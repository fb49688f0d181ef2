// Starts the workbench: with the order of its address, else with the board that this browser had last.
import { BuildView, SAVED } from "./app/build_view.ts";
import { exposeForTests } from "./app/inspection.ts";
import { start } from "./app/start.ts";
import { openSpec, plainPosition, splitQuery } from "./data/workbench/address.ts";
import { isLinkKey } from "./core/state/link.ts";
import { SPEC_FIELDS } from "./core/schedule/spec_tables.ts";
import { recall } from "./ui/remembered.ts";

/** Whether a query names a schedule, not only a look. */
const namesOrder = (query: string) =>
  [...new URLSearchParams(query).keys()].some((key) => key === "z" || (SPEC_FIELDS.includes(key) && isLinkKey(key)));

async function startBuild() {
  const given = splitQuery(location.search);
  const saved = splitQuery(recall(SAVED) ?? "");
  const isAsked = namesOrder(given.query) || given.own.task !== "";
  const { query, own } =
    isAsked || !namesOrder(saved.query) ? given : { ...saved, query: withLook(saved.query, given.query) };
  const started = await start(query || "?");
  if (!started) return;
  const { defaults } = started.store;
  const { position, problem } = namesOrder(query)
    ? await openSpec(started.store.get().spec, defaults)
    : { position: plainPosition(defaults), problem: "" };
  const view = new BuildView(started, own, position, problem);
  exposeForTests(view);
}

/** A query with the look of another one in place of its own. */
function withLook(query: string, look: string) {
  const all = new URLSearchParams(query);
  for (const [key, value] of new URLSearchParams(look)) all.set(key, value);
  return `?${all.toString().replaceAll("%2C", ",")}`;
}

startBuild();
