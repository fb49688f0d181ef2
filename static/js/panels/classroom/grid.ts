// The students of a class against what they work on: a row each, with what its page shows, and a sign in each column.
import { inOrder, itemsOf, titleOf, type Order } from "./items.ts";
import { nameOf, type ItemState, type Student } from "../../data/classroom/classroom.ts";
import { h, icon, isNew, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import type { Thumbnails } from "./thumbnails.ts";

type Row = {
  node: HTMLTableRowElement;
  pick: HTMLInputElement;
  name: HTMLElement;
  here: HTMLElement;
  thumb: HTMLElement;
  marks: HTMLElement[];
  remove: HTMLElement;
  student: Student | null;
};
type Acts = { pick: (number: number, picked: boolean) => boolean; remove: (student: Student) => void };
export type Shown = { order: Order; names: boolean; hereOnly: boolean; asked: number | null };

const CROSS = "M4 4l8 8M12 4l-8 8";
const SIGNS: Record<ItemState | "none", string> = { none: "·", working: "…", stuck: "!", wrong: "✕", done: "✓" };

const stateText = (state: ItemState | undefined) =>
  ({
    none: t("untouched"),
    working: t("working"),
    stuck: t("stuck"),
    wrong: t("wrong"),
    done: t("done"),
  })[state ?? "none"];

export class Grid {
  node: HTMLElement;

  #thumbnails: Thumbnails;
  #acts: Acts;
  #rows = new Map<number, Row>();
  #items: string[] = [];
  #head = h("tr", { role: "row" });
  #body = h("tbody", { role: "rowgroup" });
  #table = h("table.grid", { role: "table" });
  #names = false;

  /** acts.pick: returns whether it may be picked. scroll: what scrolls, which the thumbnails watch. */
  constructor(scroll: HTMLElement, thumbnails: Thumbnails, acts: Acts) {
    this.#thumbnails = thumbnails;
    this.#acts = acts;
    const caption = h("caption.visually-hidden", { text: t("Students, what their pages show, and how far they are") });
    this.#table.append(caption, h("thead", { role: "rowgroup" }, this.#head), this.#body);
    scroll.append(this.#table);
    this.node = scroll;
  }

  /** Show these students; rows that are as they were are left alone. */
  update(students: Map<number, Student>, { order, names, hereOnly, asked }: Shown) {
    const items = itemsOf(students.values(), asked);
    const again = items.join() !== this.#items.join();
    this.#items = items;
    if (again || !this.#rows.size) this.#setColumns(items.length);
    const renamed = names !== this.#names;
    this.#names = names;
    for (const [number, row] of this.#rows) if (!students.has(number)) this.#drop(number, row);
    for (const student of students.values()) {
      const row = this.#rows.get(student.number) ?? this.#add(student.number);
      if (row.student !== student || again || renamed) this.#write(row, student);
      show(row.node, student.here || !hereOnly);
    }
    this.#writeHead(students);
    this.#arrange(inOrder(students.values(), order));
  }

  /** Untick all. */
  clear() {
    for (const { pick } of this.#rows.values()) pick.checked = false;
  }

  /**
   * Rows are laid out each by itself, with columns of fixed widths, so that those out of sight cost nothing; a table's
   * own columns depend on all rows. The roles say that it is a table all the same.
   */
  #setColumns(count: number) {
    const marks = count ? `repeat(${count}, var(--mark)) ` : "";
    const { style } = this.#table;
    style.setProperty("--columns", `var(--side) var(--name) var(--view) ${marks}1fr var(--side)`);
    style.setProperty("--count", String(count));
  }

  #add(number: number) {
    const pick = h("input", { type: "checkbox" });
    pick.addEventListener("change", () => {
      if (!this.#acts.pick(number, pick.checked)) pick.checked = false;
    });
    const [name, here] = [h("span.grid-who"), h("span.grid-here")];
    const thumb = this.#thumbnails.create();
    const remove = h("button.button.icon", icon(CROSS));
    const node = h(
      "tr",
      { role: "row" },
      cell("pick", h("label", pick)),
      h("th.grid-name", { scope: "row", role: "rowheader" }, here, name),
      cell("view", thumb),
      cell("rest"),
      cell("remove", remove),
    );
    const row: Row = { node, pick, name, here, thumb, marks: [], remove, student: null };
    remove.addEventListener("click", () => row.student && this.#acts.remove(row.student));
    this.#rows.set(number, row);
    return row;
  }

  #drop(number: number, { node, thumb, pick }: Row) {
    if (pick.checked) this.#acts.pick(number, false);
    this.#thumbnails.forget(thumb);
    node.remove();
    this.#rows.delete(number);
  }

  #write(row: Row, student: Student) {
    const { name, here, pick, remove, thumb, node, marks } = row;
    const text = nameOf(student, this.#names);
    setText(name, this.#names && student.name ? `${text} · ${student.number}` : text);
    here.classList.toggle("is-here", student.here);
    if (isNew(here, student.here))
      replace(here, h("span.visually-hidden", { text: student.here ? t("here") : t("away") }));
    here.title = student.here ? t("here") : t("away");
    node.classList.toggle("is-away", !student.here);
    pick.setAttribute("aria-label", t("Select {name}", { name: text }));
    remove.setAttribute("aria-label", t("Remove {name}", { name: text }));
    remove.title = t("Remove {name}", { name: text });
    if (row.student?.view !== student.view) this.#thumbnails.show(thumb, student.view);
    row.student = student;
    while (marks.length < this.#items.length) {
      const mark = h("span.mark", { role: "img" });
      marks.push(mark);
      node.insertBefore(cell("mark", mark), node.lastElementChild?.previousElementSibling ?? null);
    }
    while (marks.length > this.#items.length) marks.pop()?.parentElement?.remove();
    marks.forEach((mark, at) => this.#mark(mark, student.items[this.#items[at]]));
  }

  #mark(mark: HTMLElement, state: ItemState | undefined) {
    if (mark.dataset.state === (state ?? "none")) return;
    mark.dataset.state = state ?? "none";
    setText(mark, SIGNS[state ?? "none"]);
    mark.setAttribute("aria-label", stateText(state));
  }

  #writeHead(students: Map<number, Student>) {
    const done = this.#items.map((item) => [...students.values()].filter(({ items }) => items[item] === "done").length);
    if (!isNew(this.#head, [this.#items, done])) return;
    replace(
      this.#head,
      cell("pick"),
      h("th.grid-name", { scope: "col", role: "columnheader", text: t("Student") }),
      h("th.grid-view", { scope: "col", role: "columnheader", text: t("Page") }),
      ...this.#items.map((item, at) => {
        const { short, long } = titleOf(item);
        return h(
          "th.grid-mark",
          { scope: "col", role: "columnheader", title: long },
          h("span.grid-item", { text: short }),
          h("span.grid-done", { text: `${done[at]} ✓`, title: t("{n} done", { n: done[at] }) }),
        );
      }),
      cell("rest"),
      cell("remove"),
    );
  }

  /** Move only the rows that stand elsewhere, so that the rest keeps its place and its focus. */
  #arrange(students: Student[]) {
    let next = this.#body.firstElementChild;
    for (const { number } of students) {
      const { node } = this.#rows.get(number) as Row;
      if (node === next) next = node.nextElementSibling;
      else this.#body.insertBefore(node, next);
    }
  }
}

const cell = (kind: "pick" | "view" | "mark" | "rest" | "remove", inside?: HTMLElement) =>
  h(`td.grid-${kind}`, { role: "cell" }, inside);

/** What the signs mean. */
export const legend = () =>
  h(
    "ul.grid-legend",
    ...(["none", "working", "stuck", "wrong", "done"] as const).map((state) =>
      h(
        "li",
        h("span.mark", { "aria-hidden": "true", "data-state": state, text: SIGNS[state] }),
        stateText(state === "none" ? undefined : state),
      ),
    ),
  );
