// The row along the top: compare, keys, run.
import { byId, setText } from "../ui/dom.js";
import { moveTo } from "../data/spec_fields.js";
import { t } from "../core/i18n/language.js";
import { IDS } from "../core/state/schedules.js";

/** @import {Family} from "../panels/controls/family_picker.js" */
/** @import {Store} from "../data/store.js" */

/** What goes well under a family, for a first comparison. @type {Record<string, string>} */
const RIVALS = {
  gpipe: "1f1b",
  "1f1b": "gpipe",
  interleaved: "1f1b",
  "interleaved-zb": "interleaved",
  "zb-h1": "1f1b",
  "zb-h2": "zb-h1",
  dualpipe: "1f1b",
  dualpipev: "1f1b",
};
/** After that one, in this order. */
const NEXT = ["zb-h1", "interleaved", "v-half", "dualpipev", "gpipe"];

/**
 * @param {Store} store @param {Family[]} families @param {{edit: (at: number) => void}} controls
 * @param {{start: () => void, live: boolean}} runs
 * @param {{toggle: (id: string) => void}} drawer
 */
export function createToolbar(store, families, controls, runs, drawer) {
  const compare = /** @type {HTMLButtonElement} */ (byId("compare-toggle"));
  const run = /** @type {HTMLButtonElement} */ (byId("run"));
  const idle = [...run.childNodes]; // what stands on it while nothing runs

  /** One schedule more under the others: the one that goes well with the first, else one that is not there yet. */
  function addPlan() {
    const { spec, others } = store.get();
    if (others.length === IDS.length - 1) return;
    const there = [spec, ...others].map((each) => each.family);
    const name = [RIVALS[spec.family] ?? "1f1b", ...NEXT].find((each) => !there.includes(each)) ?? "1f1b";
    const rival = families.find((family) => family.name === name) ?? families[0];
    store.set({ others: [...others, moveTo(spec, null, rival)] }, "push");
    controls.edit(others.length + 1);
  }

  compare.addEventListener("click", addPlan);
  byId("help").addEventListener("click", () => drawer.toggle("keys"));
  run.addEventListener("click", () => (runs.live ? store.setView({ tab: "run" }) : runs.start()));

  return {
    addPlan,
    sync() {
      const full = store.get().others.length === IDS.length - 1;
      compare.disabled = full;
      compare.title = full
        ? t("Four schedules are the most on one screen")
        : t("Put one more schedule under the others");
    },
    /** @param {string | null} word */
    run(word) {
      run.disabled = word === "starting";
      const label = word === "starting" ? t("Starting …") : word ? t("Show the run") : null;
      if (label) setText(run, label);
      else if (run.childElementCount === 0) run.replaceChildren(...idle);
    },
  };
}
