// The states between: nothing drawn yet, a first spec that cannot be drawn, a server that has gone.
import { byId, h, replace, sentence, show } from "../ui/dom.js";
import { t, tr } from "../core/i18n/language.js";

/** What the controls call a field, where that is not its name. @type {Record<string, string>} */
const SYMBOLS = { group: "g", comm: "c", F: "f", I: "i", W: "w" };

/** @import {Plan} from "../data/plan.js" */

/** @param {HTMLElement} plot @param {() => void} retry @param {(field: string, value: any) => void} apply */
export function createStatus(plot, retry, apply) {
  const cover = h("div", { class: "plot-state" }, h("strong", { text: t("Asking for the first schedule …") }));
  plot.append(cover);
  byId("stage").classList.add("is-empty");
  const banner = byId("banner");
  let timer = 0;

  /** Nothing to draw: say why, in the timeline's own place. @param {Plan} plan */
  function showCover(plan) {
    show(cover, !plan.schedule);
    byId("stage").classList.toggle("is-empty", !plan.schedule);
    if (plan.schedule) return;
    if (plan.offline) {
      replace(
        cover,
        h("strong", { text: t("The server does not answer") }),
        h("p", {
          text: t("Schedules are built by the server that gave you this page. It is asked again every few seconds."),
        }),
        h("button", { type: "button", class: "button soft", onclick: retry }, t("Try now")),
      );
    } else if (plan.error) {
      const { field, message, nearest } = plan.error;
      replace(
        cover,
        h("strong", { text: t("No such schedule") }),
        h("p", { text: sentence(tr(message)) }),
        nearest === undefined
          ? ""
          : h(
              "button",
              { type: "button", class: "button primary", onclick: () => apply(field, nearest) },
              t("Use {field} = {value}", { field: SYMBOLS[field] ?? field, value: nearest }),
            ),
      );
    } else {
      replace(cover, h("strong", { text: t("Asking for the first schedule …") }));
    }
  }

  return {
    /** @param {Plan[]} plans */
    update(plans) {
      showCover(plans[0]);
      const gone = plans.some((plan) => plan.offline);
      const drawn = plans[0].schedule !== null;
      show(banner, gone && drawn);
      if (gone && drawn) {
        replace(
          banner,
          h("span", {
            text: t("The server does not answer. Playing, zooming and costs still work; other schedules must wait."),
          }),
          h("button", { type: "button", class: "button", onclick: retry }, t("Try now")),
        );
      }
      clearTimeout(timer);
      if (gone) timer = window.setTimeout(retry, 4000);
    },
    /** A word in passing. @param {string} text @param {number} [ms] how long it stays */
    toast(text, ms = 2000) {
      replace(banner, h("span", { text }));
      show(banner, true);
      clearTimeout(timer);
      timer = window.setTimeout(() => show(banner, false), ms);
    },
  };
}
