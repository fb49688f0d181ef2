// The runs that this server has kept, newest first: any of them can be put on the timeline, two to four side by side,
// named, linked to and deleted. Asked for when it is opened, never before.
import { getJson, send } from "../../data/api.js";
import { h, replace, setText, show } from "../../ui/dom.js";
import { RUN_LANE_IDS } from "../../data/lanes.js";
import { t, tr } from "../../core/i18n/language.js";
import { rowOf, widths } from "./row.js";

/** @import {Run} from "../../data/runs/client.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/** @typedef {Run & {created: number, name: string}} Listed */
/**
 * @typedef {{title: (spec: Spec) => string, on: () => string[], add: (id: string) => void, only: (ids: string[]) =>
 *   void, link: (run: Listed) => string, gone: (id: string) => void}} Acts on: those on the timeline; gone: it was
 *   deleted
 */

const PAGE = 12;
const MOST = 100; // in one answer of the server

/** @param {Acts} acts */
export function createRunList(acts) {
  return new RunList(acts);
}

class RunList {
  /** @type {Listed[]} */
  #runs = [];
  /** @type {string | null} the run behind which the next page begins */
  #next = null;
  /** @type {Set<string>} */
  #chosen = new Set();
  #asked = 0;
  #away = false; // the server did not answer
  #said = h("p", { class: "note", role: "status" });
  #rows = h("tbody");
  #compare = h(
    "button",
    { type: "button", class: "button soft", id: "runs-compare", onclick: () => this.acts.only([...this.#chosen]) },
    t("Compare the chosen runs"),
  );
  #hint = h("span", { class: "run-hint", text: t("Choose two to four runs to see them under each other.") });
  #bar = h("div", { class: "panel-row run-bar" }, this.#compare, this.#hint);
  #more = h(
    "button",
    { type: "button", class: "button soft", id: "runs-more", onclick: () => this.#page() },
    t("Show older runs"),
  );
  #none = h(
    "div",
    { class: "run-none", hidden: true },
    h("strong", { text: t("No run yet") }),
    h("p", {
      text: t(
        "Run starts one: the schedule on the screen, with real tensors. It is kept here with its figures, to be opened again, compared and shared.",
      ),
    }),
  );

  /** @param {Acts} acts */
  constructor(acts) {
    this.acts = acts;
    const heads = widths().map(({ cls, text }) => h("th", { scope: "col", class: cls, text }));
    this.table = h(
      "table",
      { class: "run-list", hidden: true },
      h("caption", { class: "visually-hidden", text: t("Earlier runs") }),
      h("thead", {}, h("tr", {}, h("td"), ...heads, h("td"))),
      this.#rows,
    );
    this.node = h(
      "details",
      { class: "run-more", ontoggle: () => this.refresh() },
      h("summary", {}, t("Earlier runs on this server")),
      this.#said,
      this.#none,
      this.#bar,
      this.table,
      this.#more,
    );
    show(this.#bar, false);
    show(this.#more, false);
  }

  /** Open it by itself, where nothing else is to be looked at. */
  open() {
    this.node.open = true;
  }

  /** Ask anew for as many as are shown. */
  async refresh() {
    if (!this.node.open) return;
    await this.#load(`limit=${Math.min(MOST, Math.max(PAGE, this.#runs.length))}`, (runs) => runs);
  }

  async #page() {
    const seen = this.#runs.length;
    if (this.#next)
      await this.#load(`limit=${PAGE}&before=${encodeURIComponent(this.#next)}`, (runs) => [...this.#runs, ...runs]);
    // the keyboard goes on where the new ones begin
    this.#rows.querySelectorAll("tr")[seen]?.querySelector("button")?.focus();
  }

  /** @param {string} query @param {(runs: Listed[]) => Listed[]} join */
  async #load(query, join) {
    const mine = ++this.#asked;
    try {
      /** @type {{runs: Listed[], next: string | null}} */
      const { runs, next } = await getJson(`/api/runs?${query}`);
      if (mine !== this.#asked) return;
      this.#runs = join(runs);
      this.#next = next;
      if (this.#away) setText(this.#said, "");
      this.#away = false;
      if (this.#rows.querySelector(".run-name, .danger")) return; // somebody is writing a name, or is being asked
      this.draw();
    } catch {
      if (mine !== this.#asked) return;
      this.#away = true;
      setText(this.#said, t("The server does not answer, so the list cannot be shown."));
    }
  }

  /** Show the runs; whoever is in the table by keyboard stays where they are. */
  draw() {
    const here = /** @type {HTMLElement | null} */ (document.activeElement);
    const mine =
      here && this.#rows.contains(here) ? { run: here.closest("tr")?.dataset.row, text: here.textContent } : null;
    this.#build();
    const again = mine
      ? [...this.#rows.querySelectorAll(`[data-row="${mine.run}"] :is(button, input)`)].find(
          ({ textContent }) => textContent === mine.text,
        )
      : null;
    /** @type {HTMLElement | undefined} */ (again)?.focus();
  }

  #build() {
    const ids = new Set(this.#runs.map(({ id }) => id));
    this.#chosen = new Set([...this.#chosen].filter((id) => ids.has(id)));
    const any = this.#runs.length > 0;
    show(this.#none, !any);
    show(this.table, any);
    show(this.#bar, this.#runs.length > 1);
    show(this.#more, this.#next !== null);
    replace(
      this.#rows,
      ...this.#runs.map((run) =>
        rowOf(run, {
          title: this.acts.title(run.spec),
          shown: this.acts.on().includes(run.id),
          others: this.acts.on().length > 0,
          chosen: this.#chosen.has(run.id),
          link: this.acts.link(run),
          add: () => this.acts.add(run.id),
          only: () => this.acts.only([run.id]),
          choose: (on) => this.#choose(run.id, on),
          rename: (name, keys) => this.#rename(run, name, keys),
          remove: () => this.#remove(run),
          say: (text) => setText(this.#said, text),
        }),
      ),
    );
    this.#weigh();
  }

  /** @param {string} id @param {boolean} on */
  #choose(id, on) {
    if (on) this.#chosen.add(id);
    else this.#chosen.delete(id);
    this.#weigh();
  }

  #weigh() {
    const n = this.#chosen.size;
    const most = RUN_LANE_IDS.length;
    this.#compare.toggleAttribute("disabled", n < 2 || n > most);
    setText(
      this.#hint,
      n > most
        ? t("Four runs are the most on one screen.")
        : n
          ? t("{n} chosen", { n })
          : t("Choose two to four runs to see them under each other."),
    );
  }

  /**
   * @param {Listed} run
   * @param {string} name
   * @param {boolean} keys it was ended with a key: the next one finds its row
   */
  async #rename(run, name, keys) {
    let wrong = "";
    try {
      if (name.trim() !== run.name) await send("PATCH", `/api/runs/${encodeURIComponent(run.id)}`, { name });
      run.name = name.trim();
    } catch (problem) {
      wrong = problem instanceof Error ? tr(problem.message) : "";
    }
    this.draw();
    setText(this.#said, wrong);
    if (keys)
      /** @type {HTMLElement | null} */ (this.#rows.querySelector(`[data-row="${run.id}"] .run-rename`))?.focus();
  }

  /** @param {Listed} run */
  async #remove(run) {
    try {
      await send("DELETE", `/api/runs/${encodeURIComponent(run.id)}`);
    } catch (problem) {
      setText(this.#said, problem instanceof Error ? tr(problem.message) : "");
      return;
    }
    const at = this.#runs.indexOf(run);
    this.#runs = this.#runs.filter((each) => each !== run);
    this.acts.gone(run.id);
    this.draw();
    setText(this.#said, t("The run is deleted."));
    const rows = this.#rows.querySelectorAll("tr");
    const near = rows[Math.min(at, rows.length - 1)]?.querySelector("button") ?? this.node.querySelector("summary");
    /** @type {HTMLElement | null} */ (near)?.focus(); // where the keyboard was
  }
}
