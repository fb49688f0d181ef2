// The elements of the charts tab: figure, sentence, table, files and errors, whichever chart it shows.
import { h, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";

export type Form = "svg" | "png" | "csv";

const FORMS = ["svg", "png", "csv"] as Form[];
const LONG_WAIT = 250; // ms; sooner than this, saying that one waits would only flicker

type Parts = {
  head: HTMLElement;
  list: HTMLElement;
  seek: HTMLElement;
  figures: HTMLElement[];
  save: (form: Form) => void;
};

export class Panel {
  home: HTMLDivElement;
  node: HTMLDivElement;

  #reads = h("p.charts-reads", { role: "status", tabindex: 0 }); // longer ones scroll
  #state = h("p.charts-state", { hidden: true });
  #cover = h("div.charts-cover");
  #problem = h("p.note", { hidden: true });
  #files = h("div.charts-files", { role: "group", "aria-label": t("Save the chart"), hidden: true });
  #slow = 0;
  beside = h("div.charts-beside", { role: "region", "aria-label": t("Points of the chart"), tabindex: 0 });
  filled = false; // whether there is a figure

  constructor({ head, list, seek, figures, save }: Parts) {
    this.#files.append(
      ...FORMS.map((form) =>
        h(
          "button.button.soft",
          {
            "data-save": form,
            title: form === "csv" ? t("The numbers as a table") : t("The figure as a picture"),
            onclick: () => save(form),
          },
          form.toUpperCase(),
        ),
      ),
    );
    this.home = h("div.charts-home", ...figures, this.#state, this.#cover);
    this.node = h(
      "div.charts",
      h("div.row.charts-top", head, seek, this.#files),
      this.#problem,
      h("div.charts-body", list, this.#reads, this.home, this.beside),
    );
  }

  /** text: what one waits for, null: no longer. */
  wait(text: string | null) {
    clearTimeout(this.#slow);
    if (text === null) show(this.#state, false);
    else this.#slow = window.setTimeout(() => this.#sayWait(text), LONG_WAIT);
  }

  /** text: in a corner of the figure, or where it will be. */
  #sayWait(text: string) {
    setText(this.#state, text);
    show(this.#state, this.filled);
    if (!this.filled) replace(this.#cover, h("p", { text }));
  }

  /** Another chart begins empty: the previous one would show other data. */
  clear() {
    this.filled = false;
    this.stale(true);
    replace(this.#cover);
    show(this.#cover, true);
    show(this.#problem, false);
    show(this.#files, false);
    this.table("", null);
    setText(this.#reads, "");
  }

  /** There is a figure now. */
  fill() {
    this.filled = true;
    this.stale(false);
    show(this.#cover, false);
    show(this.#files, true);
  }

  /** on: what is drawn is not what is asked. */
  stale(on: boolean) {
    this.home.classList.toggle("is-stale", on);
  }

  /** pointed: whether it describes one point, not how to read the chart. */
  say(text: string, pointed: boolean) {
    setText(this.#reads, text);
    this.#reads.classList.toggle("is-pointed", pointed);
  }

  /** Above the figure, or in its place where there is none; "" for nothing. */
  complain(text: string, act: HTMLElement | null) {
    show(this.#problem, this.filled && text !== "");
    if (!text) return;
    show(this.#cover, !this.filled);
    replace(this.filled ? this.#problem : this.#cover, h("span", { text }), " ", act);
  }

  /** What is on the timeline is in sight in the table, at the start of a new one. */
  #toMark() {
    const marked = this.beside.querySelector(".charts-rows tr.is-shown") as HTMLElement | null;
    if (marked) this.beside.scrollTop = Math.max(0, marked.offsetTop - this.beside.clientHeight / 2);
  }

  /**
   * The table, where it is not there already; the reader stays where he is in it. key: what it shows; returns whether
   * it is new.
   */
  table(key: string, make: (() => HTMLElement) | null): boolean {
    if (make && this.beside.dataset.key === key) return false;
    this.beside.dataset.key = key;
    const focused = document.activeElement?.closest(".charts-table tr");
    const [row, kind] = [focused?.getAttribute("data-at"), document.activeElement?.className];
    const { scrollTop } = this.beside;
    replace(this.beside, make ? make() : null);
    this.beside.scrollTop = scrollTop;
    this.#toMark();
    if (row) (this.beside.querySelector(`tr[data-at="${row}"] .${kind}`) as HTMLElement | null)?.focus();
    return true;
  }
}
