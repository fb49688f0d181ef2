// Starts an embed: the view of its address without the page around it, and a link to all of it.
import { getJson } from "./data/api.js";
import { Pricing, pricesOf } from "./data/costs/pricing.js";
import { hasCosts } from "./data/costs/derive.js";
import { useMilliseconds } from "./data/costs/time_unit.js";
import { Desk } from "./data/plans.js";
import { byId, h, replace, sentence } from "./ui/dom.js";
import { EmbedView } from "./app/embed_view.js";
import { loadLanguage } from "./ui/languages.js";
import { readPalette } from "./ui/palette.js";
import { t, tr } from "./core/i18n/language.js";
import { createStore } from "./data/store.js";
import { expose } from "./app/inspection.js";

/** @import {Store} from "./data/store.js" */
/** @import {Catalogue} from "./main.js" */

async function start() {
  await loadLanguage(location.search);
  readPalette();
  const query = new URLSearchParams(location.search);
  query.delete("controls"); // the server has put it into the page
  /** @type {Catalogue} */
  let catalogue;
  try {
    catalogue = await getJson("/api/families");
  } catch {
    const again = h(
      "button",
      { type: "button", class: "button soft", onclick: () => location.reload() },
      t("Try again"),
    );
    replace(
      byId("plot"),
      h("div", { class: "plot-state" }, h("strong", { text: t("The server does not answer") }), again),
    );
    return;
  }
  const natural = Object.fromEntries(catalogue.families.map((family) => [family.name, family.v.default]));
  const store = createStore(catalogue.defaults, natural, `?${query}`);
  await pricesOf(store.get(), catalogue.defaults);
  new Pricing(store, () => {});
  const { preset, spec } = store.get();
  useMilliseconds(preset !== null && hasCosts(spec, catalogue.defaults));
  const view = new EmbedView(store, (changed) => new Desk(store, catalogue.families, changed));
  foot(store, view);
  view.begin();
  expose(view);
}

/**
 * The line below: whose this is, and the way to the whole page as the view is now.
 * @param {Store} store
 * @param {EmbedView} view
 */
function foot(store, view) {
  const link = h(
    "a",
    { class: "embed-open", id: "embed-open", href: "/", target: "_blank", rel: "noopener" },
    t("Open full view"),
    " ↗",
  );
  const aim = () => {
    link.href = `/${store.search({ at: view.playback.at })}`;
  };
  for (const kind of ["pointerenter", "pointerdown", "focus", "click", "auxclick", "contextmenu"])
    link.addEventListener(kind, aim, { capture: true });
  store.subscribe(aim);
  aim();
  const [problem] = store.problems;
  const note = problem
    ? sentence(tr(problem.message))
    : store.get().view.run
      ? t("The measured run is in the full view.")
      : "";
  byId("embed-foot").append(h("span", { class: "embed-note", text: note }), link);
}

start();
