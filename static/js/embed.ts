// Starts an embed: the timeline of its address, and a link to the whole page.
import { createEmbedView } from "./app/standalone/embed_view.ts";
import { exposeForTests } from "./app/inspection.ts";
import { start } from "./app/start.ts";
import { hasCosts } from "./data/costs/derive.ts";
import { useMilliseconds } from "./data/costs/time_unit.ts";
import { byId, h, sentence } from "./ui/dom.ts";
import { t, tr } from "./core/i18n/language.ts";
import type { Store } from "./data/store.ts";
import type { Playback } from "./timeline/interact/playback.ts";

async function startEmbed() {
  const query = new URLSearchParams(location.search);
  query.delete("controls"); // the server has applied it
  const started = await start(`?${query}`);
  if (!started) return;
  const { store, plans } = started;
  const { preset, spec } = store.get();
  useMilliseconds(preset !== null && hasCosts(spec, store.defaults));
  const view = createEmbedView(store, plans);
  addFoot(store, view.playback);
  exposeForTests(view);
}

/** The line below: a link to the whole page as the view is now, and what of its link could not be shown here. */
function addFoot(store: Store, playback: Playback) {
  const link = h(
    "a#embed-open.embed-open",
    { href: "/", target: "_blank", rel: "noopener" },
    t("Open full view"),
    " ↗",
  );
  const update = () => {
    link.href = `/${store.search({ at: playback.at })}`;
  };
  for (const kind of ["pointerenter", "pointerdown", "focus", "click", "auxclick", "contextmenu"])
    link.addEventListener(kind, update, { capture: true });
  store.subscribe(update);
  update();
  const [problem] = store.problems();
  const note = problem ? sentence(tr(problem)) : store.get().view.run ? t("The measured run is in the full view.") : "";
  byId("embed-foot").append(h("span.embed-note", { text: note }), link);
}

startEmbed();
