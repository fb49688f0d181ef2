// What a training plan is for: the model, the machine, and the memory of a device; and the button that finds plans.
import { MODELS, ask, isOwn, plainOf, shelf, titlesOf, withNamed, type Entry } from "../../../data/costs/api.ts";
import { h, keepFocus, setText } from "../../../ui/dom.ts";
import { fillSelect, type Choice } from "../../../ui/fields/choices.ts";
import { setNote } from "../../../ui/notes.ts";
import { t } from "../../../core/i18n/language.ts";
import { LEAST_GB, MOST_GB, readGigabytes } from "../../../core/state/link.ts";
import { plainPreset, type Preset } from "../../../core/state/link_preset.ts";
import { Limits } from "./limits.ts";
import type { Spec } from "../../../core/schedule/types.ts";
import type { Store } from "../../../data/store.ts";

type Part = "model" | "machine";
type Acts = {
  find: () => void;
  stop: () => void;
  reveal: () => void; // opens all settings of the model and the machine
  changed: () => void; // the list of models has arrived, or a field has changed
};

const GB = 1e9;
const CUSTOM = "custom"; // the entry for free numbers, which are edited among the costs

export class Setup {
  store: Store;
  acts: Acts;
  limits: Limits;
  node: HTMLDivElement;

  #model = h("select#plan-model", { onchange: () => this.#pick("model", this.#model.value) });
  #machine = h("select#plan-machine", { onchange: () => this.#pick("machine", this.#machine.value) });
  #gigabytes = h("input#plan-gb", { inputmode: "decimal", onchange: () => this.#typed() });
  #devices = h("span.plan-devices");
  #find = h("button#plan-find.button.primary", { onclick: () => this.#press() });
  #why = h("p#plan-why.note.plan-why", { hidden: true });
  #running = false;
  /** Of the field, when it was last set or read. */
  #shown: number | null = null;

  constructor(store: Store, acts: Acts) {
    this.store = store;
    this.acts = acts;
    this.limits = new Limits((plan) => {
      store.setView({ plan }, "push");
      acts.changed();
    });
    const more = h(
      "button#plan-more.link",
      { title: t("Tensor and data parallel, ZeRO, sequence, efficiency"), onclick: acts.reveal },
      t("More settings …"),
    );
    this.node = h(
      "div.row.plan-setup",
      labelled(t("Model"), this.#model),
      labelled(t("Machine"), this.#machine),
      labelled(t("GB a device"), this.#gigabytes),
      this.#find,
      h("span.fine", this.#devices, " ", more),
      this.limits.node,
      this.#why,
    );
    this.#find.setAttribute("aria-describedby", "plan-why");
    this.#gigabytes.setAttribute("aria-describedby", "plan-why");
  }

  /** Request the list of models, once. */
  async load() {
    if (shelf()) return;
    try {
      await ask(MODELS);
    } catch {
      setNote(this.#why, t("The list of models could not be loaded. Close and open this tab to try again."));
      return;
    }
    this.acts.changed();
  }

  sync(running: boolean) {
    this.#running = running;
    const { preset, spec, view } = this.store.get();
    this.limits.sync(view.plan);
    if (view.gb !== this.#shown) this.#show(view.gb);
    const known = shelf();
    if (!known) return;
    const model = preset ? part(preset, "model") : "";
    const machine = preset ? part(preset, "machine") : String(known.defaults.machine);
    keepFocus(this.node, () => {
      options(this.#model, known.models, model, preset ? null : t("Choose a model"));
      options(this.#machine, known.machines, machine, null);
    });
    this.#gigabytes.placeholder = String(machineBytes(preset) / GB);
    setText(this.#devices, preset ? devicesText(preset, spec) : "");
    setText(this.#find, running ? t("Stop") : t("Find the fastest plan"));
    this.#find.classList.toggle("primary", !running);
    this.#find.disabled = preset === null;
    const why = preset === null ? t("Choose a model: step time and memory follow from it and from the machine.") : "";
    const wrong = this.#wrong();
    this.#gigabytes.setAttribute("aria-invalid", String(wrong !== ""));
    setNote(this.#why, wrong || why);
  }

  #press() {
    if (this.#running) this.acts.stop();
    else this.acts.find();
  }

  #typed() {
    this.#shown = readGigabytes(this.#gigabytes.value.trim());
    this.store.setView({ gb: this.#shown }, "push");
    this.acts.changed();
  }

  #show(gigabytes: number | null) {
    this.#shown = gigabytes;
    this.#gigabytes.value = gigabytes === null ? "" : String(gigabytes);
  }

  /** What is wrong with the typed memory, "" if nothing is. */
  #wrong() {
    const typed = this.#gigabytes.value.trim();
    return this.#shown === null && typed !== ""
      ? t("GB a device is a number from {least} to {most}, not “{typed}”: the machine's memory counts.", {
          typed,
          least: LEAST_GB,
          most: MOST_GB,
        })
      : "";
  }

  #pick(which: Part, name: string) {
    const { preset } = this.store.get();
    if (preset) this.store.set({ preset: withNamed(preset, which, name) }, "push");
    else if (this.#model.value)
      this.store.set({ preset: withNamed(plainPreset(this.#model.value), "machine", this.#machine.value) }, "push");
  }
}

const labelled = (text: string, control: HTMLElement) => h("label", h("span", { text }), control);

/** The entry of a list: a preset's name, or numbers of one's own. */
const part = (preset: Preset, which: Part) =>
  isOwn(preset, which) ? CUSTOM : String(preset[which] ?? shelf()?.defaults[which] ?? "");

function machineBytes(preset: Preset | null) {
  const own = preset?.own.memory;
  return typeof own === "number" ? own : Number(plainOf(preset ?? plainPreset(""), "memory"));
}

/** "8 × 8 × 16 = 1024 devices": stages, tensor and data parallel. */
function devicesText(preset: Preset, { p }: Spec) {
  const factors = [p, preset.tp ?? plainOf(preset, "tp"), preset.data ?? plainOf(preset, "data")];
  const all = factors.reduce((product, factor) => product * factor, 1);
  return t("{preset}: {factors} = {all} devices.", { preset: titlesOf(preset), factors: factors.join(" × "), all });
}

/** none: an entry for no choice yet. */
function options(select: HTMLSelectElement, entries: Entry[], value: string, none: string | null) {
  const list: Choice[] = [
    ...(none === null ? [] : [["", none] as Choice]),
    ...entries.filter(({ name }) => name !== CUSTOM).map(({ name, title }): Choice => [name, title]),
    ...(value === CUSTOM ? [[CUSTOM, t("your own numbers")] as Choice] : []),
  ];
  fillSelect(select, list, value);
}
