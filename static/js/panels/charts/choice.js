// Chooses a chart: a list in groups where there is room, a menu where there is not, and its variants beside its title.
import { h, replace, setText } from "../../ui/dom.js";
import { groups } from "./kinds.js";
import { t } from "../../core/i18n/language.js";

/** @import {Kind} from "./kinds.js" */
/** @typedef {{chart: (id: string) => void, height: (id: string) => void}} Picks */

const FEW = 2; // variants that are buttons; more are a menu

export class Choice {
  #title = h("h2", { class: "charts-title" });
  #says = h("p", { class: "fine" });
  #heights = h("div", { class: "charts-choice" });
  #shown = "";

  /** @param {Picks} picks */
  constructor(picks) {
    this.picks = picks;
    this.menu = h(
      "select",
      { class: "charts-menu", "aria-label": t("Chart"), onchange: () => picks.chart(this.menu.value) },
      ...groups().map(({ title, kinds }) => {
        const group = h("optgroup", { label: title });
        group.append(...kinds.map(({ id, title: name }) => h("option", { value: id, text: name })));
        return group;
      }),
    );
    this.list = h(
      "nav",
      { class: "charts-list", "aria-label": t("Charts") },
      ...groups().map(({ title, kinds }) =>
        h(
          "div",
          { role: "group", "aria-label": title },
          h("h3", { text: title }),
          ...kinds.map((kind) =>
            h(
              "button",
              {
                type: "button",
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
    this.head = h("div", { class: "row charts-head" }, this.menu, this.#title, this.#says, this.#heights);
  }

  /** @param {Kind} kind @param {[string, string][]} heights its variants @param {string} y the one that is shown */
  show(kind, heights, y) {
    const key = JSON.stringify([kind.id, heights, y]);
    if (key === this.#shown) return;
    const focused = this.#heights.contains(document.activeElement);
    this.#shown = key;
    this.menu.value = kind.id;
    for (const button of this.list.querySelectorAll("button"))
      button.setAttribute("aria-current", String(button.dataset.chart === kind.id));
    setText(this.#title, kind.title);
    setText(this.#says, kind.says);
    replace(
      this.#heights,
      heights.length < 2 ? null : heights.length > FEW ? this.#menuOf(heights, y) : this.#buttonsOf(heights, y),
    );
    if (focused)
      /** @type {HTMLElement | null} */ (this.#heights.querySelector("[aria-pressed=true], select"))?.focus();
  }

  /** @param {[string, string][]} heights @param {string} y */
  #buttonsOf(heights, y) {
    return h(
      "div",
      { class: "which", role: "group", "aria-label": t("What is drawn") },
      ...heights.map(([id, title]) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(id === y), "data-choice": id, onclick: () => this.picks.height(id) },
          title,
        ),
      ),
    );
  }

  /** @param {[string, string][]} heights @param {string} y */
  #menuOf(heights, y) {
    /** @type {HTMLSelectElement} */
    const menu = h(
      "select",
      { class: "charts-variant", "aria-label": t("What is drawn"), onchange: () => this.picks.height(menu.value) },
      ...heights.map(([id, title]) => h("option", { value: id, text: title })),
    );
    menu.value = y;
    return menu;
  }

  /** Up and down go through the list, as in a menu. @param {KeyboardEvent} event */
  #onKey(event) {
    const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...this.list.querySelectorAll("button")];
    const at = all.indexOf(/** @type {any} */ (document.activeElement));
    all[(at + way + all.length) % all.length].focus();
  }
}
