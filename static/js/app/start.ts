// Loads what the page and an embed begin with: the language, the families, the costs of the link, and the store.
import { getJson } from "../data/api.ts";
import { PresetCosts } from "../data/costs/preset_costs.ts";
import { Pricing, loadPrices } from "../data/costs/pricing.ts";
import { Plans } from "../data/plans.ts";
import { createStore, naturalChunks } from "../data/store.ts";
import { byId, h, replace } from "../ui/dom.ts";
import { loadLanguage } from "../ui/languages.ts";
import { readPalette } from "../ui/palette.ts";
import { t } from "../core/i18n/language.ts";
import { queryOf } from "../core/state/first_visit.ts";
import { parse } from "../core/state/link.ts";
import type { Catalogue } from "../core/schedule/types.ts";

export type Started = NonNullable<Awaited<ReturnType<typeof start>>>;

/**
 * Returns null where the server does not answer, which the page then shows. fixed: the query to begin with, where the
 * address bar is not this page's to read or write.
 */
export async function start(fixed: string | null = null) {
  await loadLanguage(location.search, () => import("../core/i18n/zh/served.ts"));
  readPalette();
  let catalogue: Catalogue;
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
      "div.plot-state",
      h("strong", { text: t("The server does not answer") }),
      h("p", { text: t("It served this page and no longer responds. Start it again, or check the connection.") }),
      h("button.button.soft", { onclick: () => location.reload() }, t("Try again")),
    ),
  );
}
