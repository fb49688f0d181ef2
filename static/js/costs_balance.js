// "Balance": moves layers away from the stages that also have the embedding or the head, and says what that wins.
import { ask, balancePath, known } from "./costs_api.js";
import { timeNumber } from "./costs_unit.js";
import { runs } from "./costs_text.js";
import { h, replace, sentence, setText, show } from "./dom.js";
import { formatPercent } from "./pure/scale.js";

/** @import {Pricing} from "./costs_apply.js" */
/** @import {Store} from "./store.js" */
/** @typedef {{layers: number[], makespan: number, costs: {F: number[], I: number[], W: number[]}}} Side */
/** @typedef {{before: Side, after: Side, p: number, m: number}} Answer */

export class Balance {
  #button = h("button", { type: "button", class: "button soft", id: "balance", onclick: () => this.#run() }, "Balance the layers");
  #result = h("div", { id: "balance-result", "aria-live": "polite" });
  node = h("div", { class: "balance", hidden: true }, this.#button, this.#result);
  #shown = "";

  /** @param {Store} store @param {Pricing} pricing */
  constructor(store, pricing) {
    this.store = store;
    this.pricing = pricing;
  }

  /** As the state says: what was won stays while it is still about this schedule. */
  sync() {
    const { preset, spec } = this.store.get();
    show(this.node, preset !== null && preset.heads);
    if (!preset || !preset.heads) { this.#clear(); return; }
    const path = balancePath(preset, spec);
    const answer = known(path);
    const balanced = preset.layers !== null;
    setText(this.#button, balanced ? "Even layers again" : "Balance the layers");
    if (balanced && answer) this.#tell(path, answer);
    else this.#clear();
    if (balanced && !answer) ask(path).then(() => this.sync(), () => {}); // a link to balanced layers tells what they win
  }

  #clear() {
    this.#shown = "";
    replace(this.#result);
  }

  async #run() {
    const { preset, spec } = this.store.get();
    if (!preset) return;
    if (preset.layers) {
      this.store.set({ preset: { ...preset, layers: null } }, "push");
      return;
    }
    const path = balancePath(preset, spec);
    this.#button.disabled = true;
    try {
      const answer = await ask(path);
      const now = this.store.get();
      if (now.preset && balancePath(now.preset, now.spec) === path) this.store.set({ preset: { ...now.preset, layers: answer.after.layers } }, "push");
    } catch (problem) {
      replace(this.#result, h("p", { class: "problem", text: problem instanceof Error ? sentence(problem.message) : String(problem) }));
    } finally {
      this.#button.disabled = false;
    }
  }

  /** @param {string} path @param {Answer} answer */
  #tell(path, { before, after, p, m }) {
    if (this.#shown === path) return;
    this.#shown = path;
    const same = before.layers.join() === after.layers.join();
    /** @param {string} name @param {(side: Side) => string} of */
    const row = (name, of) => h("tr", {}, h("th", { scope: "row", text: name }), h("td", { text: of(before) }), h("td", { text: of(after) }));
    const head = h("tr", {}, h("td"), h("th", { scope: "col", text: "even" }), h("th", { scope: "col", text: "balanced" }));
    replace(this.#result, h("table", { class: "balance-table" }, h("thead", {}, head), h("tbody", {},
      row("Step, ms", (side) => timeNumber(side.makespan)), row("Bubble", (side) => formatPercent(1 - (m * sum(timesOf(side))) / (p * side.makespan))))),
    h("div", { class: "bars", "aria-hidden": "true" }, bars(before, after, before), bars(after, after, before)),
    h("p", { class: "split" }, "Layers ", h("span", { text: runs(before.layers) }), same ? " are the best split already." : " become ", same ? "" : h("b", { text: runs(after.layers) })));
  }
}

/** What a micro-batch takes on each stage. @param {Side} side */
const timesOf = ({ costs: { F, I, W } }) => F.map((f, stage) => f + I[stage] + W[stage]);

/** @param {number[]} list */
const sum = (list) => list.reduce((a, b) => a + b, 0);

/** One bar a stage, as high as it is long. @param {Side} side @param {...Side} all */
function bars(side, ...all) {
  const most = Math.max(...all.flatMap(timesOf));
  return h("div", { class: "stage-bars" }, ...timesOf(side).map((x) => {
    const bar = h("i");
    bar.style.height = `${(100 * x) / most}%`;
    return bar;
  }));
}
