// The row along the top: compare, copy link, theme, keys, run.
import { byId, setText } from "./dom.js";
import { moveTo } from "./fieldlist.js";

/** @import {Family} from "./picker.js" */
/** @import {Store} from "./store.js" */

/** What goes well under a family, for a first comparison. @type {Record<string, string>} */
const RIVALS = { gpipe: "1f1b", "1f1b": "gpipe", interleaved: "1f1b", "interleaved-zb": "interleaved", "zb-h1": "1f1b", "zb-h2": "zb-h1", dualpipe: "1f1b", dualpipev: "1f1b" };

/**
 * @param {Store} store @param {Family[]} families @param {{edit: (id: "a" | "b") => void}} controls
 * @param {{start: () => void, live: boolean}} runs
 * @param {{toggle: (id: string) => void}} drawer @param {{toast: (text: string) => void}} status
 */
export function createToolbar(store, families, controls, runs, drawer, status) {
  const compare = byId("compare-toggle");
  const run = /** @type {HTMLButtonElement} */ (byId("run"));

  function toggleCompare() {
    const { spec, second } = store.get();
    if (second) {
      store.set({ second: null }, "push");
      return;
    }
    const rival = families.find((family) => family.name === (RIVALS[spec.family] ?? "1f1b")) ?? families[0];
    store.set({ second: moveTo(spec, null, rival) }, "push");
    controls.edit("b");
  }

  async function share() {
    try {
      await navigator.clipboard.writeText(store.link());
      status.toast("The link to this view is copied.");
    } catch {
      status.toast(store.link());
    }
  }

  compare.addEventListener("click", toggleCompare);
  byId("share").addEventListener("click", share);
  byId("help").addEventListener("click", () => drawer.toggle("keys"));
  run.addEventListener("click", () => (runs.live ? store.setView({ tab: "run" }) : runs.start()));

  return {
    toggleCompare,
    sync() {
      const two = store.get().second !== null;
      setText(compare, two ? "− Compare" : "+ Compare");
      compare.setAttribute("aria-pressed", String(two));
    },
    /** @param {string | null} word */
    run(word) {
      run.disabled = word === "starting";
      const label = word === "starting" ? "Starting …" : word ? "Show the run" : null;
      if (label) setText(run, label);
      else if (run.childElementCount === 0) run.innerHTML = 'Run<span class="wide"> on cluster</span>';
    },
  };
}
