// The left column: which plan, family, sizes, costs, options; and what is wrong with them, beside the field.
import { withLayers } from "../../data/costs/api.ts";
import { deviceShare } from "../../data/costs/preset_costs.ts";
import { byId, h, replace, hasServer, sentence, setText, show, pageAddress } from "../../ui/dom.ts";
import { fillSegments } from "../../ui/fields/choices.ts";
import { remedy } from "../../ui/notes.ts";
import { Field, type FieldOptions, type Value, type Way } from "../../ui/fields/field.ts";
import {
  COSTS,
  SHAPES,
  SHARED,
  applicable,
  fieldList,
  fieldOf,
  moveTo,
  takesBubble,
  withField,
} from "../../data/spec_fields.ts";
import { invalidate, onStage } from "../../ui/frame_loop.ts";
import { inputHappened } from "../../ui/latency.ts";
import { againName, modesName } from "../../data/option_names.ts";
import { Options } from "./options.ts";
import { specQuery } from "../../core/state/link.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { isLegal } from "../../core/families/legal.ts";
import { customStages, stagesOf } from "../../core/schedule/effective_costs.ts";
import { ofStages } from "../../core/schedule/per_chunk.ts";
import { IMPORTED, RECOMPUTE, RECOMPUTE_AT } from "../../core/schedule/spec_tables.ts";
import { countsOf, furtherOf, type StageLayout } from "../../core/state/megatron_layout.ts";
import { IDS, letter, mapSpecs, specAt, specsOf } from "../../core/state/schedules.ts";
import { Picker } from "./family_picker.ts";
import { ModesField } from "../../ui/fields/modes.ts";
import { StageTable } from "../../ui/fields/stage_table.ts";
import { onRest } from "../../ui/rest.ts";
import type { Plans } from "../../data/plans.ts";
import type { Modes, Spec } from "../../core/schedule/types.ts";
import type { Plan } from "../../data/plan.ts";
import type { Store } from "../../data/store.ts";

/** An imported order has one p, one m and one v. */
const fixed = (spec: Spec, name: string) => spec.family === IMPORTED && SHAPES.includes(name);

const isCost = (name: string) => COSTS.includes(name) || name === "w_share";

export class Controls {
  store: Store;
  plans: Plans;
  picker: Picker;

  #at = 0; // the plan that the controls change
  #tie = h("input#tie", { type: "checkbox", checked: true });
  #tieRow = h("label.check", { hidden: true }, this.#tie, t("Changes of sizes and costs go to all schedules"));
  #lifo = h("input#lifo", {
    type: "checkbox",
    onchange: () => this.#put(withField(this.#spec, "lifo", this.#lifo.checked), "gesture", "lifo"),
  });
  #lifoRow = h("label.check", this.#lifo, t("Backwards from the last micro-batch to the first"));
  #switcher = h("div.which", { role: "group", "aria-label": t("Which schedule to change"), hidden: true });
  #other = h("div#other-problem.problem", { role: "alert", hidden: true });
  #ofLink = h("div#link-problem.problem", { role: "alert", hidden: true });
  #recompute = new ModesField({
    id: "recompute",
    label: t("recompute"),
    ofEach: t("recomputation of each chunk"),
    title: t(
      "Which activations are not kept but recomputed before the backward: none, the attention core, or all " +
        "except each layer's input",
    ),
    words: Object.fromEntries(Object.keys(RECOMPUTE).map((word) => [word, ""])),
    ofChunk: Object.keys(RECOMPUTE),
    name: modesName,
    spread: ofStages,
    put: (modes) => this.#putRecompute(modes),
  });
  #again = h(
    "select#recompute-at",
    {
      onchange: () => this.#put(withField(this.#spec, "recompute_at", this.#again.value), "push", "recompute_at"),
    },
    ...RECOMPUTE_AT.map((value) => h("option", { value, text: againName(value) })),
  );
  #againRow = h("label.choice", h("span", { text: t("when") }), this.#again);
  #inBubble = h("p.footnote.hint", {
    text: t(
      "Only what a device holds beyond p micro-batches is recomputed, as far as possible where it waits for " +
        "gradients at the end of the step (MindSpeed's recompute-in-bubble).",
    ),
  });
  #twice = h("p.footnote.hint", {
    text: t(
      "Counted once, before I. Where autograd splits the backward, as in torch, I and W each pay it " +
        "(torchtitan issue 773).",
    ),
  });
  #memory = h("h2", { text: t("Memory") });
  #reset = h("button#reset-costs.link.reset", { onclick: () => this.#resetCosts() }, t("Reset the costs"));
  #locked = h("p#locked.footnote.locked", { hidden: true, text: t("p, m and v are fixed by the imported order.") });
  #edit = h("a#edit-order.link.edit-order", { href: pageAddress("build") }, t("Edit this order in the workbench"));
  #fields = new Map<string, Field>();
  #options: Options;
  #stages = new StageTable(
    "stage-costs",
    t("Edit per stage"),
    ["F", "I", "W"].map((name) => ({ name, symbol: name })),
    {
      read: () => ["F", "I", "W"].map((name) => this.#byStage(fieldOf(this.#spec, name))),
      put: (changed, event) => {
        inputHappened(event);
        const next = changed.reduce((spec, { name, list }) => withField(spec, name, list), this.#spec);
        for (const { name } of changed) this.#put(withField(this.#spec, name, fieldOf(next, name)), "gesture", name);
      },
    },
  );

  /** openImport: opens the import dialog for the place of a schedule. */
  constructor({ store, plans, openImport }: { store: Store; plans: Plans; openImport: (at: number) => void }) {
    this.store = store;
    this.plans = plans;
    this.picker = new Picker(
      plans.families,
      (family) => this.#put(moveTo(this.#spec, this.#family, family), "push"),
      () => openImport(this.#at),
    );
    for (const options of fieldList(
      () => this.#spec,
      () => this.#family,
    )) {
      this.#fields.set(
        options.name,
        new Field(options, {
          near: (of) => this.#near(of),
          pick: (value, event, way) => this.#pick(options, value, event, way),
          share: (list) => deviceShare(list, this.#spec.p),
          layout: (layout, event) => this.#putLayout(layout, event),
        }),
      );
    }
    this.#options = new Options(
      {
        spec: () => this.#spec,
        family: () => this.#family,
        put: (next, field) => this.#put(next, "push", field),
        query: (spec) => specQuery(spec, store.defaults),
      },
      this.#fields,
    );
    const nodes = (...names: string[]) => names.map((name) => (this.#fields.get(name) as Field).node);
    byId("controls").append(
      this.#switcher,
      this.picker.button,
      this.#edit,
      this.#ofLink,
      this.#other,
      h("h2", { text: t("Sizes") }),
      ...nodes("p", "m", "v", "group"),
      this.#locked,
      this.#lifoRow,
      this.#tieRow,
      h("h2", { text: t("Time per stage and micro-batch") }),
      ...nodes("F", "I", "W"),
      this.#stages.node,
      ...nodes("FB", "comm"),
      this.#options.node,
      this.#memory,
      this.#recompute.node,
      this.#againRow,
      this.#inBubble,
      ...nodes("spared"),
      this.#twice,
      ...nodes("w_share", "memory"),
      this.#reset,
    );
    // after the ops: where a control has changed, the first text on a canvas makes the browser compute styles
    let old = false;
    store.subscribe((state, before) => {
      if (state.spec === before.spec && state.others === before.others) return;
      old = true;
      invalidate("figures");
    });
    onStage("figures", () => {
      if (old) this.sync();
      old = false;
    });
    plans.onAnswer(() => this.complain());
    onRest(() => (this.#edit.href = pageAddress("build") + specQuery(this.#spec, store.defaults)));
    this.sync();
  }

  get #spec() {
    const state = this.store.get();
    return specAt(state, this.#at) ?? state.spec;
  }

  get #family() {
    return this.plans.family(this.#spec.family);
  }

  /** field: the one that changed. */
  #put(next: Spec, how: "push" | "gesture", field?: string) {
    const state = this.store.get();
    // a choice brings its costs along
    const changed = field === "vocabulary" ? ["S", "T"] : field === undefined ? [] : [field];
    const shared = this.#tie.checked ? changed.filter((name) => SHARED.has(name)) : [];
    const follow = (other: Spec) =>
      shared
        .filter((name) => !fixed(other, name))
        .reduce((all, name) => withField(all, name, fieldOf(next, name)), other);
    const preset = field !== undefined && isCost(field) ? null : state.preset; // a cost set by hand is no model's
    this.store.set({ ...mapSpecs(state, (spec, at) => (at === this.#at ? next : follow(spec))), preset }, how);
  }

  /** A slider steps over what is illegal; a typed value stays and is explained. */
  #pick(options: FieldOptions, value: Value, event: Event, way: Way) {
    inputHappened(event);
    this.plans.rehearsal.end();
    const next = withField(this.#spec, options.name, typeof value === "number" ? this.#listed(options, value) : value);
    const legal = way === "typed" || typeof value !== "number" ? null : this.#legalStop(options, value, way);
    this.#put(legal === null ? next : withField(next, options.name, legal), "gesture", options.name);
  }

  /** Where a slider should rest instead of an illegal stop: the nearest legal one, for an arrow key the next one in its
   * direction; null where there is none. */
  #legalStop(options: FieldOptions, value: number, way: Way) {
    const { name } = options;
    const spec = this.#spec;
    const family = this.#family;
    const isFine = (x: number) => family !== null && isLegal(withField(spec, name, x), family);
    if (!SHAPES.includes(name) || isFine(value)) return null;
    const before = Number(fieldOf(spec, name));
    const beyond = options.stops().filter((x) => way === "dragged" || (value > before ? x > value : x < value));
    const near = beyond.sort((x, y) => Math.abs(x - value) - Math.abs(y - value));
    return near.find(isFine) ?? null;
  }

  /** The reader's hand is on a field: draw unseen what it may lead to. */
  #near({ name, stops }: FieldOptions) {
    const spec = this.#spec;
    const plan = this.plans.all[this.#at];
    if (fixed(spec, name)) return;
    const value = fieldOf(spec, name);
    if (typeof value === "number")
      this.plans.rehearsal.begin(plan, name, (stop) => withField(spec, name, stop), stops(), value);
  }

  /** A cost of each stage: one number is a device's whole share. */
  #byStage(cost: number | number[]) {
    const { p, v } = this.#spec;
    const stages = stagesOf(this.#spec);
    if (Array.isArray(cost) && cost.length === stages) return cost;
    const share = Array.isArray(cost) ? deviceShare(cost, p) : cost;
    return new Array(stages).fill(Number((share / v).toPrecision(6)));
  }

  /** What a number alone means in the field of a list: as many layers in every stage, one frozen stage. */
  #listed({ name }: FieldOptions, value: number) {
    if (name === "layers") return this.#each(value);
    return name === "frozen" ? [value] : value;
  }

  /** A layout of Megatron-LM: of the model, where there is one, else as many layers. */
  #putLayout(layout: StageLayout, event: Event) {
    const { preset } = this.store.get();
    inputHappened(event);
    if (!preset || layout.layers.length !== stagesOf(this.#spec)) {
      this.#put(withField(this.#spec, "layers", countsOf(layout)), "gesture", "layers");
      return;
    }
    this.#put(withField(this.#spec, "layers", null), "gesture", "layers");
    this.store.set({ preset: withLayers(preset, layout.layers, furtherOf(layout)) }, "gesture");
  }

  /** As many layers in every stage. */
  #each(count: number) {
    return new Array(stagesOf(this.#spec)).fill(count);
  }

  #putRecompute(modes: Modes) {
    const spec = withField(this.#spec, "recompute", modes);
    // A pair's own time does not determine its time with another forward.
    this.#put(spec.recompute === "none" ? spec : withField(spec, "FB", null), "push", "recompute");
  }

  #resetCosts() {
    const { costs, w_share } = this.store.defaults;
    const plain = { costs: { ...costs }, w_share };
    this.store.set({ ...mapSpecs(this.store.get(), (spec) => ({ ...spec, ...plain })), preset: null }, "push");
  }

  edit(at: number) {
    this.#at = at;
    this.sync();
    this.complain();
  }

  /** Update all controls from the state. */
  sync() {
    this.#showLinkProblems();
    const { others } = this.store.get();
    const { costs, w_share } = this.store.defaults;
    if (this.#at > others.length) this.#at = others.length;
    const spec = this.#spec;
    this.picker.set(spec.family);
    const applies = applicable(this.#family, spec);
    for (const [name, field] of this.#fields) {
      show(field.node, applies.has(name));
      if (applies.has(name)) field.set(fieldOf(spec, name));
      field.lock(fixed(spec, name) ? this.#locked.id : null);
    }
    show(this.#locked, spec.family === IMPORTED);
    for (const node of [this.#memory, this.#recompute.node]) show(node, !spec.forward_only);
    this.#recompute.set(spec.recompute, customStages(spec) === null ? spec.v : 1); // its chunks are not alike
    show(this.#againRow, spec.recompute !== "none");
    show(this.#inBubble, spec.recompute_at === "bubble");
    show(this.#twice, spec.recompute !== "none" && this.#family?.backward !== "full");
    this.#again.value = spec.recompute_at;
    for (const option of this.#again.options)
      option.disabled = option.value === "bubble" && !takesBubble(spec, this.#family);
    this.#options.sync();
    this.#stages.sync();
    show(this.#lifoRow, applies.has("lifo"));
    this.#lifo.checked = spec.lifo;
    show(this.#tieRow, others.length > 0);
    show(this.#switcher, others.length > 0);
    if (others.length) this.#drawSwitcher();
    show(
      this.#reset,
      spec.w_share !== w_share ||
        Object.keys(costs).some((name) => fieldOf(spec, name) !== fieldOf(this.store.defaults, name)),
    );
  }

  #drawSwitcher() {
    const titleOf = (spec: Spec) => this.plans.family(spec.family)?.title ?? spec.family;
    const all = specsOf(this.store.get());
    const segments = all.map((each, at) => ({
      text: all.length > 2 ? letter(at) : `${letter(at)} · ${titleOf(each)}`,
      title: `${letter(at)} · ${titleOf(each)}`,
      "data-edit": IDS[at],
    }));
    fillSegments(this.#switcher, segments, this.#at, (at) => this.edit(at));
  }

  /** What was refused, beside the field that is named. */
  complain() {
    for (const field of this.#fields.values()) field.complain(null);
    show(this.#other, false);
    this.plans.onScreen().forEach((plan, at) => this.#complainOf(plan, at === this.#at));
  }

  #complainOf(plan: Plan, mine: boolean) {
    const { error } = plan;
    if (!error) return;
    const whose = mine ? undefined : this.plans.family(plan.asked.family)?.title;
    const apply = (value: any) => {
      this.#at = IDS.indexOf(plan.id);
      this.#put(withField(this.#spec, error.field, value), error.field === "family" ? "push" : "gesture", error.field);
    };
    const field = this.#fields.get(error.field);
    if (field && !field.node.hidden) {
      field.complain(error, apply, whose);
      return;
    }
    this.#other.className = hasServer || error.field ? "problem" : "note"; // what needs a server is nobody's mistake
    show(this.#other, true);
    const text = sentence(tr(error));
    replace(
      this.#other,
      h("span", { text: whose ? t("{family}: {text}", { family: whose, text }) : text }),
      error.nearest === undefined ? "" : remedy(error.field, error.nearest, () => apply(error.nearest)),
    );
  }

  #showLinkProblems() {
    const problems = this.store.problems();
    show(this.#ofLink, problems.length > 0);
    if (!problems.length) return;
    setText(this.#ofLink, t("The link: {problems}.", { problems: problems.map(tr).join(t("; ")) }));
  }
}
