// The runs that this server has stored, newest first: they can be shown, compared, named, linked to and deleted. The
// list is requested when it is opened.
import { getJson, send, whyFailed as whyNot } from "../../data/api.ts";
import { h, replace, setText, show, hasServer } from "../../ui/dom.ts";
import { hiddenCaption, tableHead } from "../../ui/table.ts";
import { RUN_LANE_IDS } from "../../data/lanes.ts";
import { isOver, type ListedRun } from "../../data/runs/client.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { rowOf, widths } from "./row.ts";
import type { Spec } from "../../core/schedule/types.ts";

type Acts = {
  title: (spec: Spec) => string;
  onScreen: () => string[]; // the ids of the runs on the timeline
  add: (id: string) => void;
  only: (ids: string[]) => void;
  link: (run: ListedRun) => string;
  deleted: (id: string) => void; // called when a run has been deleted
};

const PAGE = 12;
const MOST = 100; // in one answer of the server
const FOLLOW_MS = 2000; // between requests while a run is in progress

export class RunList {
  acts: Acts;
  table: HTMLTableElement;
  node: HTMLDetailsElement;

  #runs: ListedRun[] = [];
  /** The run behind which the next page begins. */
  #next: string | null = null;
  #chosen = new Set<string>();
  #asked = 0;
  #offline = false; // the server did not answer
  #notice = h("p.note", { role: "status" });
  #rows = h("tbody");
  #following = 0; // the timer of the next request
  #compare = h(
    "button#runs-compare.button.soft",
    { onclick: () => this.acts.only([...this.#chosen]) },
    t("Compare the chosen runs"),
  );
  #hint = h("span.fine", { text: t("Choose two to four runs to compare them on the timeline.") });
  #bar = h("div.row.run-bar", this.#compare, this.#hint);
  #more = h("button#runs-more.button.soft", { onclick: () => this.#page() }, t("Show older runs"));
  #none = h(
    "div.muted.run-none",
    { hidden: true },
    h("strong", { text: t("No run yet") }),
    h("p", {
      text: t(
        "Run starts one: the schedule on the screen, with real tensors. It is stored here with its figures, to be " +
          "opened again, compared and shared.",
      ),
    }),
  );

  constructor(acts: Acts) {
    this.acts = acts;
    const heads = widths().map(({ cls, text }) => h("th", { scope: "col", class: cls, text }));
    this.table = h(
      "table.lined.run-list",
      { hidden: true },
      hiddenCaption(t("Earlier runs")),
      tableHead(h("td"), ...heads, h("td")),
      this.#rows,
    );
    this.node = h(
      "details.run-more",
      { ontoggle: () => this.refresh() },
      h("summary", t("Earlier runs on this server")),
      this.#notice,
      this.#none,
      this.#bar,
      this.table,
      this.#more,
    );
    show(this.#bar, false);
    show(this.#more, false);
  }

  /** Open the list, where no run is on the screen. */
  open() {
    this.node.open = true;
  }

  /** Request as many runs again as are shown. */
  async refresh() {
    if (!this.node.open) return;
    await this.#load(`limit=${Math.min(MOST, Math.max(PAGE, this.#runs.length))}`, (runs) => runs);
  }

  async #page() {
    const seen = this.#runs.length;
    if (this.#next)
      await this.#load(`limit=${PAGE}&before=${encodeURIComponent(this.#next)}`, (runs) => [...this.#runs, ...runs]);
    // the keyboard focus goes to the first new run
    this.#rows.querySelectorAll("tr")[seen]?.querySelector("button")?.focus();
  }

  /** Request the list again while it is in sight and has a run in progress. */
  #follow() {
    clearTimeout(this.#following);
    if (this.#runs.some((run) => !isOver(run)) && this.node.open && this.node.checkVisibility())
      this.#following = window.setTimeout(() => this.refresh(), FOLLOW_MS);
  }

  async #load(query: string, join: (runs: ListedRun[]) => ListedRun[]) {
    const mine = ++this.#asked;
    try {
      const { runs, next }: { runs: ListedRun[]; next: string | null } = await getJson(`/api/runs?${query}`);
      if (mine !== this.#asked) return;
      this.#runs = join(runs);
      this.#next = next;
      if (this.#offline) setText(this.#notice, "");
      this.#offline = false;
      this.#follow();
      if (this.#rows.querySelector(".run-name, .danger")) return; // while a name is edited or a deletion confirmed
      this.draw();
    } catch (problem) {
      if (mine !== this.#asked) return;
      this.#offline = true;
      const text = hasServer ? t("The server does not answer, so the list cannot be shown.") : whyNot(problem);
      setText(this.#notice, text);
    }
  }

  /** Show the runs; the keyboard focus stays on its button. */
  draw() {
    const here = document.activeElement as HTMLElement | null;
    const mine =
      here && this.#rows.contains(here) ? { run: here.closest("tr")?.dataset.row, text: here.textContent } : null;
    this.#build();
    const again = mine
      ? [...this.#rows.querySelectorAll(`[data-row="${mine.run}"] :is(button, input)`)].find(
          ({ textContent }) => textContent === mine.text,
        )
      : null;
    (again as HTMLElement | undefined)?.focus();
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
          shown: this.acts.onScreen().includes(run.id),
          others: this.acts.onScreen().length > 0,
          chosen: this.#chosen.has(run.id),
          link: this.acts.link(run),
          add: () => this.acts.add(run.id),
          only: () => this.acts.only([run.id]),
          choose: (on) => this.#choose(run.id, on),
          rename: (name, keys) => this.#rename(run, name, keys),
          remove: () => this.#remove(run),
          announce: (text) => setText(this.#notice, text),
        }),
      ),
    );
    this.#updateChoice();
  }

  #choose(id: string, on: boolean) {
    if (on) this.#chosen.add(id);
    else this.#chosen.delete(id);
    this.#updateChoice();
  }

  #updateChoice() {
    const n = this.#chosen.size;
    const most = RUN_LANE_IDS.length;
    this.#compare.toggleAttribute("disabled", n < 2 || n > most);
    setText(
      this.#hint,
      n > most
        ? t("At most four runs fit on the timeline.")
        : n
          ? t("{n} chosen", { n })
          : t("Choose two to four runs to compare them on the timeline."),
    );
  }

  /** keys: it was ended by a key: the focus returns to its row. */
  async #rename(run: ListedRun, name: string, keys: boolean) {
    let wrong = "";
    try {
      if (name.trim() !== run.name) await send("PATCH", `/api/runs/${encodeURIComponent(run.id)}`, { name });
      run.name = name.trim();
    } catch (problem) {
      wrong = whyFailed(problem);
    }
    this.draw();
    setText(this.#notice, wrong);
    if (keys) (this.#rows.querySelector(`[data-row="${run.id}"] .run-rename`) as HTMLElement | null)?.focus();
  }

  async #remove(run: ListedRun) {
    try {
      await send("DELETE", `/api/runs/${encodeURIComponent(run.id)}`);
    } catch (problem) {
      setText(this.#notice, whyFailed(problem));
      return;
    }
    const at = this.#runs.indexOf(run);
    this.#runs = this.#runs.filter((each) => each !== run);
    this.acts.deleted(run.id);
    this.draw();
    setText(this.#notice, t("The run is deleted."));
    const rows = this.#rows.querySelectorAll("tr");
    const near = rows[Math.min(at, rows.length - 1)]?.querySelector("button") ?? this.node.querySelector("summary");
    (near as HTMLElement | null)?.focus(); // where the keyboard was
  }
}

const whyFailed = (problem: any) =>
  problem instanceof Error ? tr("code" in problem ? (problem as any) : problem.message) : "";
