// Starts the workbench: with the order of its address, else with the board that this browser had last.
import { BuildView, SAVED } from "./app/build_view.js";
import { exposeForTests } from "./app/inspection.js";
import { start } from "./app/start.js";
import { openSpec, plainPosition, splitQuery } from "./data/workbench/address.js";
import { isLinkKey } from "./core/state/link.js";
import { SPEC_FIELDS } from "./core/schedule/spec_tables.js";
import { recall } from "./ui/remembered.js";

/** Whether a query names a schedule, not only a look. @param {string} query */
const namesOrder = (query) =>
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

/** A query with the look of another one in place of its own. @param {string} query @param {string} look */
function withLook(query, look) {
  const all = new URLSearchParams(query);
  for (const [key, value] of new URLSearchParams(look)) all.set(key, value);
  return `?${all.toString().replaceAll("%2C", ",")}`;
}

startBuild();
