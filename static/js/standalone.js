// Starts a stand-alone HTML file: orders, families and code are in the file; its controls change sizes, family and
// costs, and orders and times follow. Sends no request.
import { timeText, useMilliseconds } from "./data/costs/time_unit.js";
import { byId, h, setText } from "./ui/dom.js";
import { createEmbedView } from "./app/embed_view.js";
import { exposeForTests } from "./app/inspection.js";
import { loadLanguage } from "./ui/languages.js";
import { keepOrder } from "./data/orders/orders.js";
import { IDS } from "./core/state/schedules.js";
import { decode } from "./core/schedule/wire.js";
import { t } from "./core/i18n/language.js";
import { createStandaloneControls, ownKey } from "./app/standalone/controls.js";
import { Plans } from "./data/plans.js";
import { createStore, naturalChunks } from "./data/store.js";

/** @import {Family, Spec} from "./core/schedule/types.js" */
/** @import {Store} from "./data/store.js" */
/** @import {ViewState} from "./core/state/link.js" */
/**
 * @typedef {{search: string, specs: Spec[], orders: string[], families: Family[], defaults: Spec, ms: boolean, link:
 *   string}} Data as backend/web/routes/standalone.py writes it; orders: deflated, in base64
 */

/** @type {ViewState["theme"][]} */
const THEMES = ["auto", "light", "dark"];

/** @param {string} text @returns {Promise<ArrayBuffer>} */
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  /** @type {Data} */
  const data = JSON.parse(byId("bubbleline-data").textContent ?? "");
  await loadLanguage(data.search);
  const store = createStore({
    defaults: data.defaults,
    natural: naturalChunks(data.families),
    fixed: data.search,
  });
  store.set({ spec: data.specs[0], others: data.specs.slice(1), preset: null, origin: undefined }, "none");
  useMilliseconds(data.ms);
  const orders = await Promise.all(data.orders.map(inflate));
  orders.forEach((body, at) => keepOrder(ownKey(IDS[at]), decode(body)));
  addFoot(store, data.link);
  const plans = new Plans(store, data.families, ownKey);
  byId("embed-costs").append(createStandaloneControls(store, plans, data.specs, timeText));
  exposeForTests(createEmbedView(store, plans));
}

/** The line below: the page that the file is from, and the theme. @param {Store} store @param {string} link */
function addFoot(store, link) {
  const button = h("button", { type: "button", class: "button icon", id: "theme", onclick: turn });
  function turn() {
    store.setView({ theme: THEMES[(THEMES.indexOf(store.get().view.theme) + 1) % THEMES.length] });
    show();
  }
  function show() {
    const { theme } = store.get().view;
    const name = { auto: t("Theme: as the system"), light: t("Theme: light"), dark: t("Theme: dark") }[theme];
    setText(button, { auto: "◐", light: "○", dark: "●" }[theme]);
    button.title = name;
    button.setAttribute("aria-label", name);
  }
  show();
  byId("embed-foot").append(
    h("a", { class: "embed-source", href: link, rel: "noopener", text: link.replace(/^https?:\/\//, "") }),
    button,
  );
}

start();
