// A table of numbers by stage: a box per entry with a bar as long as it is large, sums and maxima below, all equal in
// one click. A list or columns of a spreadsheet can be pasted into any box.
import { h, replace, sentence, show } from "../dom.ts";
import { setNote } from "../notes.ts";
import { hiddenCaption, tableHead, tableRow } from "../table.ts";
import { t } from "../../core/i18n/language.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { allEqual, placed, readBlock, type Cell, type Column } from "../../core/state/stage_entries.ts";

type StageActs = {
  read: () => number[][]; // the entries of each column now, as many as stages
  put: (changed: { name: string; list: number[] }[], event: Event) => void;
};

const MOST_ROWS = 256; // more are a list that is pasted into the field

export class StageTable {
  heads: Column[];
  acts: StageActs;
  node: HTMLDetailsElement;

  #body = h("tbody");
  #foot = h("tfoot");
  #problem = h("div.problem", { role: "alert", hidden: true });
  #scroll;
  #tooMany = h("p.footnote.hint", {
    hidden: true,
    text: t("Too many stages for a table: paste a list into the field."),
  });
  /** By column and stage. */
  #boxes: HTMLInputElement[][] = [];
  #now: number[][] = [];

  /** title: of the summary. */
  constructor(id: string, title: string, heads: Column[], acts: StageActs) {
    this.heads = heads;
    this.acts = acts;
    const table = h(
      "table.stage-table",
      hiddenCaption(title),
      tableHead(t("stage"), ...heads.map(({ symbol }) => symbol)),
      this.#body,
      this.#foot,
    );
    this.#scroll = h("div.stage-scroll", table);
    this.node = h(
      "details.stage-lists",
      { id },
      h("summary", { text: title }),
      this.#scroll,
      this.#tooMany,
      this.#problem,
      h("button.link", { "data-act": "equal", onclick: (event: Event) => this.#equal(event) }, t("All equal")),
      h("p.footnote.hint", {
        text: t("Paste a list such as 1,2,3 or 4*2,1 or columns of a spreadsheet into any box."),
      }),
    );
    this.node.addEventListener("toggle", () => this.sync());
  }

  /** Update from the state, while it is open. */
  sync() {
    if (!this.node.open) return;
    const now = this.acts.read();
    const stages = now[0].length;
    show(this.#tooMany, stages > MOST_ROWS);
    show(this.#scroll, stages <= MOST_ROWS);
    if (stages > MOST_ROWS) return;
    if (this.#boxes[0]?.length !== stages) this.#build(stages);
    const before = this.#now;
    this.#now = now;
    now.forEach((list, column) => {
      const most = Math.max(...list, 0);
      list.forEach((value, stage) => {
        const box = this.#boxes[column][stage];
        box.style.setProperty("--part", `${most > 0 ? (100 * value) / most : 0}%`);
        // A wrong text stays beside its message until its entry is another one.
        if (!wrong(box) || value !== before[column]?.[stage]) this.#write(box, value);
      });
    });
    if (!this.#boxes.flat().some(wrong)) setNote(this.#problem, "");
    this.#sums();
  }

  #write(box: HTMLInputElement, value: number) {
    const text = box === document.activeElement ? String(value) : brief(value);
    if (box.value !== text) box.value = text;
    box.removeAttribute("aria-invalid");
  }

  #build(stages: number) {
    this.#boxes = this.heads.map((_, column) =>
      Array.from({ length: stages }, (_x, stage) => this.#box({ column, stage })),
    );
    replace(
      this.#body,
      ...Array.from({ length: stages }, (_, stage) =>
        tableRow(String(stage), ...this.#boxes.map((column) => column[stage])),
      ),
    );
    this.#forgive();
  }

  #box(at: Cell) {
    const head = this.heads[at.column];
    const box = h("input", {
      type: "text",
      inputmode: head.whole ? "numeric" : "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "data-at": `${head.name}-${at.stage}`,
      "aria-label": t("{symbol} of stage {stage}", { symbol: head.symbol, stage: at.stage }),
    });
    box.addEventListener("change", (event) => this.#place(at, [[box.value]], event));
    box.addEventListener("keydown", (event) => this.#key(at, event));
    box.addEventListener("focus", () => {
      if (!wrong(box)) this.#write(box, this.#now[at.column][at.stage]);
      box.select();
    });
    box.addEventListener("blur", () => {
      if (!wrong(box)) this.#write(box, this.#now[at.column][at.stage]);
    });
    box.addEventListener("paste", (event) => {
      const block = readBlock(event.clipboardData?.getData("text/plain") ?? "");
      if (block.length === 1 && block[0].length === 1) return;
      event.preventDefault();
      this.#place(at, block, event);
    });
    return box;
  }

  /** Up and down, or Enter, go to the next stage. */
  #key({ column, stage }: Cell, event: KeyboardEvent) {
    const box = this.#boxes[column][stage];
    if (event.key === "Escape") {
      this.#write(box, this.#now[column][stage]);
      setNote(this.#problem, "");
      return;
    }
    const way = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" || event.key === "Enter" ? 1 : 0;
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.#boxes[column][stage + way];
    if (next) next.focus();
    else box.blur();
  }

  #place(at: Cell, block: string[][], event: Event) {
    const got = placed(this.heads, this.#now, at, block);
    if ("problem" in got) {
      setNote(this.#problem, sentence(got.problem));
      this.#boxes[got.at.column][got.at.stage].setAttribute("aria-invalid", "true");
      return;
    }
    this.#forgive();
    this.acts.put(
      got.changed.map((column) => ({ name: this.heads[column].name, list: got.columns[column] })),
      event,
    );
    this.sync();
  }

  #equal(event: Event) {
    this.#forgive();
    this.acts.put(
      this.acts.read().map((list, column) => {
        const { name, whole = false } = this.heads[column];
        return { name, list: allEqual(list, whole) };
      }),
      event,
    );
    this.sync();
  }

  #forgive() {
    setNote(this.#problem, "");
    for (const box of this.#boxes.flat()) box.removeAttribute("aria-invalid");
  }

  #sums() {
    const row = (name: string, of: (list: number[]) => number) =>
      tableRow(name, ...this.#now.map((list) => formatNumber(Number(of(list).toPrecision(5)))));
    replace(
      this.#foot,
      row(t("total"), (list) => list.reduce((sum, x) => sum + x, 0)),
      row(t("largest"), (list) => Math.max(...list)),
    );
  }
}

const wrong = (box: HTMLInputElement) => box.getAttribute("aria-invalid") === "true";

/** Five digits fit into a box; the whole number is there while it is edited. */
const brief = (value: number) => String(Number(value.toPrecision(5)));
