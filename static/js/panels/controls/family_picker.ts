// The family picker: grouped, with year and one line each. A listbox: arrows move, letters jump, Enter picks, Esc
// closes.
import { h, replace, setText, show } from "../../ui/dom.ts";
import { importedFamily } from "../../data/imported.ts";
import { familyGroups } from "../../data/option_names.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import { t, tr } from "../../core/i18n/language.ts";
import type { Family } from "../../core/schedule/types.ts";

export class Picker {
  families: Family[];
  pick: (family: Family) => void;
  openImport: () => void;

  #name = h("span.family-name");
  #line = h("span.family-say");
  button = h(
    "button#family.family-button",
    { "aria-haspopup": "listbox", "aria-expanded": "false" },
    this.#name,
    h("span.family-chevron", { "aria-hidden": "true", text: "▾" }),
    this.#line,
  );
  #list = h("div#family-list.picker-groups", { role: "listbox", "aria-label": t("Family of schedules"), tabindex: 0 });
  #panel = h("div.popup.picker", { role: "dialog", "aria-label": t("Family of schedules"), hidden: true }, this.#list);
  #options: { family: Family; node: HTMLElement }[] = [];
  #current = "";
  #active = 0;

  /** openImport: opens the import dialog. */
  constructor(families: Family[], pick: (family: Family) => void, openImport: () => void) {
    this.families = [...families, importedFamily()];
    this.pick = pick;
    this.openImport = openImport;
    for (const { title, families: members } of familyGroups(families)) {
      const box = h(
        "div.picker-group",
        { role: "group", "aria-label": title },
        h("h3", { text: capital(title), "aria-hidden": "true" }),
      );
      for (const family of members) box.append(this.#option(family));
      this.#list.append(box);
    }
    this.#list.append(
      h(
        "div.picker-group.picker-file",
        { role: "group", "aria-label": t("From a file") },
        this.#option({
          ...importedFamily(),
          title: t("Open an order or a trace …"),
          summary: t("torch's CSV or a trace, from a file or pasted; the link holds it."),
        }),
      ),
    );
    document.body.append(this.#panel);
    this.button.addEventListener("click", () => (this.#panel.hidden ? this.#open() : this.#close(true)));
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("pointerdown", ({ target }) => {
      if (
        !this.#panel.hidden &&
        target instanceof Node &&
        !this.#panel.contains(target) &&
        !this.button.contains(target)
      )
        this.#close(false);
    });
  }

  #option(family: Family) {
    const at = this.#options.length;
    const node = h(
      "div.picker-option",
      { role: "option", id: `family-${family.name}`, "data-family": family.name, onclick: () => this.#choose(at) },
      h("b", { text: family.title }),
      " ",
      family.year ? h("small", { text: family.year }) : "",
      h("p", { text: tr(family.summary) }),
    );
    this.#options.push({ family, node });
    return node;
  }

  #activate(at: number) {
    this.#active = (at + this.#options.length) % this.#options.length;
    this.#options.forEach(({ node }, k) => node.setAttribute("aria-selected", String(k === this.#active)));
    const { node } = this.#options[this.#active];
    this.#list.setAttribute("aria-activedescendant", node.id);
    node.scrollIntoView({ block: "nearest" });
  }

  #open() {
    const panel = this.#panel;
    const box = this.button.getBoundingClientRect();
    show(panel, true);
    panel.style.left = `${Math.max(8, Math.min(box.left, innerWidth - panel.offsetWidth - 8))}px`;
    panel.style.top = `${Math.max(8, Math.min(box.bottom + 4, innerHeight - panel.offsetHeight - 8))}px`;
    this.button.setAttribute("aria-expanded", "true");
    this.#activate(
      Math.max(
        0,
        this.#options.findIndex(({ family }) => family.name === this.#current),
      ),
    );
    this.#list.focus({ preventScroll: true });
  }

  /** back: give the focus back to the button. */
  #close(back: boolean) {
    show(this.#panel, false);
    this.button.setAttribute("aria-expanded", "false");
    if (back) this.button.focus();
  }

  #choose(at: number) {
    this.#close(true);
    const { family } = this.#options[at];
    if (family.name === IMPORTED) this.openImport();
    else this.pick(family);
  }

  #key(event: KeyboardEvent) {
    const { key } = event;
    if (key === "ArrowDown") this.#activate(this.#active + 1);
    else if (key === "ArrowUp") this.#activate(this.#active - 1);
    else if (key === "Home") this.#activate(0);
    else if (key === "End") this.#activate(this.#options.length - 1);
    else if (key === "Enter" || key === " ") this.#choose(this.#active);
    else if (key === "Escape" || key === "Tab") this.#close(true);
    else if (/^[a-z0-9]$/i.test(key)) this.#activate(this.#startingWith(key.toLowerCase()));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next option that starts with a letter. */
  #startingWith(letter: string) {
    const count = this.#options.length;
    for (let k = 1; k <= count; k++) {
      const at = (this.#active + k) % count;
      if (this.#options[at].family.title.toLowerCase().startsWith(letter)) return at;
    }
    return this.#active;
  }

  set(name: string) {
    if (name === this.#current) return;
    this.#current = name;
    const family = this.families.find((each) => each.name === name);
    replace(this.#name, family?.title ?? name, family?.year ? h("small", { text: family.year }) : "");
    setText(this.#line, family ? tr(family.summary) : t("No family has this name."));
  }
}

const capital = (text: string) => text[0].toUpperCase() + text.slice(1);
