// Starts a stand-alone HTML file: orders, families and code are in the file; its controls change sizes, family and
// costs, and orders and times follow. Sends no request.
import { timeText, useMilliseconds } from "./data/costs/time_unit.ts";
import { byId, h, setText } from "./ui/dom.ts";
import { createEmbedView } from "./app/standalone/embed_view.ts";
import { exposeForTests } from "./app/inspection.ts";
import { loadLanguage } from "./ui/languages.ts";
import { keepOrder } from "./data/orders/orders.ts";
import { IDS } from "./core/state/schedules.ts";
import { decode } from "./core/schedule/wire.ts";
import { t } from "./core/i18n/language.ts";
import { createStandaloneControls, ownKey } from "./app/standalone/controls.ts";
import { Plans } from "./data/plans.ts";
import { createStore, naturalChunks, type Store } from "./data/store.ts";
import type { Family, Spec } from "./core/schedule/types.ts";
import type { ViewState } from "./core/state/link.ts";

/** As backend/jobs/pictures.py writes it. */
type Data = {
  search: string;
  specs: Spec[];
  orders: string[]; // deflated, in base64
  families: Family[];
  defaults: Spec;
  ms: boolean;
  link: string; // "" of a file that no page made
};

const THEMES: ViewState["theme"][] = ["auto", "light", "dark"];

async function inflate(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  const data: Data = JSON.parse(byId("bubbleline-data").textContent ?? "");
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

/** The line below: the page that the file is from, and the theme. */
function addFoot(store: Store, link: string) {
  const button = h("button#theme.button.icon", { onclick: turn });
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
    ...(link ? [h("a.embed-source", { href: link, rel: "noopener", text: link.replace(/^https?:\/\//, "") })] : []),
    button,
  );
}

start();
