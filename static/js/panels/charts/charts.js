// The charts tab: a figure that follows the setting, a sentence how to read it, its points as a table, and files to
// take away.
import { onRecolour } from "../../ui/appearance.js";
import { Offline, Refusal, createRetry } from "../../data/api.js";
import { answerOf, chartPath, forgetChart, isKept, requestChart, withLook } from "./answers.js";
import { Choice } from "./choice.js";
import { CubeView } from "./cube.js";
import { Figure, savePicture } from "./figure.js";
import { FIRST, kindOf } from "./kinds.js";
import { FrontierSearch, markAt, nextLetter, placesIn, putFirst, putUnder } from "./frontier.js";
import { Panel } from "./panel.js";
import { paperPlots } from "./paper_plots.js";
import { plotly } from "./plotly.js";
import { pointTable, rowTable } from "./tables.js";
import { saveBlob } from "../../ui/save_file.js";
import { h, sentence, show } from "../../ui/dom.js";
import { onStage } from "../../ui/frame_loop.js";
import { colour } from "../../ui/palette.js";
import { rowsCsv, short } from "../../core/drawing/chart_points.js";
import { MOST_OPS } from "../../core/drawing/cube.js";
import { t, tr } from "../../core/i18n/language.js";
import { IDS, letter, specAt } from "../../core/state/schedules.js";
import { timing } from "../../core/schedule/effective_costs.js";

/** @import {Spec, SpecError} from "../../core/schedule/types.js" */
/** @import {Chart, ChartAnswer} from "./answers.js" */
/** @import {Plotly} from "./plotly.js" */
/** @import {Kind} from "./kinds.js" */
/** @import {Form} from "./panel.js" */
/** @import {Plans} from "../../data/plans.js" */
/** @import {Store} from "../../data/store.js" */
/** @import {Playback} from "../../timeline/interact/playback.js" */

const REST = 300; // ms that a drag must rest before a chart is asked for
const LONG_WAIT = 250; // ms; sooner than this, the families alone would only flicker

class Charts {
  #timer = 0;
  #retry = createRetry(() => this.show());
  /** @type {string} of the last request, under way or answered */
  #url = "";
  #turn = 0; // counts requests: an answer to an older one is dropped
  /** @type {Chart | null} */
  #chart = null;
  /** @type {ChartAnswer | null} */
  #answer = null;
  /** @type {string | null} the kind of what is drawn or under way */
  #kind = null;
  #asked = "";
  #drawn = "";
  #size = { width: 0, height: 0 };

  /** @param {{store: Store, plans: Plans, playback: Playback}} parts */
  constructor({ store, plans, playback }) {
    this.store = store;
    this.plans = plans;
    this.choice = new Choice({
      chart: (id) => this.#choose(id, null),
      height: (y) => this.#choose(this.#chosen().kind.id, y),
    });
    this.search = new FrontierSearch(
      () => this.#points().filter(({ limit }) => limit !== null),
      () => this.#renew(),
    );
    this.paperPlots = paperPlots(store);
    this.figure = new Figure({ put: (at, under) => this.#put(at, under), tell: (at) => this.#tell(at) });
    this.cube = new CubeView({
      tell: (text) => this.parts.say(text ?? this.cube.notes().join(t(" ")), text !== null),
      select: (op) => store.setView({ sel: op }, "push"),
    });
    this.parts = new Panel({
      head: this.choice.head,
      list: this.choice.list,
      seek: h("div", {}, this.paperPlots, this.search.node),
      figures: [this.figure.node, this.cube.node],
      save: (form) => this.#save(form),
    });
    this.panel = this.parts.node;
    store.subscribe(({ spec, others, preset, view }, before) => {
      if (
        spec !== before.spec ||
        others !== before.others ||
        preset !== before.preset ||
        view.chart !== before.view.chart
      )
        this.show();
    });
    onRecolour(() => this.show());
    onStage("figures", () => this.#followPlayhead(playback.at));
    new ResizeObserver(([{ contentRect }]) => {
      this.#size = contentRect;
      this.show();
    }).observe(this.parts.home);
  }

  /** The kind of chart that the link names, its variants, and the one that is shown. */
  #chosen() {
    const { view, others, preset } = this.store.get();
    const [id, y] = (view.chart ?? "").split(":");
    const kind = kindOf(id);
    /** @type {[string, string][]} */
    const heights = kind.local
      ? [0, ...others.keys()].map((_, at) => [IDS[at], letter(at)])
      : [...kind.heights, ...(preset ? (kind.withModel ?? []) : [])];
    return { kind, heights, y: heights.find(([name]) => name === y)?.[0] ?? heights[0]?.[0] ?? "" };
  }

  /** The request of the state, without and with the look of the chart. */
  #wanted() {
    const { kind, y } = this.#chosen();
    const state = this.store.get();
    const what = chartPath(kind, state, this.store.defaults);
    return { what, url: withLook(what, y, state.view, this.#size) };
  }

  /** Follow the state: a new setting waits until the sliders rest, a new look does not. */
  show() {
    if (this.panel.hidden || !this.#size.width) return;
    const { kind, heights, y } = this.#chosen();
    this.choice.show(kind, heights, y);
    show(this.paperPlots, kind.withModel !== undefined);
    show(this.cube.node, kind.local === true);
    show(this.figure.node, !kind.local);
    clearTimeout(this.#timer);
    if (kind.local) this.#showCube(true);
    else this.#follow(kind);
  }

  /** @param {Kind} kind */
  #follow(kind) {
    const { what, url } = this.#wanted();
    if (what !== this.#asked) this.search.halt();
    if (url === this.#url) {
      if (url === this.#drawn) this.parts.stale(false);
      this.#mark();
    } else if (what === this.#asked || !this.#chart || kind.id !== this.#kind || isKept(url)) this.#ask(what, url);
    else {
      this.parts.stale(true);
      this.#timer = window.setTimeout(() => this.#ask(what, url), REST);
    }
  }

  /** The cube has the plan and the playhead of the timeline, each frame. @param {number | null} at */
  #followPlayhead(at) {
    if (this.panel.hidden || this.cube.node.hidden) return;
    this.#showCube(false);
    this.cube.playhead(at);
  }

  /** @param {boolean} sized the colours or the size may be new */
  #showCube(sized) {
    const plan = this.plans.onScreen()[IDS.indexOf(/** @type {any} */ (this.#chosen().y))] ?? this.plans.first;
    const fresh = plan.shown !== null && this.cube.show(plan, timing(plan.shown).comm);
    if (sized) this.cube.resize(Math.floor(this.#size.width), Math.floor(this.#size.height));
    if (this.#kind === "cube" && !fresh) return;
    this.#begin("cube");
    this.#turn++;
    this.#url = this.#asked = this.#drawn = "";
    this.parts.wait(null);
    if (this.cube.cube) {
      this.parts.fill();
      this.parts.say(this.cube.notes().join(t(" ")), false);
      this.parts.table("cube", () =>
        rowTable(this.cube.rows(), t("Ops in the order of time"), {
          put: (at) => this.store.setView({ sel: this.cube.nameAt(at) }, "push"),
          point: (at) => this.cube.point(at),
        }),
      );
    } else if (plan.shown) {
      const fewer = Math.max(2, Math.floor(MOST_OPS / (3 * plan.shown.v)));
      this.parts.complain(
        t("Even one micro-batch has more ops here than the {most} that a cube can show.", { most: MOST_OPS }),
        this.#use("p", fewer),
      );
    }
  }

  /** Begin another chart, empty. @param {string} kind */
  #begin(kind) {
    this.#kind = kind;
    this.#chart = this.#answer = null;
    this.parts.clear();
    show(this.search.node, false);
  }

  /**
   * Request the chart; where searches make it slow, the families are drawn first.
   * @param {string} what @param {string} url
   */
  async #ask(what, url) {
    const turn = ++this.#turn;
    const { kind } = this.#chosen();
    this.#retry.stop();
    this.#url = url;
    this.#asked = what;
    if (this.#kind !== kind.id) this.#begin(kind.id);
    this.parts.wait(this.#chart ? t("Drawing …") : t("Drawing the first chart …"));
    try {
      const whole = Promise.all([plotly(), requestChart(url)]);
      if (kind.searched && (await Promise.race([whole, rest(LONG_WAIT)])) === null && this.#turn === turn) {
        const [drawer, first] = await Promise.race([whole, Promise.all([plotly(), requestChart(`${url}&found=0`)])]);
        if (this.#turn !== turn) return;
        if ("found" in first && !first.found) await this.#draw(drawer, first);
        this.parts.wait(t("Searching for the best order at each memory limit …"));
      }
      const [drawer, chart] = await whole;
      if (this.#turn !== turn) return;
      this.#drawn = url;
      await this.#draw(drawer, chart);
    } catch (problem) {
      if (this.#turn === turn) this.#fail(problem);
    } finally {
      if (this.#turn === turn) this.parts.wait(null);
    }
  }

  #points() {
    return this.#chart && "points" in this.#chart ? this.#chart.points : [];
  }

  /** @param {Plotly} drawer @param {Chart} chart */
  async #draw(drawer, chart) {
    this.#chart = chart;
    this.#answer = answerOf(chart);
    await this.#drawFigure(drawer);
    this.parts.fill();
    this.search.sync();
    this.#tell(null);
    this.#mark();
    const refused = "points" in chart ? chart.error_found : null;
    if (refused)
      this.#complain({
        field: refused.field,
        value: refused.value,
        nearest: refused.nearest,
        message: t("Search results are not shown: {why}", { why: tr(refused) }),
      });
    else this.parts.complain("", null);
  }

  /** The figure, with a ring around each schedule but the first, which has the server's. @param {Plotly} drawer */
  async #drawFigure(drawer) {
    const [chart, answer] = [this.#chart, this.#answer];
    if (!chart || !answer) return;
    const rings = placesIn(this.#points(), this.plans)
      .slice(1)
      .flatMap((at, k) => Figure.ring(chart, at < 0 ? null : at, letter(k + 1), colour("accent")));
    await this.figure.draw(drawer, chart, answer, this.#chosen().kind.title, rings);
  }

  /** @param {SpecError | null} error */
  #complain(error) {
    if (!error) return;
    const { field, nearest } = error;
    const use =
      nearest === undefined || !Object.hasOwn(this.store.get().spec, field) ? null : this.#use(field, nearest);
    this.parts.complain(sentence(tr(error)), use);
  }

  /** The button with the nearest legal value. @param {string} field @param {unknown} nearest */
  #use(field, nearest) {
    return h(
      "button",
      {
        type: "button",
        class: "link",
        onclick: () => this.store.set({ spec: { ...this.store.get().spec, [field]: nearest } }, "push"),
      },
      t("Use {field} = {value}", { field, value: nearest }),
    );
  }

  /** @param {unknown} problem */
  #fail(problem) {
    if (problem instanceof Refusal) return this.#complain(problem.error);
    this.#url = ""; // whatever shows the chart next asks again
    if (problem instanceof Offline) this.#retry.later();
    this.parts.complain(
      t("The server does not answer."),
      h("button", { type: "button", class: "link", onclick: () => this.show() }, t("Try again")),
    );
  }

  /** Request the same chart again: searches have found more. */
  async #renew() {
    forgetChart(this.#url);
    const chart = await requestChart(this.#url);
    this.parts.table("", null);
    await this.#draw(await plotly(), chart);
  }

  /** The table, with the schedules on the timeline where they are. */
  #mark() {
    const chart = this.#chart;
    if (!chart) return;
    const point = (/** @type {number | null} */ at) => this.figure.point(at);
    const put = (/** @type {number} */ at, /** @type {boolean} */ under) => this.#put(at, under);
    const { title } = this.#chosen().kind;
    if (!("points" in chart)) {
      this.parts.table(this.#url, () => rowTable(chart, title, { put, point }));
      return;
    }
    const places = placesIn(chart.points, this.plans);
    const again = this.parts.beside.dataset.key?.split(" ")[0] === this.#url;
    const fresh = this.parts.table(`${this.#url} ${chart.found} ${places} ${nextLetter(this.plans)}`, () =>
      pointTable(chart.points, (at) => markAt(places, at), nextLetter(this.plans), put, point),
    );
    if (fresh && again) plotly().then((drawer) => this.#drawFigure(drawer));
  }

  /** @param {number} at @param {boolean} under */
  #put(at, under) {
    const put = this.#answer?.put(at);
    if (!put) return;
    if (under) putUnder(this.plans, put, placesIn(this.#points(), this.plans).indexOf(at));
    else putFirst(this.plans, put);
  }

  /** @param {number | null} at a point that is looked at, else how to read them all */
  #tell(at) {
    this.parts.say((at === null ? this.#answer?.guide : this.#answer?.describe(at)) ?? "", at !== null);
  }

  /** @param {Form} form */
  async #save(form) {
    const { kind, y } = this.#chosen();
    const spec = kind.local ? specAt(this.store.get(), IDS.indexOf(/** @type {any} */ (y))) : this.#chart?.spec;
    if (!spec) return;
    const { p, m } = spec;
    const name = `bubbleline-${kind.id}-p${p}-m${m}`;
    const title = `${kind.title}: p ${p}, m ${m}, ${costsText(spec)}`;
    if (form === "csv") saveBlob(`${name}.csv`, new Blob([this.#csv(kind)], { type: "text/csv" }));
    else if (this.#chart) await savePicture(this.#chart, name, title, form);
    else saveBlob(`${name}.${form}`, /** @type {Blob} */ (await this.cube.picture(form, title)));
  }

  /** @param {Kind} kind */
  #csv(kind) {
    return kind.local ? rowsCsv(this.cube.rows()) : (this.#answer?.csv() ?? "");
  }

  /** @param {string} id @param {string | null} y */
  #choose(id, y) {
    const plain = y === null || y === this.#chosen().heights[0]?.[0];
    this.store.setView({ chart: plain ? (id === FIRST ? null : id) : `${id}:${y}` }, "push");
  }
}

/** @param {Spec} spec */
const costsText = ({ costs }) =>
  Object.entries({ f: costs.F, i: costs.I, w: costs.W, c: costs.comm })
    .map(([name, cost]) => `${name} ${typeof cost === "number" ? short(cost) : t("by stage")}`)
    .join(", ");

/** @param {number} ms @returns {Promise<null>} */
const rest = (ms) =>
  new Promise((resolve) => {
    setTimeout(() => resolve(null), ms);
  });

/** @param {{store: Store, plans: Plans, playback: Playback}} parts */
export const createCharts = (parts) => new Charts(parts);
