// The buttons along the top: compare, shortcuts, run.
import { byId, h } from "../ui/dom.js";
import { moveTo } from "../data/spec_fields.js";
import { t } from "../core/i18n/language.js";
import { IDS } from "../core/state/schedules.js";

/** @import {Plans} from "../data/plans.js" */
/** @import {Store} from "../data/store.js" */

/** The family to compare each with first. @type {Record<string, string>} */
const COUNTERPARTS = {
  gpipe: "1f1b",
  "1f1b": "gpipe",
  interleaved: "1f1b",
  "interleaved-zb": "interleaved",
  "zb-h1": "1f1b",
  "zb-h2": "zb-h1",
  chimera: "1f1b",
  "chimera-auto": "dualpipe",
  dualpipe: "1f1b",
  dualpipev: "1f1b",
};
/** Those to add after it, in this order. */
const NEXT = ["zb-h1", "interleaved", "v-half", "dualpipev", "gpipe"];

/**
 * @typedef {object} Parts
 * @property {Store} store
 * @property {Plans} plans
 * @property {{edit: (at: number) => void}} controls
 * @property {{start: () => void, isLive: () => boolean, look: () => void}} runs look: finds out whether one can start
 * @property {() => void} showShortcuts
 * @property {() => void} openImport
 */

/**
 * A label, and a shorter one for phones: the style sheet shows one of them.
 * @param {string} wide
 * @param {string} narrow
 */
const inTwoWidths = (wide, narrow) => [h("span", { class: "wide" }, wide), h("span", { class: "narrow" }, narrow)];

/** @param {Parts} parts */
export function createToolbar({ store, plans: { families }, controls, runs, showShortcuts, openImport }) {
  const compare = /** @type {HTMLButtonElement} */ (byId("compare-toggle"));
  const run = /** @type {HTMLButtonElement} */ (byId("run"));
  const idle = [...run.childNodes]; // its label while nothing runs
  const { title } = run;
  let shown = /** @type {string | null} */ (null); // the status in its present label

  /** Add a schedule below the others: the counterpart of the first, else one that is not there yet. */
  function addSchedule() {
    const { spec, others } = store.get();
    if (others.length === IDS.length - 1) return;
    const present = [spec, ...others].map((each) => each.family);
    const name = [COUNTERPARTS[spec.family] ?? "1f1b", ...NEXT].find((each) => !present.includes(each)) ?? "1f1b";
    const added = families.find((family) => family.name === name) ?? families[0];
    store.set({ others: [...others, moveTo(spec, null, added)] }, "push");
    controls.edit(others.length + 1);
  }

  compare.addEventListener("click", addSchedule);
  byId("open").addEventListener("click", openImport);
  byId("help").addEventListener("click", showShortcuts);
  for (const event of ["pointerenter", "focus"]) run.addEventListener(event, () => runs.look(), { once: true });
  run.addEventListener("click", () => (runs.isLive() ? store.setView({ tab: "run" }) : runs.start()));

  function sync() {
    const full = store.get().others.length === IDS.length - 1;
    compare.disabled = full;
    compare.title = full ? t("At most four schedules fit on one screen") : t("Add a schedule to compare");
  }
  store.subscribe(sync);
  sync();

  return {
    addSchedule,
    /** @param {string} why no run can be started, "" if one can */
    forbidRun(why) {
      run.title = why || title;
      if (why && shown !== "live") run.setAttribute("aria-disabled", "true");
      else run.removeAttribute("aria-disabled"); // a click on a disabled one opens the tab with the reason
    },
    /** @param {string | null} status of the runs: "starting", "live", or null while nothing runs */
    showRun(status) {
      run.disabled = status === "starting";
      if (status === shown) return;
      shown = status;
      if (status === "starting") run.replaceChildren(...inTwoWidths(t("Starting …"), "…"));
      else if (status) run.replaceChildren(...inTwoWidths(t("Show the run"), t("Run")));
      else run.replaceChildren(...idle);
    },
  };
}
