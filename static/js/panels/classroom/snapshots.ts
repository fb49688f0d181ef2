// Schedules of up to four students, put on one axis and shown to the class; those shown before can be shown again. What
// the class sees has letters and no names.
import { snapshotQuery } from "../../data/classroom/snapshot_query.ts";
import { paintLanes } from "./thumbnails.ts";
import { whyFailed } from "../../data/api.ts";
import { locale } from "../../ui/languages.ts";
import { setNote } from "../../ui/notes.ts";
import { h, replace, setText, show } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { letter } from "../../core/state/schedules.ts";
import { nameOf, type Student } from "../../data/classroom/classroom.ts";
import type { Views } from "./views.ts";

/** at: ms since 1970; numbers: of the students, A first. */
type Kept = { query: string; numbers: number[]; at: number };
type Setup = {
  code: string;
  views: Views;
  student: (number: number) => Student | undefined;
  names: () => boolean;
  /** Show a query of the main page to the class. */
  send: (query: string) => Promise<unknown>;
  cleared: () => void;
};

export const MOST = 4;
const [WIDE, HIGH] = [240, 96]; // px

export class Snapshots {
  /** The bar with what is selected. */
  bar: HTMLElement;
  /** Those shown before. */
  shown = h("div", h("h3", { text: t("Shown before") }));
  picked: number[] = [];

  #setup: Setup;
  #said = h("span");
  #list = h("ul.snapshots");
  #problem = h("p.class-problem", { role: "alert", hidden: true });
  #kept: Kept[] = [];

  constructor(setup: Setup) {
    this.#setup = setup;
    this.bar = h(
      "div.snapshot-bar",
      { role: "group", "aria-label": t("Snapshots"), hidden: true },
      this.#said,
      h("button.button.primary", { onclick: () => void this.#take() }, t("Show side by side")),
      h("button.button.soft", { onclick: () => this.clear() }, t("Clear")),
      this.#problem,
    );
    this.#kept = readKept(setup.code);
    this.shown.append(this.#list);
    this.write();
  }

  /** Returns whether it may be picked. */
  pick(number: number, picked: boolean): boolean {
    const rest = this.picked.filter((each) => each !== number);
    const allowed = !picked || rest.length < MOST;
    setNote(this.#problem, allowed ? "" : t("Four at most: that many fit on one axis."));
    if (allowed) this.picked = picked ? [...rest, number] : rest;
    this.#writeBar();
    return allowed;
  }

  clear() {
    this.picked = [];
    setNote(this.#problem, "");
    this.#setup.cleared();
    this.#writeBar();
  }

  /** Write all names again. */
  write() {
    this.#writeBar();
    show(this.shown, this.#kept.length > 0);
    replace(this.#list, ...this.#kept.map((kept) => this.#entry(kept)));
  }

  #nameOf = (number: number) => nameOf(this.#setup.student(number) ?? { number, name: null }, this.#setup.names());

  #writeBar() {
    show(this.bar, this.picked.length > 0 || !this.#problem.hidden);
    const list = this.picked.map((number, at) => `${letter(at)} ${this.#nameOf(number)}`).join(t(", "));
    setText(this.#said, t("Selected: {list}", { list }));
  }

  async #take() {
    const { views, student } = this.#setup;
    try {
      const taken = [];
      for (const number of this.picked) {
        const view = student(number)?.view;
        const seen = view && views.read(view);
        const spec = seen ? await views.first(seen) : null;
        if (!seen || !spec) return setNote(this.#problem, this.#lacking(number, seen?.open ?? false));
        taken.push({ spec, preset: seen.preset });
      }
      if (!taken.length) return;
      const query = snapshotQuery(taken, views.catalogue.defaults, views.natural);
      await this.#show({ query, numbers: this.picked, at: Date.now() });
      this.clear();
    } catch (problem) {
      setNote(this.#problem, whyFailed(problem));
    }
  }

  #lacking(number: number, open: boolean) {
    const name = this.#nameOf(number);
    return open
      ? t("The board of {name} is not finished: only whole orders can be compared.", { name })
      : t("The page of {name} shows no schedule.", { name });
  }

  async #show(kept: Kept) {
    await this.#setup.send(kept.query);
    this.#kept = [kept, ...this.#kept.filter(({ at }) => at !== kept.at)].slice(0, 24);
    sessionStorage.setItem(nameFor(this.#setup.code), JSON.stringify(this.#kept));
    this.write();
  }

  #entry(kept: Kept) {
    const { views } = this.#setup;
    const picture = h("div.snapshot-picture");
    const seen = views.read({ page: "/", query: kept.query });
    void views.drawn(seen).then((drawn) => replace(picture, paintLanes(drawn, WIDE, HIGH)));
    const when = new Date(kept.at).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
    const list = kept.numbers.map((number, at) => `${letter(at)} ${this.#nameOf(number)}`).join(t(", "));
    return h(
      "li",
      picture,
      h("p", h("span.muted", { text: when }), " ", list),
      h(
        "button.button.soft",
        { onclick: () => this.#show(kept).catch((problem) => setNote(this.#problem, whyFailed(problem))) },
        t("Show again"),
      ),
    );
  }
}

const nameFor = (code: string) => `bubbleline.snapshots.${code}`;

function readKept(code: string): Kept[] {
  try {
    return JSON.parse(sessionStorage.getItem(nameFor(code)) ?? "[]");
  } catch {
    return [];
  }
}
