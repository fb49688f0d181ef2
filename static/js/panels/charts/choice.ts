// Chooses a chart: a list in groups where there is room, a menu where there is not, and its variants beside its title.
import { h, isNew, replace, setText } from "../../ui/dom.ts";
import { optionNodes, type Choice as Height } from "../../ui/fields/choices.ts";
import { groups, type Kind } from "./kinds.ts";
import { t } from "../../core/i18n/language.ts";

type Picks = { chart: (id: string) => void; height: (id: string) => void };

const FEW = 2; // variants that are buttons; more are a menu

export class Choice {
  picks: Picks;
  menu: HTMLSelectElement;
  list: HTMLElement;
  head: HTMLDivElement;

  #title = h("h2.charts-title");
  #says = h("p.fine");
  #heights = h("div.charts-choice");

  constructor(picks: Picks) {
    this.picks = picks;
    this.menu = h(
      "select.charts-menu",
      { "aria-label": t("Chart"), onchange: () => picks.chart(this.menu.value) },
      ...groups().map(({ title, kinds }) =>
        h("optgroup", { label: title }, ...optionNodes(kinds.map(({ id, title: name }) => [id, name]))),
      ),
    );
    this.list = h(
      "nav.charts-list",
      { "aria-label": t("Charts") },
      ...groups().map(({ title, kinds }) =>
        h(
          "div",
          { role: "group", "aria-label": title },
          h("h3", { text: title }),
          ...kinds.map((kind) =>
            h(
              "button",
              {
                "data-chart": kind.id,
                title: t("{title}: {text}", { title: kind.title, text: kind.says }),
                onclick: () => picks.chart(kind.id),
              },
              kind.short,
            ),
          ),
        ),
      ),
    );
    this.list.addEventListener("keydown", (event) => this.#onKey(event));
    this.head = h("div.row.charts-head", this.menu, this.#title, this.#says, this.#heights);
  }

  /** heights: its variants; y: the one that is shown. */
  show(kind: Kind, heights: Height[], y: string) {
    if (!isNew(this.head, [kind.id, heights, y])) return;
    const focused = this.#heights.contains(document.activeElement);
    this.menu.value = kind.id;
    for (const button of this.list.querySelectorAll("button"))
      button.setAttribute("aria-current", String(button.dataset.chart === kind.id));
    setText(this.#title, kind.title);
    setText(this.#says, kind.says);
    replace(
      this.#heights,
      heights.length < 2 ? null : heights.length > FEW ? this.#menuOf(heights, y) : this.#buttonsOf(heights, y),
    );
    if (focused) (this.#heights.querySelector("[aria-pressed=true], select") as HTMLElement | null)?.focus();
  }

  #buttonsOf(heights: Height[], y: string) {
    return h(
      "div.which",
      { role: "group", "aria-label": t("What is drawn") },
      ...heights.map(([id, title]) =>
        h(
          "button",
          { "aria-pressed": String(id === y), "data-choice": id, onclick: () => this.picks.height(id) },
          title,
        ),
      ),
    );
  }

  #menuOf(heights: Height[], y: string) {
    const menu: HTMLSelectElement = h(
      "select.charts-variant",
      { "aria-label": t("What is drawn"), onchange: () => this.picks.height(menu.value) },
      ...optionNodes(heights),
    );
    menu.value = y;
    return menu;
  }

  /** Up and down go through the list, as in a menu. */
  #onKey(event: KeyboardEvent) {
    const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...this.list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement as any);
    all[(at + way + all.length) % all.length].focus();
  }
}
