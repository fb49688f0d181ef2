// What the timeline shows while there is nothing to draw: loading, a refused first spec, no server. Also brief notices.
import { byId, h, replace, sentence, show, hasServer } from "../ui/dom.ts";
import { remedy } from "../ui/notes.ts";
import { t, tr } from "../core/i18n/language.ts";
import type { Plan } from "../data/plan.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";

/** What the controls call a field, where that is not its name. */
const SYMBOLS: Record<string, string> = { group: "g", comm: "c", F: "f", I: "i", W: "w" };

const RETRY = 4000; // ms

export function createStatus(store: Store, plans: Plans, plot: HTMLElement) {
  const cover = h("div.plot-state", h("strong", { text: t("Loading the first schedule …") }));
  plot.append(cover);
  byId("stage").classList.add("is-empty");
  const banner = byId("banner");
  let retrying = 0; // timer
  let notice = 0; // timer of a brief notice; 0: none is shown
  const retry = () => plans.sync(true);
  const isOffline = () => plans.onScreen().some((plan) => plan.offline);
  const apply = (field: string, value: any) => store.set({ spec: { ...store.get().spec, [field]: value } });

  /** Why there is nothing to draw, in place of the timeline. */
  function showCover(plan: Plan) {
    show(cover, !plan.order);
    byId("stage").classList.toggle("is-empty", !plan.order);
    if (plan.order) return;
    if (plan.offline) {
      replace(
        cover,
        h("strong", { text: t("The server does not answer") }),
        h("p", { text: t("The server searches this schedule or reads it. The page tries again every few seconds.") }),
        h("button.button.soft", { onclick: retry }, t("Try now")),
      );
    } else if (plan.error) {
      const { field, nearest } = plan.error;
      replace(
        cover,
        h("strong", { text: hasServer || nearest !== undefined ? t("No such schedule") : t("Not among these files") }),
        h("p", { text: sentence(tr(plan.error)) }),
        nearest === undefined
          ? ""
          : remedy(SYMBOLS[field] ?? field, nearest, () => apply(field, nearest), "button.button.primary"),
      );
    } else {
      replace(cover, h("strong", { text: t("Loading the first schedule …") }));
    }
  }

  /** A brief notice, else that the server is away. */
  function showBanner() {
    if (notice) return;
    const lost = plans.first.order !== null && isOffline();
    show(banner, lost);
    if (!lost || banner.querySelector("button")) return;
    replace(
      banner,
      h("span", {
        text: t("The server does not answer. Constructed schedules still work; searched and imported ones do not."),
      }),
      h("button.button", { onclick: retry }, t("Try now")),
    );
  }

  plans.onAnswer(() => {
    showCover(plans.first);
    showBanner();
    clearTimeout(retrying);
    if (isOffline()) retrying = window.setTimeout(retry, RETRY);
  });

  return {
    /** Show a brief notice. ms: how long it stays. */
    toast(text: string, ms = 2000) {
      replace(banner, h("span", { text }));
      show(banner, true);
      clearTimeout(notice);
      notice = window.setTimeout(() => {
        notice = 0;
        showBanner();
      }, ms);
    },
  };
}
