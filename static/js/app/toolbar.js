// The buttons along the top: compare, shortcuts, run.
import { byId, setText } from "../ui/dom.js";
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
 * @property {{start: () => void, isLive: () => boolean}} runs
 * @property {() => void} showShortcuts
 */

/** @param {Parts} parts */
export function createToolbar({ store, plans: { families }, controls, runs, showShortcuts }) {
  const compare = /** @type {HTMLButtonElement} */ (byId("compare-toggle"));
  const run = /** @type {HTMLButtonElement} */ (byId("run"));
  const idle = [...run.childNodes]; // its label while nothing runs

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
  byId("help").addEventListener("click", showShortcuts);
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
    /** @param {string | null} status of the runs: "starting", "live", or null while nothing runs */
    showRun(status) {
      run.disabled = status === "starting";
      const label = status === "starting" ? t("Starting …") : status ? t("Show the run") : null;
      if (label) setText(run, label);
      else if (run.childElementCount === 0) run.replaceChildren(...idle);
    },
  };
}
