// Starts a page that plays by itself: orders, families and code stand in the file; costs are its own to change, and
// times follow from them here. Asks no server for anything.
import { timeText, useMilliseconds } from "./costs_unit.js";
import { byId, h } from "./dom.js";
import { EmbedView } from "./embed_view.js";
import { keepOrder } from "./orders.js";
import { IDS } from "./pure/slots.js";
import { decode } from "./pure/wire.js";
import { t } from "./pure/lang.js";
import { createCostSliders } from "./standalone_costs.js";
import { KeptDesk, keyOf } from "./standalone_desk.js";
import { createStore } from "./store.js";
import { createTheme } from "./theme.js";
import { expose } from "./window.js";

/** @import {Family} from "./picker.js" */
/** @import {Spec} from "./pure/types.js" */
/** @typedef {{search: string, specs: Spec[], orders: string[], families: Family[], defaults: Spec, ms: boolean, link: string}} Data
 *   as backend/web/standalone.py writes it; orders: deflated, in base64 */

/** @param {string} text @returns {Promise<ArrayBuffer>} */
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  /** @type {Data} */
  const data = JSON.parse(byId("bubbleline-data").textContent ?? "");
  const natural = Object.fromEntries(data.families.map((family) => [family.name, family.v.default]));
  const store = createStore(data.defaults, natural, data.search);
  store.set({ spec: data.specs[0], others: data.specs.slice(1), preset: null, origin: undefined }, "none");
  useMilliseconds(data.ms);
  const orders = await Promise.all(data.orders.map(inflate));
  orders.forEach((body, at) => keepOrder(keyOf(IDS[at]), decode(body)));
  foot(data.link);
  const theme = createTheme((next) => store.setView({ theme: next }), () => {});
  store.subscribe((state) => theme.set(state.view.theme));
  theme.set(store.get().view.theme);
  const view = new EmbedView(store, (changed) => new KeptDesk(store, data.families, changed));
  byId("embed-costs").append(createCostSliders(store, data.specs, data.families, timeText));
  view.begin();
  expose(view);
}

/** Whose this is, where it comes from, and the theme. @param {string} link */
function foot(link) {
  byId("embed-foot").append(h("a", { class: "embed-source", href: link, rel: "noopener", text: link.replace(/^https?:\/\//, "") }),
    h("button", { type: "button", class: "button icon", id: "theme", "aria-label": t("Theme") }));
}

start();
