// Loads what the page and an embed begin with: the language, the families, the costs of the link, and the store.
import { getJson } from "../data/api.js";
import { PresetCosts } from "../data/costs/preset_costs.js";
import { Pricing, loadPrices } from "../data/costs/pricing.js";
import { Plans } from "../data/plans.js";
import { createStore, naturalChunks } from "../data/store.js";
import { byId, h, replace } from "../ui/dom.js";
import { loadLanguage } from "../ui/languages.js";
import { readPalette } from "../ui/palette.js";
import { t } from "../core/i18n/language.js";
import { queryOf } from "../core/state/first_visit.js";
import { parse } from "../core/state/link.js";

/** @import {Catalogue} from "../core/schedule/types.js" */
/** @typedef {NonNullable<Awaited<ReturnType<typeof start>>>} Started */

/**
 * Returns null where the server does not answer, which the page then shows.
 * @param {string | null} [fixed] the query to begin with, where the address bar is not this page's to read or write
 */
export async function start(fixed = null) {
  await loadLanguage(location.search);
  readPalette();
  /** @type {Catalogue} */
  let catalogue;
  try {
    catalogue = await getJson("/api/families");
  } catch {
    showOffline();
    return null;
  }
  const { families, defaults } = catalogue;
  const natural = naturalChunks(families);
  await loadPrices(parse(fixed ?? queryOf(location.search), defaults, natural).state, defaults);
  const presetCosts = new PresetCosts(defaults);
  const store = createStore({ defaults, natural, derivations: presetCosts, fixed });
  return { store, plans: new Plans(store, families), pricing: new Pricing(store, presetCosts) };
}

function showOffline() {
  replace(
    byId("plot"),
    h(
      "div",
      { class: "plot-state" },
      h("strong", { text: t("The server does not answer") }),
      h("p", { text: t("It served this page and no longer responds. Start it again, or check the connection.") }),
      h("button", { type: "button", class: "button soft", onclick: () => location.reload() }, t("Try again")),
    ),
  );
}
