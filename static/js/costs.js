// "Model and machine": which model on which machine the costs come from. Nothing changes until Apply; from then on each
// choice does at once, until a cost is changed by hand.
import { MODELS, ask, shelf } from "./costs_api.js";
import { Balance } from "./costs_balance.js";
import { fullest } from "./costs_bytes.js";
import { bytesText } from "./costs_text.js";
import { h, replace, sentence, setText, show } from "./dom.js";
import { plainPreset } from "./pure/url_preset.js";
import { including } from "./stops.js";

/** @import {SpecError} from "./api.js" */
/** @import {Pricing} from "./costs_apply.js" */
/** @import {Entry, Shelf} from "./costs_api.js" */
/** @import {Plan} from "./plans.js" */
/** @import {Store} from "./store.js" */
/** @import {Preset} from "./pure/url_preset.js" */
/** @typedef {"machine" | "tp" | "sequence" | "micro_batch"} Choice */

const SEQUENCES = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const POWERS = [1, 2, 4, 8, 16];

export class CostsSection {
  #said = h("small");
  #model = h("select", { id: "preset-model" });
  #machine = h("select", { id: "preset-machine" });
  #sequence = h("select", { id: "preset-sequence" });
  #micro = h("select", { id: "preset-micro_batch" });
  #tp = h("select", { id: "preset-tp" });
  #efficiency = h("input", { type: "range", id: "preset-efficiency", min: 5, max: 100, step: 5 });
  #percent = h("output", { for: "preset-efficiency" });
  #heads = h("input", { type: "checkbox", id: "preset-heads" });
  #problem = h("div", { class: "problem", id: "preset-problem", role: "alert", hidden: true });
  #verdict = h("p", { class: "verdict-line", id: "preset-fits" });
  #apply = h("button", { type: "button", class: "button primary", id: "preset-apply", onclick: () => this.#put("push") }, "Apply");
  #arithmetic = h("button", { type: "button", class: "button soft", id: "preset-arithmetic", "aria-controls": "panel-costs" }, "Show the arithmetic");
  #form = h("div", { class: "pricing-form" });
  node = h("details", { class: "pricing", id: "pricing" }, h("summary", {}, h("span", { text: "Model and machine" }), this.#said), this.#form);
  /** @type {Preset} */
  #draft = plainPreset("");
  #filled = false;

  /** @param {Store} store @param {Pricing} pricing @param {() => Plan} plan the first schedule
   * @param {{arithmetic: () => void, changed: () => void}} acts  open and close it; the models are known */
  constructor(store, pricing, plan, { arithmetic, changed }) {
    this.store = store;
    this.pricing = pricing;
    this.plan = plan;
    this.changed = changed;
    this.balance = new Balance(store, pricing);
    this.#arithmetic.addEventListener("click", arithmetic);
    this.#build();
    this.node.addEventListener("toggle", () => { if (this.node.open) this.#load(); });
    if (store.get().preset) queueMicrotask(() => this.#load());
  }

  #build() {
    /** @param {string} text @param {HTMLElement} input @param {HTMLElement} [beside] */
    const row = (text, input, beside) => h("div", { class: "choice" }, h("label", { for: input.id, text }), input, beside);
    replace(this.#form, row("Model", this.#model), row("Sequence", this.#sequence), row("Micro-batch", this.#micro), row("Machine", this.#machine),
      row("Tensor ∥", this.#tp), row("Efficiency", this.#efficiency, this.#percent),
      h("label", { class: "check" }, this.#heads, "Embedding and head"), this.#problem, this.#verdict,
      h("div", { class: "pricing-acts" }, this.#apply, this.#arithmetic), this.balance.node);
    this.#model.addEventListener("change", () => this.#choose({ model: this.#model.value }, "push"));
    for (const [name, select] of /** @type {[Choice, HTMLSelectElement][]} */ ([["sequence", this.#sequence], ["micro_batch", this.#micro], ["machine", this.#machine], ["tp", this.#tp]])) {
      select.addEventListener("change", () => this.#choose({ [name]: this.#unlessPlain(name, name === "machine" ? select.value : Number(select.value)) }, "push"));
    }
    this.#efficiency.addEventListener("input", () => this.#choose({ efficiency: /** @type {number | null} */ (this.#unlessPlain("efficiency", Number(this.#efficiency.value) / 100)) }, "replace"));
    this.#heads.addEventListener("change", () => this.#choose({ heads: this.#heads.checked }, "push"));
  }

  async #load() {
    try {
      await ask(MODELS);
      this.#filled = true;
    } catch {
      this.#complain("The server does not say which models it knows. Close and open this to ask again.");
    }
    this.changed();
  }

  /** What the server takes where nothing is chosen. @param {string} name */
  #plain(name) {
    const { models, defaults } = /** @type {Shelf} */ (shelf());
    return models.find((model) => model.name === this.#draft.model)?.[name] ?? defaults[name];
  }

  /** null for what the server takes by itself. @param {string} name @param {string | number} value */
  #unlessPlain(name, value) {
    return value === this.#plain(name) ? null : value;
  }

  /** @param {Partial<Preset>} change @param {"push" | "replace"} how */
  #choose(change, how) {
    this.#draft = { ...this.#draft, layers: null, ...change };
    if (this.store.get().preset) this.#put(how);
    else this.#fill();
  }

  /** @param {"push" | "replace"} how */
  #put(how) {
    this.store.set({ preset: this.#draft }, how);
  }

  /** @param {string} text */
  #complain(text) {
    show(this.#problem, text !== "");
    setText(this.#problem, text);
  }

  /** Everything as the state says. */
  sync() {
    const { preset } = this.store.get();
    const { pricing } = this;
    if (preset) this.#draft = preset;
    this.node.classList.toggle("is-applied", preset !== null);
    setText(this.#said, !preset ? "" : pricing.error ? `${titlesOf(preset)}: not possible` : `${titlesOf(preset)}, ms`);
    this.#said.classList.toggle("bad", pricing.error !== null);
    if (!this.node.open) return;
    if (pricing.error) this.#refuse(pricing.error);
    else if (pricing.offline) this.#complain("The server does not answer; the costs are the last ones.");
    else if (this.#filled) this.#complain("");
    show(this.#apply, preset === null);
    show(this.#arithmetic, preset !== null);
    this.weigh();
    const shown = this.store.get().view.tab === "costs";
    setText(this.#arithmetic, shown ? "Hide the arithmetic" : "Show the arithmetic");
    this.#arithmetic.setAttribute("aria-expanded", String(shown));
    this.balance.sync();
    this.#fill();
  }

  /** Does the schedule on the screen fit the machine's memory? */
  weigh() {
    if (!this.node.open) return;
    const worst = fullest(this.pricing.priced, this.plan());
    show(this.#verdict, worst !== null);
    if (!worst) return;
    const sums = `${bytesText(worst.total)} of ${bytesText(worst.limit)} on rank ${worst.rank}`;
    setText(this.#verdict, worst.fits ? `Fits: ${sums}` : `Does not fit: ${sums}`);
    this.#verdict.classList.toggle("bad", !worst.fits);
  }

  /** What the server refused, with the nearest legal value as a button. @param {SpecError} error */
  #refuse({ field, message, nearest }) {
    const legal = nearest !== undefined && nearest !== null && (field === "p" || field === "v" || field in this.#draft);
    show(this.#problem, true);
    replace(this.#problem, h("span", { text: sentence(message) }), legal ? h("div", {}, h("button", { type: "button", class: "button",
      onclick: () => this.#correct(field, nearest) }, `Use ${field} = ${nearest}`)) : "");
  }

  /** @param {string} field @param {any} value */
  #correct(field, value) {
    if (field === "p" || field === "v") this.store.set({ spec: { ...this.store.get().spec, [field]: value } }, "replace");
    else this.#choose({ [field]: value }, "replace");
  }

  /** The form as the draft says, once the models are known. */
  #fill() {
    const known = shelf();
    if (!known) return;
    if (!this.#draft.model) this.#draft = plainPreset(known.defaults.model ?? known.models[0].name);
    const draft = this.#draft;
    /** @param {Choice | "efficiency"} name */
    const now = (name) => draft[name] ?? this.#plain(name);
    options(this.#model, known.models.filter(ready).map(named), draft.model);
    options(this.#machine, known.machines.filter(ready).map(named), now("machine"));
    options(this.#sequence, including(SEQUENCES, now("sequence")).map(counted), now("sequence"));
    options(this.#micro, including(POWERS, now("micro_batch")).map(counted), now("micro_batch"));
    options(this.#tp, including(POWERS, now("tp")).map(counted), now("tp"));
    const percent = Math.round(now("efficiency") * 1000) / 10;
    this.#efficiency.value = String(percent);
    this.#efficiency.style.setProperty("--fill", `${((percent - 5) / 95) * 100}%`);
    setText(this.#percent, `${percent} %`);
    this.#heads.checked = draft.heads;
  }
}

/** The entry for free numbers has no numbers of its own to choose. @param {Entry} entry */
const ready = (entry) => entry.name !== "custom";

/** "Llama3-70B on H100" @param {Preset} preset */
export function titlesOf(preset) {
  const known = shelf();
  const machine = preset.machine ?? known?.defaults.machine ?? "";
  /** @param {Entry[] | undefined} list @param {string} name */
  const title = (list, name) => list?.find((entry) => entry.name === name)?.title ?? name;
  const short = title(known?.machines, machine).split(" ")[0]; // "H100 80GB SXM"
  return [title(known?.models, preset.model), short].filter(Boolean).join(" on ");
}

/** @param {Entry} entry @returns {[string, string]} */
const named = (entry) => [entry.name, entry.title];
/** @param {number} x @returns {[string, string]} */
const counted = (x) => [String(x), x.toLocaleString("en")];

/** @param {HTMLSelectElement} select @param {[string, string][]} list value and text @param {unknown} value */
function options(select, list, value) {
  const now = list.map(([name]) => name).join();
  if (select.dataset.list !== now) {
    select.dataset.list = now;
    replace(select, ...list.map(([name, text]) => h("option", { value: name, text })));
  }
  select.value = String(value);
}
