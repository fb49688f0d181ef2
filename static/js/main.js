// Starts the page: asks for the families, reads the URL, and hands over to the view. Says so when the server is gone.
import { getJson } from "./data/api.js";
import { pricesOf } from "./data/costs/pricing.js";
import { byId, h, replace } from "./ui/dom.js";
import { loadLanguage } from "./ui/languages.js";
import { readPalette } from "./ui/palette.js";
import { t } from "./core/i18n/language.js";
import { createStore } from "./data/store.js";
import { View } from "./app/page_view.js";
import { expose } from "./app/inspection.js";

/**
 * @typedef {{families: import("./panels/controls/family_picker.js").Family[], defaults:
 *   import("./core/schedule/types.js").Spec}} Catalogue
 */

async function start() {
  await loadLanguage(location.search);
  readPalette();
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
      h(
        "div",
        { class: "plot-state" },
        h("strong", { text: t("The server does not answer") }),
        h("p", { text: t("It gave you this page and then went away. Start it again, or check the connection.") }),
        again,
      ),
    );
    return;
  }
  const natural = Object.fromEntries(catalogue.families.map((family) => [family.name, family.v.default]));
  const store = createStore(catalogue.defaults, natural);
  await pricesOf(store.get(), catalogue.defaults);
  expose(new View(store, catalogue.families));
}

start();
