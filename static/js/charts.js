// The charts tab: a figure that follows the setting, a sentence how to read it, its points as a table, and files to take away.
import { Refusal } from "./api.js";
import { ask, forget, known, plotly } from "./charts_api.js";
import { Figure } from "./charts_figure.js";
import { save } from "./charts_save.js";
import { Seeker } from "./charts_seek.js";
import { pointTable } from "./charts_table.js";
import { h, replace, sentence, setText, show } from "./dom.js";
import { colour } from "./palette.js";
import { putOver, short, spoken } from "./pure/charts.js";
import { specQuery } from "./pure/url.js";

/** @import {SpecError} from "./api.js" */
/** @import {Chart} from "./charts_api.js" */
/** @import {Desk} from "./desk.js" */
/** @import {Spec} from "./pure/types.js" */
/** @typedef {{id: string, title: string, path: string, heights: [string, string][]}} Kind  heights: what may go up, the first by itself */

/** @type {Kind[]} */
const KINDS = [{ id: "pareto", title: "Memory against throughput", path: "/api/charts/pareto", heights: [["throughput", "Throughput"], ["bubble", "Bubble"]] }];
const REST = 300; // ms that a drag must rest before a chart is asked for
const LONG_WAIT = 250; // ms; sooner than this, saying that one waits would only flicker
const STEP = 20; // px; a figure is asked for in such sizes, so that answers can be kept
const LEAST = { width: 260, height: 240 };

class Charts {
  #reads = h("p", { class: "charts-reads", role: "status" });
  #state = h("p", { class: "charts-state", hidden: true });
  #cover = h("div", { class: "charts-cover" });
  #problem = h("p", { class: "note", hidden: true });
  #beside = h("div", { class: "charts-beside", role: "region", "aria-label": "Points of the chart", tabindex: 0 });
  #chooser = h("div", { class: "charts-choice" });
  #files = h("div", { class: "charts-files", role: "group", "aria-label": "Take the chart away", hidden: true });
  #timer = 0;
  #slow = 0;
  /** @type {string} the question under way, answered or refused */
  #url = "";
  #turn = 0; // of questions: an answer to an older one comes too late
  /** @type {Chart | null} */
  #chart = null;
  #asked = "";
  #drawn = "";
  #size = { width: 0, height: 0 };

  /** @param {Desk} desk */
  constructor(desk) {
    this.desk = desk;
    this.seeker = new Seeker(() => this.#chart?.points.filter(({ limit }) => limit !== null) ?? [], () => this.#renew());
    this.figure = new Figure({ put: (at, second) => this.#put(at, second), tell: (at) => this.#tell(at) });
    this.#files.append(...(/** @type {const} */ (["svg", "png", "csv"])).map((form) =>
      h("button", { type: "button", class: "button soft", "data-save": form, title: form === "csv" ? "The points as a table" : "The figure as a picture", onclick: () => this.#save(form) }, form.toUpperCase())));
    this.home = h("div", { class: "charts-home" }, this.figure.node, this.#state, this.#cover);
    this.panel = h("div", { class: "charts" }, h("div", { class: "charts-top" }, this.#chooser, this.seeker.node, this.#files), this.#problem,
      h("div", { class: "charts-body" }, this.#reads, this.home, this.#beside));
    desk.store.subscribe(({ spec, second, view }, before) => {
      if (spec !== before.spec || second !== before.second || view.theme !== before.view.theme || view.chart !== before.view.chart) this.show();
    });
    new ResizeObserver(([{ contentRect }]) => {
      this.#size = contentRect;
      this.show();
    }).observe(this.home);
  }

  /** The kind of chart that the link names, and what goes up. @returns {{kind: Kind, y: string}} */
  #chosen() {
    const [id, y] = (this.desk.store.get().view.chart ?? "").split(":");
    const kind = KINDS.find((each) => each.id === id) ?? KINDS[0];
    return { kind, y: kind.heights.find(([name]) => name === y)?.[0] ?? kind.heights[0][0] };
  }

  /** The question that the state asks: what is drawn, and how it looks. */
  #wanted() {
    const { spec, view } = this.desk.store.get();
    const { kind, y } = this.#chosen();
    const dark = view.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : view.theme === "dark";
    const look = { y, theme: dark ? "dark" : "light", width: inSteps(this.#size.width, LEAST.width), height: inSteps(this.#size.height, LEAST.height) };
    const what = kind.path + specQuery(spec, this.desk.store.defaults);
    return { what, url: `${what}&${new URLSearchParams(/** @type {any} */ (look))}` };
  }

  /** Follow the state. A new setting waits until the sliders rest; new looks do not. */
  show() {
    if (this.panel.hidden || !this.#size.width) return;
    this.#sayChoice();
    clearTimeout(this.#timer);
    const { what, url } = this.#wanted();
    if (what !== this.#asked) this.seeker.halt();
    if (url === this.#url) {
      if (url === this.#drawn) this.home.classList.remove("is-stale");
      this.#mark();
    } else if (what === this.#asked || !this.#chart || known(url)) this.#ask(what, url);
    else {
      this.home.classList.add("is-stale");
      this.#timer = window.setTimeout(() => this.#ask(what, url), REST);
    }
  }

  /** Where the whole answer takes its time, the families come first. @param {string} what @param {string} url */
  async #ask(what, url) {
    const turn = ++this.#turn;
    this.#url = url;
    this.#asked = what;
    this.#wait(this.#chart ? "Drawing …" : "Drawing the first chart …");
    try {
      const whole = Promise.all([plotly(), ask(url)]);
      if (await Promise.race([whole, rest(LONG_WAIT)]) === null && this.#turn === turn) {
        const [drawer, first] = await Promise.race([whole, Promise.all([plotly(), ask(`${url}&found=0`)])]);
        if (this.#turn !== turn) return;
        if (!first.found) await this.#draw(drawer, first);
        this.#wait("Seeking the best at each memory …");
      }
      const [drawer, chart] = await whole;
      if (this.#turn !== turn) return;
      this.#drawn = url;
      await this.#draw(drawer, chart);
    } catch (problem) {
      if (this.#turn === turn) this.#fail(problem);
    } finally {
      if (this.#turn === turn) this.#wait(null);
    }
  }

  /** @param {string | null} text what one waits for, null: no longer */
  #wait(text) {
    clearTimeout(this.#slow);
    if (text === null) show(this.#state, false);
    else this.#slow = window.setTimeout(() => this.#sayWait(text), LONG_WAIT);
  }

  /** @param {string} text in a corner of the figure, or where it will be */
  #sayWait(text) {
    setText(this.#state, text);
    show(this.#state, this.#chart !== null);
    if (!this.#chart) replace(this.#cover, h("p", { text }));
  }

  /** @param {import("./charts_api.js").Plotly} drawer @param {Chart} chart */
  async #draw(drawer, chart) {
    this.#chart = chart;
    const at = this.#marked().b;
    await this.figure.draw(drawer, chart, this.#chosen().kind.title, Figure.ring(chart, at, colour("accent")));
    this.home.classList.remove("is-stale");
    show(this.#cover, false);
    show(this.#files, true);
    this.seeker.sync();
    this.#tell(null);
    this.#mark();
    this.#complain(chart.error_found && { ...chart.error_found, message: `What can be found is not shown: ${chart.error_found.message}` });
  }

  /** @param {SpecError | null} error */
  #complain(error) {
    if (!error) {
      show(this.#problem, false);
      return;
    }
    const { field, nearest } = error;
    const { spec } = this.desk.store.get();
    const use = nearest === undefined || !Object.hasOwn(spec, field) ? null : h("button", { type: "button", class: "link",
      onclick: () => this.desk.store.set({ spec: { ...this.desk.store.get().spec, [field]: nearest } }, "push") }, `Use ${field} = ${nearest}`);
    this.#say(sentence(error.message), use);
  }

  /** Above the figure, or in its place where there is none. @param {string} text @param {HTMLElement | null} act */
  #say(text, act) {
    show(this.#problem, this.#chart !== null);
    show(this.#cover, this.#chart === null);
    replace(this.#chart ? this.#problem : this.#cover, h("span", { text }), " ", act);
  }

  /** @param {unknown} problem */
  #fail(problem) {
    if (problem instanceof Refusal) this.#complain(problem.error);
    else this.#say("The server does not answer.", h("button", { type: "button", class: "link", onclick: () => this.#again() }, "Try again"));
  }

  /** The same question anew: more has been found since. */
  async #renew() {
    forget(this.#url);
    const chart = await ask(this.#url);
    this.#beside.dataset.key = "";
    await this.#draw(await plotly(), chart);
  }

  #again() {
    const { what, url } = this.#wanted();
    this.#ask(what, url);
  }

  /** Which points are on the timeline: positions of A and of B. */
  #marked() {
    const { spec, second } = this.desk.store.get();
    const { defaults } = this.desk.store;
    /** @param {Spec | null} shown */
    const at = (shown) => {
      if (!shown) return null;
      const query = specQuery(shown, defaults);
      // A limit is part of what is sought; elsewhere it is only held against a schedule.
      const limit = this.desk.family(shown.family)?.fields.includes("memory") ? {} : { memory: shown.memory };
      const found = this.#chart?.points.findIndex((point) => specQuery({ ...putOver(point, shown), ...limit }, defaults) === query) ?? -1;
      return found < 0 ? null : found;
    };
    return { a: at(spec), b: at(second) };
  }

  /** The table, with A and B where they are. */
  #mark() {
    const chart = this.#chart;
    if (!chart) return;
    const { a, b } = this.#marked();
    const key = `${this.#url} ${chart.found} ${a} ${b}`;
    if (this.#beside.dataset.key === key) return;
    const again = this.#beside.dataset.key?.split(" ")[0] === this.#url;
    this.#beside.dataset.key = key;
    const focused = document.activeElement?.closest(".charts-table tr");
    const [row, kind] = [focused?.getAttribute("data-at"), document.activeElement?.className];
    const { scrollTop } = this.#beside;
    replace(this.#beside, pointTable(chart.points, (at) => (at === a ? "A" : at === b ? "B" : ""), (at, second) => this.#put(at, second), (at) => this.figure.point(at)));
    this.#beside.scrollTop = scrollTop;
    if (row) /** @type {HTMLElement | null} */ (this.#beside.querySelector(`tr[data-at="${row}"] .${kind}`))?.focus();
    if (again) plotly().then((drawer) => this.figure.draw(drawer, chart, this.#chosen().kind.title, Figure.ring(chart, b, colour("accent"))));
  }

  /** @param {number} at @param {boolean} second */
  #put(at, second) {
    const point = this.#chart?.points[at];
    if (!point) return;
    const { spec } = this.desk.store.get();
    const { a, b } = this.#marked();
    if (!second) this.desk.store.set({ spec: putOver(point, spec) }, "push");
    else if (at !== a) this.desk.store.set({ second: at === b ? null : putOver(point, spec) }, "push");
  }

  /** @param {number | null} at a point that is looked at, else how to read them all */
  #tell(at) {
    const points = this.#chart?.points ?? [];
    setText(this.#reads, at === null ? this.#chart?.reads ?? "" : spoken(points, points[at]));
    this.#reads.classList.toggle("is-told", at !== null);
  }

  /** @param {"svg" | "png" | "csv"} form */
  #save(form) {
    if (!this.#chart) return;
    const { p, m, costs } = this.#chart.spec;
    const { kind } = this.#chosen();
    const each = Object.entries({ f: costs.F, i: costs.I, w: costs.W, c: costs.comm }).map(([name, cost]) => `${name} ${typeof cost === "number" ? short(cost) : "by stage"}`);
    save(this.#chart, `bubbleline-${kind.id}-p${p}-m${m}`, `${kind.title}: p ${p}, m ${m}, ${each.join(", ")}`, form);
  }

  /** The charts there are, and what may go up in this one. */
  #sayChoice() {
    const { kind, y } = this.#chosen();
    const key = `${kind.id}:${y}`;
    if (this.#chooser.dataset.key === key) return;
    this.#chooser.dataset.key = key;
    const title = KINDS.length === 1 ? h("h2", { text: kind.title }) :
      choice("Chart", KINDS.map((each) => [each.id, each.title]), kind.id, (id) => this.#choose(id, null));
    replace(this.#chooser, title, choice("What goes up", kind.heights, y, (id) => this.#choose(kind.id, id === kind.heights[0][0] ? null : id)));
  }

  /** @param {string} id @param {string | null} y */
  #choose(id, y) {
    const named = id === KINDS[0].id && y === null ? null : y === null ? id : `${id}:${y}`;
    this.desk.store.setView({ chart: named }, "push");
    /** @type {HTMLElement | null} */ (this.#chooser.querySelector("[aria-pressed=true]"))?.focus();
  }
}

/** @param {number} px @param {number} least */
const inSteps = (px, least) => STEP * Math.floor(Math.max(px, least) / STEP);

/** @param {number} ms @returns {Promise<null>} */
const rest = (ms) => new Promise((resolve) => { setTimeout(() => resolve(null), ms); });

/** Buttons of which one is pressed. @param {string} label @param {[string, string][]} options @param {string} now @param {(id: string) => void} pick */
function choice(label, options, now, pick) {
  return h("div", { class: "which", role: "group", "aria-label": label }, ...options.map(([id, title]) =>
    h("button", { type: "button", "aria-pressed": String(id === now), "data-choice": id, onclick: () => pick(id) }, title)));
}

/** @param {Desk} desk */
export const createCharts = (desk) => new Charts(desk);
