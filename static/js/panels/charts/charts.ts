// The charts tab: a figure that follows the setting, a sentence how to read it, its points as a table, and files to
// take away.
import { onRecolour } from "../../ui/appearance.ts";
import { Offline, Refusal, createRetry } from "../../data/api.ts";
import { answerOf, chartPath, forgetChart, isKept, requestChart, withLook } from "./answers.ts";
import { Choice } from "./choice.ts";
import { CubeView } from "./cube.ts";
import { Figure, savePicture } from "./figure.ts";
import { FIRST, kindOf, type Kind } from "./kinds.ts";
import { FrontierSearch, markAt, nextLetter, placesIn, putFirst, putUnder } from "./frontier.ts";
import { Panel, type Form } from "./panel.ts";
import { paperPlots } from "./paper_plots.ts";
import { plotly, type Plotly } from "./plotly.ts";
import { pointTable, rowTable } from "./tables.ts";
import { saveBlob } from "../../ui/save_file.ts";
import { h, sentence, show } from "../../ui/dom.ts";
import { remedy } from "../../ui/notes.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { colour } from "../../ui/palette.ts";
import { rowsCsv, short } from "../../core/drawing/chart_points.ts";
import { MOST_OPS } from "../../core/drawing/cube.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { IDS, letter, specAt } from "../../core/state/schedules.ts";
import { timing } from "../../core/schedule/effective_costs.ts";
import type { Spec, SpecError } from "../../core/schedule/types.ts";
import type { Chart, ChartAnswer } from "./answers.ts";
import type { Plans } from "../../data/plans.ts";
import type { Store } from "../../data/store.ts";
import type { Playback } from "../../timeline/interact/playback.ts";

const REST = 300; // ms that a drag must rest before a chart is asked for
const LONG_WAIT = 250; // ms; sooner than this, the families alone would only flicker

class Charts {
  store: Store;
  plans: Plans;
  choice: Choice;
  search: FrontierSearch;
  paperPlots: HTMLParagraphElement;
  figure: Figure;
  cube: CubeView;
  parts: Panel;
  panel: HTMLDivElement;

  #timer = 0;
  #retry = createRetry(() => this.show());
  /** Of the last request, under way or answered. */
  #url: string = "";
  #turn = 0; // counts requests: an answer to an older one is dropped
  #chart: Chart | null = null;
  #answer: ChartAnswer | null = null;
  /** The kind of what is drawn or under way. */
  #kind: string | null = null;
  #asked = "";
  #drawn = "";
  #size = { width: 0, height: 0 };

  constructor({ store, plans, playback }: { store: Store; plans: Plans; playback: Playback }) {
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
      seek: h("div", this.paperPlots, this.search.node),
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
    const heights: [string, string][] = kind.local
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

  #follow(kind: Kind) {
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

  /** The cube has the plan and the playhead of the timeline, each frame. */
  #followPlayhead(at: number | null) {
    if (this.panel.hidden || this.cube.node.hidden) return;
    this.#showCube(false);
    this.cube.playhead(at);
  }

  /** sized: the colours or the size may be new. */
  #showCube(sized: boolean) {
    const plan = this.plans.onScreen()[IDS.indexOf(this.#chosen().y as any)] ?? this.plans.first;
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

  /** Begin another chart, empty. */
  #begin(kind: string) {
    this.#kind = kind;
    this.#chart = this.#answer = null;
    this.parts.clear();
    show(this.search.node, false);
  }

  /** Request the chart; where searches make it slow, the families are drawn first. */
  async #ask(what: string, url: string) {
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

  async #draw(drawer: Plotly, chart: Chart) {
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
        ...{ field: refused.field, value: refused.value, nearest: refused.nearest },
        message: t("Search results are not shown: {why}", { why: tr(refused) }),
      });
    else this.parts.complain("", null);
  }

  /** The figure, with a ring around each schedule but the first, which has the server's. */
  async #drawFigure(drawer: Plotly) {
    const [chart, answer] = [this.#chart, this.#answer];
    if (!chart || !answer) return;
    const rings = placesIn(this.#points(), this.plans)
      .slice(1)
      .flatMap((at, k) => Figure.ring(chart, at < 0 ? null : at, letter(k + 1), colour("accent")));
    await this.figure.draw(drawer, chart, answer, this.#chosen().kind.title, rings);
  }

  #complain(error: SpecError | null) {
    if (!error) return;
    const { field, nearest } = error;
    const use =
      nearest === undefined || !Object.hasOwn(this.store.get().spec, field) ? null : this.#use(field, nearest);
    this.parts.complain(sentence(tr(error)), use);
  }

  /** The button with the nearest legal value. */
  #use(field: string, nearest: unknown) {
    const use = () => this.store.set({ spec: { ...this.store.get().spec, [field]: nearest } }, "push");
    return remedy(field, nearest, use, "button.link");
  }

  #fail(problem: unknown) {
    if (problem instanceof Refusal) return this.#complain(problem.error);
    this.#url = ""; // whatever shows the chart next asks again
    if (problem instanceof Offline) this.#retry.later();
    this.parts.complain(
      t("The server does not answer."),
      h("button.link", { onclick: () => this.show() }, t("Try again")),
    );
  }

  /** Request the same chart again: searches have found more. */
  async #renew() {
    const turn = this.#turn;
    forgetChart(this.#url);
    const [drawer, chart] = await Promise.all([plotly(), requestChart(this.#url)]);
    if (this.#turn !== turn) return; // another chart was asked for meanwhile
    this.parts.table("", null);
    await this.#draw(drawer, chart);
  }

  /** The table, with the schedules on the timeline where they are. */
  #mark() {
    const chart = this.#chart;
    if (!chart) return;
    const point = (at: number | null) => this.figure.point(at);
    const put = (at: number, under: boolean) => this.#put(at, under);
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

  #put(at: number, under: boolean) {
    const put = this.#answer?.put(at);
    if (!put) return;
    if (under) putUnder(this.plans, put, placesIn(this.#points(), this.plans).indexOf(at));
    else putFirst(this.plans, put);
  }

  /** at: a point that is looked at, else how to read them all. */
  #tell(at: number | null) {
    this.parts.say((at === null ? this.#answer?.guide : this.#answer?.describe(at)) ?? "", at !== null);
  }

  async #save(form: Form) {
    const { kind, y } = this.#chosen();
    const spec = kind.local ? specAt(this.store.get(), IDS.indexOf(y as any)) : this.#chart?.spec;
    if (!spec) return;
    const { p, m } = spec;
    const name = `bubbleline-${kind.id}-p${p}-m${m}`;
    const title = `${kind.title}: p ${p}, m ${m}, ${costsText(spec)}`;
    if (form === "csv") saveBlob(`${name}.csv`, new Blob([this.#csv(kind)], { type: "text/csv" }));
    else if (this.#chart) await savePicture(this.#chart, name, title, form);
    else saveBlob(`${name}.${form}`, (await this.cube.picture(form, title)) as Blob);
  }

  #csv(kind: Kind) {
    return kind.local ? rowsCsv(this.cube.rows()) : (this.#answer?.csv() ?? "");
  }

  #choose(id: string, y: string | null) {
    const plain = y === null || y === this.#chosen().heights[0]?.[0];
    this.store.setView({ chart: plain ? (id === FIRST ? null : id) : `${id}:${y}` }, "push");
  }
}

const costsText = ({ costs }: Spec) =>
  Object.entries({ f: costs.F, i: costs.I, w: costs.W, c: costs.comm })
    .map(([name, cost]) => `${name} ${typeof cost === "number" ? short(cost) : t("by stage")}`)
    .join(", ");

const rest = (ms: number): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(null), ms);
  });

export const createCharts = (parts: { store: Store; plans: Plans; playback: Playback }) => new Charts(parts);
