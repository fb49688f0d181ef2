// The compare tab: all families, or those chosen, at the setting on the screen; a click on a row puts it there as one
// more schedule.
import { Offline, Refusal, createRetry, whyFailed } from "../../data/api.ts";
import { comparisonUrl, fetchComparison, type Comparison, type Row } from "./comparison.ts";
import { createChoice } from "./family_choice.ts";
import { comparisonTable } from "./table.ts";
import { comparisonCsv } from "./comparison_csv.ts";
import { saveBlob } from "../../ui/save_file.ts";
import { difference, differenceTable } from "./differences.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { onRest } from "../../ui/rest.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { IDS, letter, specsOf } from "../../core/state/schedules.ts";
import type { Plan } from "../../data/plan.ts";
import type { Plans } from "../../data/plans.ts";
import type { StepUnits } from "../../data/costs/step_units.ts";
import type { Store } from "../../data/store.ts";
import type { Measurement } from "../../data/runs/run_titles.ts";

type Parts = {
  store: Store;
  plans: Plans;
  addSchedule: () => void;
  openImport: () => void;
  measured: () => Measurement[];
  runAll: () => void;
  unitsOf: (plan: Plan) => StepUnits | null; // with a model and a machine
};

const MOST_OTHERS = IDS.length - 1;
const LONG_WAIT = 250; // ms; sooner than this, saying that one waits would only flicker

class Compare {
  store: Store;
  plans: Plans;
  parts: Parts;
  choice: ReturnType<typeof createChoice>;
  panel: HTMLDivElement;

  #lead = h("span");
  /** Buttons stay while what is beside them is written anew: a press would be lost with the one it began on. */
  #alone = h(
    "span",
    h("button.link", { onclick: () => this.parts.addSchedule() }, t("Add a schedule to compare")),
    t(", or click a row."),
  );
  #runAll = h("button#compare-run.link", { onclick: () => this.parts.runAll() });
  #all = h("p.muted.difference-more", this.#runAll, t(" one after the other and compare the measurements."));
  #table = h("div");
  #why = h("p.comparison-why", { role: "status" });
  #beside = h("div.difference", {
    tabindex: 0,
    role: "group",
    "aria-label": t("Schedules on the screen against the first"),
  });
  #scroll = h("div.comparison-scroll", { role: "region", "aria-label": t("Comparison"), tabindex: 0 });
  #url = "";
  #retry = createRetry(() => this.show());
  #answer: Comparison | null = null;
  #sort: string | null = null;
  #way: 1 | -1 = 1;

  constructor(parts: Parts) {
    const { store, plans } = parts;
    this.store = store;
    this.plans = plans;
    this.parts = parts;
    this.choice = createChoice(
      plans.families,
      () => plans.onScreen().map((plan) => plan.asked.family),
      (text) => store.setView({ families: text }),
    );
    this.choice.set(store.get().view.families);
    store.subscribe(({ view }, before) => {
      if (view.families === before.view.families) return;
      this.choice.set(view.families);
      this.show();
    });
    this.#beside.append(
      this.#table,
      this.#all,
      h(
        "p.muted.difference-more",
        h("button#compare-import.link", { onclick: () => parts.openImport() }, t("Open an order or a trace …")),
        t(" to compare it."),
      ),
    );
    onRest(() => this.show());
    this.panel = h(
      "div.comparison",
      h("div.row.comparison-top", this.choice.node, h("p.muted", this.#lead, this.#alone)),
      this.#beside,
      this.#why,
      this.#scroll,
    );
  }

  /** Follow the state. */
  show() {
    if (this.panel.hidden) return;
    this.#showDifferences();
    const { spec, preset } = this.store.get();
    const names = this.choice.names();
    if (names?.length === 0) {
      this.#clear(h("p.note", { text: t("Choose a family to compare.") }));
      return;
    }
    const url = comparisonUrl(spec, this.store.defaults, this.plans.family(spec.family), names, preset);
    if (url === this.#url) this.#draw();
    else this.#ask(url);
  }

  async #ask(url: string) {
    this.#retry.stop();
    this.#url = url;
    const slow = window.setTimeout(() => this.#wait(), LONG_WAIT);
    try {
      const answer = await fetchComparison(url);
      if (this.#url !== url) return;
      this.#answer = answer;
      this.#draw();
    } catch (problem) {
      if (this.#url === url) this.#fail(problem);
    } finally {
      clearTimeout(slow);
    }
  }

  #wait() {
    this.#scroll.classList.add("is-waiting");
    if (!this.#answer) replace(this.#scroll, h("p.note", { text: t("Simulating every family …") }));
  }

  #fail(problem: unknown) {
    const refused = problem instanceof Refusal;
    const text = refused ? whyFailed(problem) : `${whyFailed(problem)} `;
    const again = refused ? null : h("button.link", { onclick: () => this.show() }, t("Try again"));
    this.#clear(h("p.note.bad", text, again));
    if (problem instanceof Offline) this.#retry.later();
  }

  /** instead: shown in place of the table. */
  #clear(instead: Node) {
    this.#url = "";
    this.#answer = null;
    this.#say(null);
    this.#scroll.classList.remove("is-waiting");
    replace(this.#scroll, instead);
  }

  #draw() {
    const answer = this.#answer;
    if (!answer) return;
    const state = this.store.get();
    const { spec } = state;
    const marks = new Map<string, string>();
    specsOf(state).forEach(({ family }, at) => marks.set(family, (marks.get(family) ?? "") + letter(at)));
    const table = comparisonTable(
      { answer, spec, marks, sort: this.#sort, way: this.#way },
      { sort: (id) => this.#sortBy(id), put: (row) => this.#put(row), say: (text) => this.#say(text) },
    );
    const focused = this.#focused();
    replace(
      this.#scroll,
      table,
      saveLinks(answer),
      ...answer.notes.slice(1).map((note) => h("p.footnote.comparison-note", { text: tr(note) })),
    );
    this.#scroll.classList.remove("is-waiting");
    this.#say(null);
    if (focused) (this.#scroll.querySelector(focused) as HTMLElement | null)?.focus();
  }

  /** A new table takes the focus over from the old one. */
  #focused() {
    const active = document.activeElement;
    if (!(active instanceof HTMLElement) || !this.#scroll.contains(active)) return null;
    if (active.dataset.sort) return `[data-sort="${active.dataset.sort}"]`;
    const row = active.closest("tr");
    return active.classList.contains("put") && row ? `[data-family="${row.dataset.family}"] .put` : null;
  }

  /** id: ascending, descending, then in the order of the families. */
  #sortBy(id: string) {
    if (this.#sort !== id) [this.#sort, this.#way] = [id, 1];
    else if (this.#way > 0) this.#way = -1;
    else [this.#sort, this.#way] = [null, 1];
    this.#draw();
  }

  #put(row: Row) {
    const { spec, others } = this.store.get();
    const rest = others.filter((other) => other.family !== row.family);
    const next = { ...spec, ...row.spec, costs: { ...spec.costs, ...row.spec.costs } };
    // Where the screen is full, the last one makes room.
    this.store.set(
      { others: rest.length < others.length ? rest : [...others.slice(0, MOST_OTHERS - 1), next] },
      "push",
    );
  }

  /** What is pointed at, else the note that matters most. */
  #say(text: string | null) {
    setText(this.#why, text ?? tr(this.#answer?.notes[0] ?? ""));
    this.#why.classList.toggle("is-reason", text !== null);
  }

  /** The schedules on the screen against each other, and ways to more of them. */
  #showDifferences() {
    const shown = this.plans.onScreen();
    const several = shown.length > 1;
    show(this.#alone, !several);
    replace(this.#lead, several ? difference(shown, this.plans) : null);
    const measured = this.parts.measured();
    const isTable = shown.length + measured.length > 1;
    replace(this.#table, isTable ? differenceTable(shown, this.plans, measured, this.parts.unitsOf) : null);
    show(this.#all, several);
    const label = shown.length === 2 ? t("Run both schedules") : t("Run all {n} schedules", { n: shown.length });
    setText(this.#runAll, label);
  }
}

/** The table as files. */
function saveLinks(answer: Comparison) {
  const link = (name: string, type: string, text: () => string) =>
    h(
      "button.link",
      { "data-save": name, onclick: () => saveBlob(`bubbleline-comparison.${name}`, new Blob([text()], { type })) },
      name.toUpperCase(),
    );
  return h(
    "p.footnote.comparison-note.comparison-save",
    t("Save the table:"),
    " ",
    link("csv", "text/csv", () => comparisonCsv(answer)),
    " ",
    link("json", "application/json", () => `${JSON.stringify(plainTexts(answer), null, 2)}\n`),
  );
}

/** Sentences as their English, as the command prints them. */
function plainTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainTexts);
  if (value === null || typeof value !== "object") return value;
  if ("code" in value && "message" in value) return value.message;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainTexts(each)]));
}

export const createCompare = (parts: Parts) => new Compare(parts);
