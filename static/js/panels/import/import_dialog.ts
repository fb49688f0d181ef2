// The import dialog: a file or a pasted text, what it is taken for, and where it goes. A refusal leaves all as it was
// given.
import { Offline, Refusal } from "../../data/api.ts";
import { h, replace, sentence, setText, show } from "../../ui/dom.ts";
import {
  areTraces,
  askOrder,
  askRun,
  askView,
  filesOf,
  isConfiguration,
  isNsight,
  isTable,
  readFile,
  type Given,
} from "./read.ts";
import { putImported } from "../../data/imported.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { IDS, letter, specsOf } from "../../core/state/schedules.ts";
import type { Diagnoses } from "../../data/runs/diagnosis.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";

type Parts = {
  store: Store;
  plans: Plans;
  addRun: (id: string) => string; // the runs of the link with one more
  diagnoses: Diagnoses;
  announce: (text: string) => void; // shows a brief notice
};

const TYPES = ".csv,.txt,.json,.gz,.sqlite,.parquet,text/csv,application/json,application/gzip";
const EXAMPLE = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1";
const NAMES = "(?P<kind>forward|backward)_step.*stage=(?P<stage>\\d+).*mb=(?P<micro>\\d+)";
const UNITS = ["us", "ns", "ms", "s"]; // the first is the format's
const PASTED = 400_000; // characters of a file that are shown; a larger one is named only

export class ImportDialog {
  parts: Parts;
  node: HTMLDialogElement;

  /** What files gave; empty where the text was typed. */
  #files: Given[] = [];
  #at = 0;
  #usualPlace = "add";
  /** The place the reader chose, which the format of a file read later does not change. */
  #chosenPlace: string | null = null;
  #asking = false;
  #text = h("textarea#import-text", {
    rows: 6,
    spellcheck: "false",
    autocapitalize: "none",
    autocomplete: "off",
    placeholder: EXAMPLE,
    "aria-describedby": "import-status",
  });
  #pick = h("input#import-file", { type: "file", multiple: true, accept: TYPES, hidden: true });
  #status = h("p#import-status.share-status", { role: "status" });
  #wrong = h("p#import-wrong.problem", { role: "alert", hidden: true });
  #names = h("input#import-names", {
    type: "text",
    maxlength: 200,
    spellcheck: "false",
    autocapitalize: "none",
    autocomplete: "off",
    placeholder: NAMES,
  });
  #unit = h("select#import-unit", ...UNITS.map((unit) => h("option", { value: unit, text: unit })));
  /** Only for traces. */
  #naming = h(
    "details#import-naming",
    { hidden: true },
    h("summary", { text: t("Names of ops and unit of times") }),
    h(
      "label",
      t("Names, as a regular expression with the groups kind, stage and micro; empty: 2F0, PP:2F0 or Forward 0"),
      this.#names,
    ),
    h("label", t("Unit of times"), this.#unit),
  );
  #where = h("select#import-where");
  #take = h("button#import-take.button.primary", { type: "submit" }, t("Import"));
  #why = h("button#import-why.button.soft", { onclick: () => this.#submit(null) }, t("Why is it slow?"));

  constructor(parts: Parts) {
    this.parts = parts;
    const close = h("button.button.icon", { "aria-label": t("Close"), onclick: () => this.node.close() }, "×");
    const choose = h("button.button.soft", { onclick: () => this.#pick.click() }, t("Choose a file …"));
    const form = h(
      "form",
      { onsubmit: (event: Event) => this.#submit(event) },
      h(
        "section",
        h(
          "p.muted.share-text",
          t(
            "An order in torch's CSV (one line a rank), a trace of a run (from torch's profiler, one file for each " +
              "rank, or Chrome's format with ops named 2F0), or a training's flags for Megatron-LM or NeMo.",
          ),
        ),
        h(
          "div.row.import-give",
          choose,
          this.#pick,
          h("span.muted", { text: t("or drop it on the page, or paste it:") }),
        ),
        h("label.visually-hidden", { for: "import-text", text: t("Text of the order or the trace") }),
        this.#text,
        this.#status,
        this.#naming,
        this.#wrong,
      ),
      h(
        "section.import-end",
        h("label", { for: "import-where", text: t("Place") }),
        this.#where,
        this.#take,
        this.#why,
      ),
    );
    this.node = h(
      "dialog#import-dialog.popup.share.import",
      { "aria-labelledby": "import-title" },
      h("div.share-head", h("h2#import-title", { text: t("Open an order or a trace") }), close),
      form,
    );
    this.node.addEventListener("keydown", (event) => event.stopPropagation()); // the timeline's keys rest
    this.node.addEventListener("click", (event) => {
      if (event.target === this.node) this.node.close();
    });
    this.#pick.addEventListener("change", () => {
      this.#read([...(this.#pick.files ?? [])]);
      this.#pick.value = "";
    });
    this.#where.addEventListener("change", () => (this.#chosenPlace = this.#where.value));
    this.#text.addEventListener("input", () => {
      this.#files = [];
      this.#text.placeholder = EXAMPLE;
      this.#look();
    });
    document.body.append(this.node);
  }

  /** at: the schedule whose place it may take, null for one more. */
  open(at: number | null, files: File[]) {
    this.#at = at ?? 0;
    this.#usualPlace = at === null ? "add" : "replace";
    this.#chosenPlace = null;
    show(this.#wrong, false);
    this.#look();
    if (!this.node.open) this.node.showModal();
    if (files.length) this.#read(files);
  }

  #given(): Given[] {
    if (this.#files.length) return this.#files;
    return this.#text.value.trim() ? [{ name: t("The text"), text: this.#text.value }] : [];
  }

  async #read(files: File[]) {
    if (!files.length) return;
    show(this.#wrong, false);
    setText(this.#status, t("Reading …"));
    this.#take.disabled = this.#why.disabled = true; // what is there now is not what was chosen
    try {
      this.#files = await Promise.all(files.map(readFile));
      const [one] = this.#files;
      const shown = this.#files.length === 1 && one.base64 === undefined && one.text.length <= PASTED;
      this.#text.value = shown ? one.text : "";
      this.#text.placeholder = shown
        ? EXAMPLE
        : this.#files
            .map(
              ({ name, text, base64 }) =>
                `${name} (${Math.ceil((text.length + 0.75 * (base64?.length ?? 0)) / 1000)} kB)`,
            )
            .join("\n");
      this.#look();
      this.#take.focus();
    } catch (problem) {
      this.#look();
      this.#complain(problem);
    }
  }

  /** Show the detected format, and offer the places it can go to; a place that was chosen stays if it is possible. */
  #look() {
    const given = this.#given();
    const traces = areTraces(given);
    show(this.#naming, traces || given.some(isNsight));
    const state = this.parts.store.get();
    const full = state.others.length === IDS.length - 1;
    const title = this.parts.plans.family(specsOf(state)[this.#at].family)?.title ?? "";
    const place = h("option", {
      value: "replace",
      text: t("in place of {letter}, {title}", { letter: letter(this.#at), title }),
    });
    const more = h("option", {
      value: "add",
      disabled: full,
      text: full ? t("as one more schedule (four are on the screen)") : t("as one more schedule"),
    });
    const training = given.some(({ text }) => isConfiguration(text));
    const whole = h("option", { value: "view", text: t("in place of the whole view, with its model") });
    const times = h("option", { value: "run", text: t("its times only, under A") });
    replace(this.#where, ...(training ? [whole] : [traces ? times : "", more, place]));
    const possible = (each: string) =>
      each === "run" ? traces : each === "view" ? training : !training && (each !== "add" || !full);
    const usual = traces ? "run" : training ? "view" : this.#usualPlace;
    this.#where.value = [this.#chosenPlace ?? usual, usual, "replace"].find(possible) ?? "replace";
    const names = this.#files.map(({ name }) => name).join(", ");
    const measured = traces || given.some(isTable);
    const what = traces
      ? t("a trace: its times become a measured lane")
      : measured
        ? t("measured ops")
        : training
          ? t("the configuration of a training")
          : t("an order in torch's CSV");
    show(this.#why, measured);
    this.#why.disabled = this.#asking;
    show(this.#take, traces || !measured);
    setText(
      this.#status,
      !given.length ? "" : names ? t("{names}: {what}", { names, what }) : t("Recognized as {what}", { what }),
    );
    this.#take.disabled = !given.length || this.#asking;
  }

  /** event: of the form, to import; null: to diagnose. */
  async #submit(event: Event | null) {
    event?.preventDefault();
    const given = this.#given();
    if (!given.length || this.#asking) return;
    this.#asking = true;
    this.#take.disabled = this.#why.disabled = true;
    setText(this.#status, t("Asking …"));
    show(this.#wrong, false);
    try {
      if (!event || given.some(isTable)) await this.#diagnose(given);
      else if (isConfiguration(given[0].text)) await this.#takeView(given);
      else await (areTraces(given) ? this.#takeTrace(given) : this.#takeOrder(given));
      this.#files = [];
      this.#text.value = "";
      this.#text.placeholder = EXAMPLE;
      this.#names.value = "";
      [this.#unit.value] = UNITS;
      this.#naming.removeAttribute("open"); // what it sets is of one trace
      this.node.close();
    } catch (problem) {
      this.#complain(problem);
    } finally {
      this.#asking = false;
      this.#look();
    }
  }

  async #diagnose(given: Given[]) {
    const names = this.#names.value.trim();
    const unit = areTraces(given) || given.some(isNsight) ? { unit: this.#unit.value } : {};
    await this.parts.diagnoses.ask({ files: filesOf(given, names !== ""), ...unit, ...(names && { names }) });
    this.parts.store.setView({ tab: "diagnosis" }, "push");
  }

  /** Show the training that a configuration describes, with its model. */
  async #takeView(given: Given[]) {
    const { query, notes } = await askView(given);
    this.parts.store.visit(`?${query}`);
    this.parts.announce(notes.map((note) => sentence(tr(note))).join(" "));
  }

  async #takeOrder(given: Given[]) {
    const { spec, dialect, notes } = await askOrder(given);
    putImported(this.parts.store, spec, this.#where.value === "replace" ? this.#at : null, {});
    const sizes = t("The order is in the link: p {p}, m {m}, v {v}.", { p: spec.p, m: spec.m, v: spec.v });
    this.parts.announce([sizes, dialectText(dialect), ...notes.map((note) => sentence(tr(note)))].join(" ").trim());
  }

  async #takeTrace(given: Given[]) {
    const { store } = this.parts;
    const where = this.#where.value;
    const { id, spec } = await askRun(given, { names: this.#names.value.trim(), unit: this.#unit.value });
    const view = { run: this.parts.addRun(id), tab: "run" };
    if (where === "run") store.setView(view, "push");
    else putImported(store, spec, where === "replace" ? this.#at : null, view, spec.costs);
    this.parts.announce(t("The trace is kept as a run: p {p}, m {m}.", { p: spec.p, m: spec.m }));
  }

  #complain(problem: unknown) {
    const text =
      problem instanceof Refusal
        ? sentence(tr(problem))
        : problem instanceof Offline
          ? t("The server does not answer. Your input is still here; try again in a moment.")
          : problem instanceof Error
            ? problem.message // a sentence, which may begin with a file's name
            : sentence(String(problem));
    setText(this.#wrong, text);
    show(this.#wrong, true);
    this.#wrong.scrollIntoView({ block: "nearest" });
  }
}

/** What letters and cells were read that today's torch does not write in a plain file; "" for such a file. */
function dialectText({ format, letters }: { format: string; letters: string }) {
  const parts = [
    letters === "2024" ? t("letters of 2024, where B is the input gradient") : "",
    format === "compute_comms" ? t("with messages (compute_comms)") : "",
  ].filter(Boolean);
  return parts.length ? t("Read as torch's CSV, {parts}.", { parts: parts.join(t(", ")) }) : "";
}
