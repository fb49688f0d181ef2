// "Model and machine": which model on which machine the costs come from. Nothing changes until Apply; from then on each
// choice does at once, until a cost is changed by hand.
import { MODELS, ask, evenly, isOwn, plainOf, shelf, titlesOf, withLayers, withNamed } from "../../data/costs/api.ts";
import { Balance } from "./balance.ts";
import { stepUnits } from "../../data/costs/step_units.ts";
import { OwnFields, type OwnValue } from "./own_values.ts";
import { fitText } from "../../data/costs/quantities.ts";
import { h, hasServer, replace, sentence, setText, show } from "../../ui/dom.ts";
import { needsServer } from "../../data/api.ts";
import { fillSelect, type Choice as Listed } from "../../ui/fields/choices.ts";
import { remedy, setNote } from "../../ui/notes.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { expertFields, machineFields, modelFields, sharedFields } from "../../core/state/own_values.ts";
import { formatCount } from "../../core/i18n/numbers.ts";
import { plainPreset, type Preset } from "../../core/state/link_preset.ts";
import { including } from "../../ui/fields/slider_stops.ts";
import { StageTable } from "../../ui/fields/stage_table.ts";
import type { SpecError } from "../../core/schedule/types.ts";
import type { Pricing } from "../../data/costs/pricing.ts";
import type { Entry, Shelf } from "../../data/costs/api.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";
import type { Plan } from "../../data/plan.ts";

type Part = "model" | "machine";
type Group = Part | "experts" | "shared";

const SEQUENCES = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const POWERS = [1, 2, 4, 8, 16];
const REPLICAS = Array.from({ length: 13 }, (_, power) => 2 ** power);
const CUSTOM = "custom"; // the entry for free numbers, which are edited from any other
const OWN = "own"; // in a list of presets: numbers of one's own
const GROUPS: Group[] = ["model", "experts", "machine", "shared"];
/** Fields of one's own that have a key of their own in the preset. */
const SHARED = [...sharedFields().map(({ name }) => name), "sequence_parallel", "fp8"];
const CHOSEN = ["sequence", "micro_batch", "efficiency"];

type Parts = { store: Store; plans: Plans; pricing: Pricing; changed: () => void };

export class CostsSection {
  store: Store;
  pricing: Pricing;
  plan: () => Plan;
  changed: () => void;
  balance: Balance;

  #presetName = h("small");
  #asked: Preset | null = null; // the preset for which the models were requested last
  #model = h("select#preset-model");
  #machine = h("select#preset-machine");
  #sequence = h("select#preset-sequence");
  #micro = h("select#preset-micro_batch");
  #tp = h("select#preset-tp");
  #data = h("select#preset-data");
  #zero = h("select#preset-zero");
  #efficiency = h("input#preset-efficiency", { type: "range", min: 0, max: 100, step: 5 });
  #percent = h("output", { for: "preset-efficiency" });
  #heads = h("input#preset-heads", { type: "checkbox" });
  #problem = h("div#preset-problem.problem", { role: "alert", hidden: true });
  #verdict = h("p#preset-fits.footnote.verdict-line");
  #apply = h("button#preset-apply.button.primary", { onclick: () => this.#put("push") }, t("Apply"));
  #arithmetic = h("button#preset-arithmetic.button.soft", { "aria-controls": "panel-costs" }, t("Show the arithmetic"));
  #form = h("div.pricing-form");
  #layers = new StageTable(
    "stage-model-layers",
    t("Edit layers per stage"),
    [{ name: "layers", symbol: t("layers"), whole: true }],
    {
      read: () => [this.pricing.priced?.setting.layers ?? []],
      put: ([{ list }]) => this.store.set({ preset: withLayers(this.#draft, list) }, "gesture"),
    },
  );
  node = h(
    "details#pricing.fold.pricing",
    h("summary", h("span", { text: t("Model and machine") }), this.#presetName),
    hasServer ? this.#form : h("p.note", needsServer().message),
  );
  #draft: Preset = plainPreset("");
  #filled = false;
  /** Whose fields are open. */
  #editing: Record<Part, boolean> = { model: false, machine: false };
  #own: Record<Group, OwnFields>;
  #experts = h("details.stage-lists", h("summary", { text: t("Experts, latent attention, further tokens") }));
  #shared = h("details#preset-shared.stage-lists", h("summary", { text: t("Memory and parallelism") }));

  /** changed: called when the models have arrived. */
  constructor({ store, plans, pricing, changed }: Parts) {
    this.store = store;
    this.pricing = pricing;
    this.plan = () => plans.first;
    this.changed = changed;
    this.balance = new Balance(store, (name) => plans.family(name)?.title ?? name);
    this.#arithmetic.addEventListener("click", () =>
      store.setView({ tab: store.get().view.tab === "costs" ? null : "costs" }),
    );
    const acts = (part: Part) => ({
      now: (name: string) => this.#now(name),
      bounds: (name: string) => (shelf() as Shelf).bounds[name],
      put: (name: string, value: OwnValue, how: "push" | "gesture") => this.#putOwn(name, value, how),
      undo: () => this.#pick(part, this.#named(part)),
    });
    this.#own = {
      model: new OwnFields(
        t("Your own model"),
        modelFields(),
        [
          ["gated", t("Gated feed-forward, three matrices")],
          ["flash", t("Flash attention")],
          ["causal", t("Causal: half of the scores")],
          ["dropout", t("Dropout")],
          ["post_norms", t("Norms behind attention and MLP")],
          ["qk_norms", t("Norms of queries and keys")],
        ],
        acts("model"),
      ),
      experts: new OwnFields(t("Experts, latent attention, further tokens"), expertFields(), [], acts("model")),
      shared: new OwnFields(
        t("Memory and parallelism"),
        sharedFields(),
        [
          ["sequence_parallel", t("Sequence parallelism")],
          ["fp8", t("FP8 matrix products")],
        ],
        { ...acts("model"), undo: () => this.#unshare() },
      ),
      machine: new OwnFields(t("Your own machine"), machineFields(), [], acts("machine")),
    };
    this.#build();
    show(this.#layers.node, false); // until there is a model whose layers they are
    this.node.addEventListener("toggle", () => {
      if (this.node.open) this.#load();
    });
    this.#draft = store.get().origin ?? this.#draft;
  }

  #build() {
    const row = (text: string, input: HTMLElement, beside?: HTMLElement) =>
      h("div.choice", h("label", { for: input.id, text }), input, beside);
    replace(
      this.#form,
      row(t("Model"), this.#model),
      this.#own.model.node,
      this.#experts,
      row(t("Sequence"), this.#sequence),
      row(t("Micro-batch"), this.#micro),
      row(t("Machine"), this.#machine),
      this.#own.machine.node,
      row(t("Tensor parallel"), this.#tp),
      row(t("Data parallel"), this.#data),
      row(t("ZeRO"), this.#zero),
      row(t("Efficiency"), this.#efficiency, this.#percent),
      this.#shared,
      h("label.check", this.#heads, t("Embedding and head")),
      this.#layers.node,
      this.#problem,
      this.#verdict,
      h("div.pricing-acts", this.#apply, this.#arithmetic),
      this.balance.node,
    );
    this.#experts.append(this.#own.experts.node);
    this.#shared.append(this.#own.shared.node);
    this.#model.addEventListener("change", () => this.#pick("model", this.#model.value));
    this.#machine.addEventListener("change", () => this.#pick("machine", this.#machine.value));
    for (const select of [this.#sequence, this.#micro, this.#tp, this.#data, this.#zero]) {
      const name = select.id.replace("preset-", "");
      select.addEventListener("change", () =>
        this.#choose({ [name]: this.#unlessPlain(name, Number(select.value)) }, "push"),
      );
    }
    this.#efficiency.addEventListener("input", () => {
      const share = Number(this.#efficiency.value) / 100;
      this.#choose({ efficiency: share || null }, "gesture"); // 0: from the shapes of the products
    });
    this.#heads.addEventListener("change", () => this.#choose({ heads: this.#heads.checked ? null : false }, "push"));
  }

  /** How the work is shared as it is without a choice. */
  #unshare() {
    const own = Object.fromEntries(Object.entries(this.#draft.own).filter(([name]) => !SHARED.includes(name)));
    this.#choose({ own }, "push");
  }

  async #load() {
    try {
      await ask(MODELS);
      this.#filled = true;
    } catch {
      this.#complain(t("The list of models could not be loaded. Close and open this section to try again."));
    }
    this.changed();
  }

  /** The preset that is named, in full. */
  #named = (part: Part): string => this.#draft[part] ?? shelf()?.defaults[part];

  /** Another preset, which ends numbers of one's own; or those, beginning as the preset that was there. */
  #pick(part: Part, value: string) {
    this.#editing[part] = value === OWN;
    this.#calm();
    if (value === OWN) {
      this.#fill();
      return;
    }
    this.#choose(withNamed(this.#draft, part, value), "push");
  }

  #calm(refused = false) {
    for (const group of GROUPS) this.#own[group].calm(refused);
  }

  /** Null for what the server takes by itself. */
  #unlessPlain(name: string, value: string | number) {
    return value === plainOf(this.#draft, name) ? null : value;
  }

  /** What a field is now. */
  #now(name: string): any {
    const draft = evenly(this.#draft);
    if (name in draft.own) return draft.own[name];
    if (name === "sequence_parallel") return this.#now("tp") > 1;
    return draft[name as keyof Preset] ?? plainOf(draft, name);
  }

  #putOwn(name: string, value: OwnValue, how: "push" | "gesture") {
    if (CHOSEN.includes(name)) {
      this.#choose({ [name]: this.#unlessPlain(name, value as number) }, how);
      return;
    }
    const own = { ...evenly(this.#draft).own, [name]: value };
    const plain = name === "sequence_parallel" ? this.#now("tp") > 1 : plainOf(this.#draft, name);
    if (value === plain) delete own[name];
    this.#choose({ own }, how);
  }

  #choose(change: Partial<Preset>, how: "push" | "gesture") {
    this.#draft = { ...evenly(this.#draft), ...change };
    if (this.store.get().preset) this.#put(how);
    else this.#fill();
  }

  #put(how: "push" | "gesture") {
    this.store.set({ preset: this.#draft }, how);
  }

  #complain(text: string) {
    setNote(this.#problem, text);
  }

  /** Update all fields from the state. */
  sync() {
    const { preset } = this.store.get();
    const { pricing } = this;
    if (preset) this.#draft = preset;
    if (preset && preset !== this.#asked && !shelf()) void this.#load(); // its title; once, also without an answer
    this.#asked = preset;
    this.node.classList.toggle("is-applied", preset !== null);
    const isRefused = hasServer && pricing.error !== null;
    setText(
      this.#presetName,
      !preset
        ? ""
        : isRefused
          ? t("{preset}: not possible", { preset: titlesOf(preset) })
          : t("{preset}, ms", { preset: titlesOf(preset) }),
    );
    this.#presetName.classList.toggle("bad", isRefused);
    if (!this.node.open) return;
    if (shelf()) this.#calm(true);
    if (pricing.error) this.#refuse(pricing.error);
    else if (pricing.offline)
      this.#complain(t("The server does not answer; the costs shown are from its last answer."));
    else if (this.#filled) this.#complain("");
    show(this.#apply, preset === null);
    show(this.#arithmetic, preset !== null);
    if (!pricing.waits) show(this.#layers.node, pricing.priced !== undefined);
    if (pricing.priced) this.#layers.sync();
    this.weigh();
    const shown = this.store.get().view.tab === "costs";
    setText(this.#arithmetic, shown ? t("Hide the arithmetic") : t("Show the arithmetic"));
    this.#arithmetic.setAttribute("aria-expanded", String(shown));
    this.balance.sync();
    this.#fill();
  }

  /** Does the schedule on the screen fit the machine's memory? The last verdict stays while costs are requested. */
  weigh() {
    if (!this.node.open || this.pricing.waits) return;
    const memory = stepUnits(this.pricing.priced, this.plan())?.memory;
    show(this.#verdict, memory !== undefined);
    if (!memory) return;
    setText(this.#verdict, fitText(memory));
    this.#verdict.classList.toggle("bad", !memory.fits);
  }

  /** What the server refused: by the field it is about where that is open, with the nearest legal value as a button. */
  #refuse(error: SpecError) {
    const { field, nearest } = error;
    this.#fill();
    if (SHARED.includes(field)) this.#shared.open = true;
    if (GROUPS.some((group) => this.#own[group].refuse(error))) {
      this.#complain("");
      return;
    }
    const legal = nearest !== undefined && nearest !== null && (field === "p" || field === "v" || field in this.#draft);
    show(this.#problem, true);
    replace(
      this.#problem,
      h("span", { text: sentence(tr(error)) }),
      legal
        ? h(
            "div",
            remedy(field, nearest, () => this.#correct(field, nearest)),
          )
        : "",
    );
  }

  #correct(field: string, value: any) {
    if (field === "p" || field === "v")
      this.store.set({ spec: { ...this.store.get().spec, [field]: value } }, "gesture");
    else this.#choose({ [field]: value }, "gesture");
  }

  /** Update the form from the draft, once the models are loaded. */
  #fill() {
    const known = shelf();
    if (!known) return;
    if (!this.#draft.model) this.#draft = plainPreset(known.defaults.model ?? known.models[0].name);
    this.#fillPart("model", this.#model, known.models);
    this.#fillPart("machine", this.#machine, known.machines);
    fillSelect(this.#sequence, including(SEQUENCES, this.#now("sequence")).map(counted), this.#now("sequence"));
    fillSelect(this.#micro, including(POWERS, this.#now("micro_batch")).map(counted), this.#now("micro_batch"));
    const inNode = POWERS.filter((size) => size <= this.#now("per_node"));
    fillSelect(this.#tp, including(inNode, this.#now("tp")).map(counted), this.#now("tp"));
    fillSelect(this.#data, including(REPLICAS, this.#now("data")).map(counted), this.#now("data"));
    fillSelect(this.#zero, zeroStages(), this.#now("zero"));
    this.#zero.disabled = this.#now("data") === 1;
    this.#zero.title = this.#zero.disabled ? t("Needs more than one data-parallel replica") : "";
    const percent = Math.round((this.#now("efficiency") ?? 0) * 1000) / 10;
    const text = percent ? `${percent} %` : t("auto");
    this.#efficiency.value = String(percent);
    this.#efficiency.style.setProperty("--fill", `${percent}%`);
    this.#efficiency.setAttribute("aria-valuetext", percent ? text : t("from the shapes of the matrix products"));
    setText(this.#percent, text);
    this.#heads.checked = this.#now("heads");
    const shared = SHARED.some((name) => name in this.#draft.own);
    this.#own.shared.node.hidden = false;
    this.#own.shared.fill(t("the usual choices"), shared);
  }

  /** A list of presets, and the fields of one's own with it. */
  #fillPart(part: Part, select: HTMLSelectElement, entries: Entry[]) {
    const own = isOwn(this.#draft, part);
    const open = own || this.#editing[part];
    const from = entries.find((entry) => entry.name === this.#named(part))?.title ?? this.#named(part);
    const mine = part === "model" ? t("Own model") : t("Own machine");
    const text = open ? mine : t("{own} …", { own: mine });
    fillSelect(
      select,
      [...entries.filter(({ name }) => name !== CUSTOM).map(named), [OWN, text]],
      open ? OWN : this.#named(part),
    );
    show(this.#own[part].node, open);
    if (open) this.#own[part].fill(from, own);
    if (part === "model") {
      show(this.#experts, open);
      this.#own.experts.node.hidden = false;
      if (open) this.#own.experts.fill(from, false);
    }
    for (const input of part === "model" ? [this.#sequence, this.#micro] : [this.#efficiency])
      show(input.parentElement as HTMLElement, !open);
  }
}

const zeroStages = (): Listed[] => [
  ["0", t("none")],
  ["1", t("1: optimizer")],
  ["2", t("2: and gradients")],
  ["3", t("3: and weights")],
];

const named = (entry: Entry): Listed => [entry.name, entry.title];
const counted = (x: number): Listed => [String(x), formatCount(x)];
