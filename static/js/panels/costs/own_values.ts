// The fields of a model or machine of the reader's own: a box per number with its unit, and its error below.
import { h, replace, sentence, setText, show } from "../../ui/dom.ts";
import { TypedBox } from "../../ui/fields/typed_box.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { called, range, read, shown, type Bounds, type OwnField } from "../../core/state/own_values.ts";
import type { SpecError } from "../../core/schedule/types.ts";

export type OwnValue = number | boolean | null;
type OwnActs = {
  now: (name: string) => any;
  bounds: (name: string) => Bounds;
  put: (name: string, value: OwnValue, how: "push" | "gesture") => void;
  undo: () => void; // back to the preset that the numbers began as
};
type Row = {
  field: OwnField;
  node: HTMLElement;
  box: HTMLInputElement;
  problem: HTMLElement;
  refused: boolean; // the problem is the server's, not the text's
  typed: TypedBox;
};

export class OwnFields {
  acts: OwnActs;
  node: HTMLFieldSetElement;

  #rows: Row[];
  #truths: [string, HTMLInputElement][];
  #hint;
  #undo = h("button.link", { onclick: () => this.acts.undo() });
  #from = "";

  /** truths: name and label of those that are true or false. */
  constructor(legend: string, fields: OwnField[], truths: [string, string][], acts: OwnActs) {
    this.acts = acts;
    this.#hint = h("p.footnote.own-hint", { id: `own-hint-${fields[0].name}` });
    this.#rows = fields.map((field) => this.#row(field));
    this.#truths = truths.map(([name]) => [
      name,
      h("input", {
        type: "checkbox",
        id: `own-${name}`,
        onchange: ({ target }: Event) => acts.put(name, (target as HTMLInputElement).checked, "push"),
      }),
    ]);
    this.node = h(
      "fieldset.own",
      { hidden: true },
      h("legend.visually-hidden", { text: legend }),
      ...this.#rows.map(({ node }) => node),
      ...this.#truths.map(([, box], at) => h("label.check", box, truths[at][1])),
      this.#hint,
      this.#undo,
    );
    this.node.addEventListener("focusout", () => this.#explain(null));
  }

  #row(field: OwnField): Row {
    const id = `own-${field.name}`;
    const box = h("input", {
      type: "text",
      id,
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: field.empty,
      "aria-describedby": `${id}-problem ${this.#hint.id}`,
    });
    const problem = h("div.problem", { id: `${id}-problem`, role: "alert", hidden: true });
    const label = h("label", { for: id, text: field.label, "aria-label": field.called ? called(field) : null });
    const row = {
      field,
      box,
      problem,
      refused: false,
      typed: new TypedBox(box),
      node: h("div.own-field", label, box, h("span.unit", { text: field.unit ?? "" }), problem),
    };
    box.addEventListener("change", () => this.#commit(row));
    box.addEventListener("keydown", (event) => this.#key(row, event));
    box.addEventListener("focus", () => this.#explain(field));
    return row;
  }

  /** What the field takes, while one is in it. */
  #explain(field: OwnField | null) {
    const { acts } = this;
    const values = field && { name: called(field), range: range(field, acts.bounds(field.name)), hint: field.hint };
    setText(
      this.#hint,
      !values
        ? t("Starting from {preset}.", { preset: this.#from })
        : values.hint
          ? t("{name}: {range}; {hint}.", values)
          : t("{name}: {range}.", values),
    );
  }

  #key(row: Row, event: KeyboardEvent) {
    const { field, box } = row;
    if (event.key === "Enter") this.#commit(row);
    if (event.key === "Escape" && (box.value !== this.#text(field) || !row.problem.hidden)) {
      event.stopPropagation();
      this.#write(row);
    }
    const way = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    const from = Number(box.value);
    if (!way || box.value.trim() === "" || !Number.isFinite(from)) return;
    event.preventDefault();
    // One, or one in the second digit of what has no natural step.
    const step = (field.whole ? 1 : 10 ** Math.floor(Math.log10(Math.abs(from) || 10) - 1)) * (event.shiftKey ? 10 : 1);
    box.value = String(Number((from + way * step).toPrecision(12)));
    this.#commit(row, "gesture");
  }

  #commit(row: Row, how: "push" | "gesture" = "push") {
    const { field, box } = row;
    if (box.value === this.#text(field)) {
      this.#complain(row, null);
      row.typed.take();
      return;
    }
    const got = read(field, box.value, this.acts.bounds(field.name));
    if ("value" in got) {
      this.#complain(row, null);
      row.typed.take();
      this.acts.put(field.name, got.value, how);
    } else this.#complain(row, got.message, got.nearest ?? this.acts.now(field.name));
  }

  #text = (field: OwnField) => shown(field, this.acts.now(field.name));

  #complain(row: Row, message: string | null, nearest?: number | null) {
    const { field, node, box, problem } = row;
    row.refused = false;
    if (message === null && problem.hidden) return;
    show(problem, message !== null);
    node.toggleAttribute("data-bad", message !== null);
    box.setAttribute("aria-invalid", String(message !== null));
    const value = shown(field, nearest);
    const words =
      value === ""
        ? t("Leave {symbol} out", { symbol: called(field) })
        : t("Use {field} = {value}", { field: called(field), value: `${value}${field.unit ? ` ${field.unit}` : ""}` });
    replace(
      problem,
      h("span", { text: sentence(message ?? "") }),
      nearest === undefined ? "" : h("div", h("button.button", { onclick: () => this.#take(field, nearest) }, words)),
    );
  }

  #take(field: OwnField, value: number | null) {
    const row = this.#rows.find((each) => each.field === field);
    if (!row) return;
    this.#complain(row, null);
    this.acts.put(field.name, value, "push");
    this.#write(row);
    row.box.focus();
  }

  #write(row: Row) {
    this.#complain(row, null);
    row.typed.write(this.#text(row.field));
  }

  /**
   * Write the numbers as they are now. A text that is wrong or still being typed stays. from: the preset that they
   * began as.
   */
  fill(from: string, changed: boolean) {
    for (const row of this.#rows) {
      if (row.problem.hidden && !row.typed.isTyping) this.#write(row);
    }
    for (const [name, box] of this.#truths) box.checked = Boolean(this.acts.now(name));
    this.#from = from;
    if (!this.node.contains(document.activeElement)) this.#explain(null);
    setText(this.#undo, t("Back to {preset}", { preset: from }));
    show(this.#undo, changed);
  }

  /** Forget what was wrong: other numbers are asked for, or (refused) the server takes them now. */
  calm(refused = false) {
    for (const row of this.#rows) if (!refused || row.refused) this.#write(row);
  }

  /** A message with the labels of the fields instead of their keys. */
  #plainly(message: string) {
    return this.#rows.reduce(
      (text, { field }) => text.replace(new RegExp(`\\b${field.name}\\b`, "g"), called(field).toLowerCase()),
      message,
    );
  }

  /** What the server refused, if it is about one of these. */
  refuse(error: SpecError): boolean {
    const { field: name, value, nearest } = error;
    const row = this.#rows.find(({ field }) => field.name === name);
    if (!row || this.node.hidden) return false;
    const { field } = row;
    const got = typeof value === "number" ? read(field, shown(field, value), this.acts.bounds(name)) : { value: null };
    row.box.value = typeof value === "number" ? shown(field, value) : this.#text(field);
    this.#complain(row, "message" in got ? got.message : this.#plainly(tr(error)), nearest as number | undefined);
    row.refused = true;
    return true;
  }
}
