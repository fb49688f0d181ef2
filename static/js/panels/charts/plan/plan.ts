// The training plan: the fastest step of the model on the machine within a device's memory. The server builds the
// plans; they are a table and a figure of time over memory, and any of them can be put on the screen.
import { getAnswer, whyFailed } from "../../../data/api.ts";
import { evenly, plainOf } from "../../../data/costs/api.ts";
import { gigabytesText } from "../../../data/costs/quantities.ts";
import { modesName } from "../../../data/option_names.ts";
import { onRecolour } from "../../../ui/appearance.ts";
import { h, keepFocus, replace, setText, show } from "../../../ui/dom.ts";
import { coloursNow } from "../../../ui/palette.ts";
import { onRest } from "../../../ui/rest.ts";
import { saveBlob } from "../../../ui/save_file.ts";
import { Figure } from "../figure.ts";
import { plotly } from "../plotly.ts";
import { Setup } from "./setup.ts";
import { planTable, type Figures } from "./table.ts";
import { putOver } from "../../../core/drawing/chart_points.ts";
import { GROUPS, planFigure, type Paint } from "../../../core/drawing/plan_figure.ts";
import {
  areLaidOut,
  layoutText,
  placeOf,
  plansCsv,
  stepSeconds,
  type Sizes,
  type TrainingPlan,
  type TrainingPlans,
} from "../../../core/drawing/training_plans.ts";
import { t, tr } from "../../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../../core/i18n/numbers.ts";
import { presetEntries, type Preset } from "../../../core/state/link_preset.ts";
import { planCommand } from "../../../core/state/plan_limits.ts";
import { IDS } from "../../../core/state/schedules.ts";
import type { Spec } from "../../../core/schedule/types.ts";
import type { StepUnits } from "../../../data/costs/step_units.ts";
import type { Plan } from "../../../data/plan.ts";
import type { Plans } from "../../../data/plans.ts";
import type { Store } from "../../../data/store.ts";

type Parts = {
  store: Store;
  plans: Plans;
  unitsOf: (plan: Plan) => StepUnits | null;
  reveal: () => void; // opens all settings of the model and the machine
};
/**
 * path: what was asked, without its seconds; setting: the same without layers that a balance moved, which a plan with
 * other chunks does not have.
 */
type Found = { path: string; setting: string; preset: Preset; answer: TrainingPlans };

const SECONDS = 10; // for which plans are built
const MORE_SECONDS = 20; // where that was too short
const FORM = "csv";
const INKS = ["ink", "ink-2", "ink-3", "line", "plot-grid", "raised", "accent", "bad"];

class PlanTab {
  store: Store;
  plans: Plans;
  unitsOf: (plan: Plan) => StepUnits | null;
  setup: Setup;
  figure: Figure;
  node: HTMLDivElement;
  panel: HTMLDivElement;

  #lead = h("p.plan-lead", { role: "status" });
  #progress = h("progress.plan-progress", { hidden: true, "aria-label": t("Plans are being built") });
  #longer = h("button#plan-longer.link", { hidden: true, onclick: () => this.#find(MORE_SECONDS) }, t("Search longer"));
  #csv = h("button.button.soft", { "data-save": FORM, hidden: true, onclick: () => this.#save() }, FORM.toUpperCase());
  #scroll = h("div.comparison-scroll", { role: "region", "aria-label": t("Plans"), tabindex: 0 });
  #home = h("div.charts-home.plan-figure");
  #found: Found | null = null;
  /** Of the request under way. */
  #asking: AbortController | null = null;
  #ticking = 0;
  #drawn = "";
  #size = { width: 0, height: 0 };

  constructor({ store, plans, unitsOf, reveal }: Parts) {
    this.store = store;
    this.plans = plans;
    this.unitsOf = unitsOf;
    this.setup = new Setup(store, {
      find: () => this.#find(SECONDS),
      stop: () => this.#asking?.abort(),
      reveal,
      changed: () => this.show(),
    });
    this.figure = new Figure({ put: (at, under) => this.#put(at, under), tell: () => {} });
    this.#home.append(this.figure.node);
    this.node = h(
      "div.plan",
      this.setup.node,
      h("div.row.plan-state", this.#lead, this.#longer, this.#progress, this.#csv),
      h("div.plan-body", { hidden: true }, this.#scroll, this.#home),
    );
    this.panel = h("div", this.node);
    store.subscribe((state, before) => {
      const [now, then] = [state, before].map(({ preset, spec, view }) => [preset, spec, view.gb, view.plan]);
      if (now.some((each, at) => each !== then[at])) this.show();
    });
    onRest(() => this.show()); // the figures of the schedule on the screen follow its order
    onRecolour(() => this.#drawFigure());
    new ResizeObserver(([{ contentRect }]) => {
      this.#size = { width: Math.floor(contentRect.width), height: Math.floor(contentRect.height) };
      this.#drawFigure();
    }).observe(this.#home);
  }

  /** Follow the state. */
  show() {
    if (!this.panel.isConnected || this.panel.hidden) return;
    this.setup.load();
    this.#sync();
    if (this.#found) this.#draw();
    else if (!this.#asking && !this.#lead.textContent)
      this.#say(t("One search over schedule, chunks, memory limit, recomputation and offload for the fastest step."));
  }

  /** The request of the state, without its seconds; null without a model. */
  #path() {
    const { preset } = this.store.get();
    return preset && this.#pathFor(preset);
  }

  #pathFor(preset: Preset) {
    const own = presetEntries(this.#presetFor(preset), false).map(([key, text]) => [`m.${key}`, text]);
    return `/api/plans?${new URLSearchParams([...this.#asked(), ...own])}`;
  }

  #presetFor(preset: Preset) {
    return this.setup.limits.laidOut ? unlaid(preset) : preset;
  }

  /** As keys of the request, what plans are for besides the model and the machine. */
  #asked(): [string, string][] {
    const { spec, view } = this.store.get();
    const { limits } = this.setup;
    const keys: [string, number | null][] = [
      ["p", limits.laidOut ? null : spec.p],
      ["m", limits.laidOut ? null : spec.m],
      ["gb", view.gb],
    ];
    const given = keys.filter(([, value]) => value !== null).map(([key, value]): [string, string] => [key, `${value}`]);
    return [...given, ...limits.asked()];
  }

  #sync() {
    const { preset } = this.store.get();
    this.setup.sync(this.#asking !== null);
    this.setup.limits.tell(
      preset ? planCommand(document.documentElement.dataset.command!, this.#asked(), this.#presetFor(preset)) : "",
    );
  }

  async #find(seconds: number) {
    const path = this.#path();
    const { preset } = this.store.get();
    if (!path || !preset || this.#asking) return;
    this.#asking = new AbortController();
    this.#wait(seconds);
    try {
      const answer = await getAnswer(`${path}&seconds=${seconds}`, this.#asking.signal);
      this.#found = { path, setting: this.#pathFor(evenly(preset)), preset, answer };
      this.#drawn = "";
      this.#endWait();
      this.#draw();
    } catch (problem) {
      const aborted = this.#asking.signal.aborted;
      this.#endWait();
      this.#fail(problem, aborted);
    }
    this.show();
  }

  #wait(seconds: number) {
    const begun = performance.now();
    this.#progress.max = seconds;
    this.#progress.value = 0;
    show(this.#progress, true);
    show(this.#longer, false);
    this.#say(t("Building each schedule with recomputation and offload, at most {seconds} s …", { seconds }));
    this.#ticking = window.setInterval(() => {
      this.#progress.value = (performance.now() - begun) / 1000;
    }, 250);
    this.#sync();
  }

  #endWait() {
    clearInterval(this.#ticking);
    this.#asking = null;
    show(this.#progress, false);
  }

  /** aborted: by the reader. */
  #fail(problem: unknown, aborted: boolean) {
    this.#drawn = "";
    if (aborted && this.#found) return this.#draw();
    if (!aborted) {
      this.#found = null; // else its table would say that the setting has changed, not what is wrong with it
      for (const part of [this.#longer, this.#csv, this.node.lastElementChild as HTMLElement]) show(part, false);
    }
    this.#say(aborted ? t("Stopped.") : whyFailed(problem));
  }

  #say(text: string) {
    setText(this.#lead, text);
  }

  /** The schedule on the screen, where its step is the one that was planned. */
  #now() {
    const plan = this.plans.first;
    const units = plan.shown && !plan.shown.forward_only ? this.unitsOf(plan) : null;
    if (!plan.shown || !units || this.#isStale()) return null;
    const { tokens, tail, rate, mfu, memory } = units;
    const step = this.#found?.answer.plans[0].units;
    if (step && (step.tokens !== tokens || step.devices !== units.devices)) return null;
    const figures: Figures = {
      seconds: stepSeconds(units),
      tokens_per_second: rate,
      span: { tokens_per_second: tokens / ((plan.figures?.longestStage ?? 0) / 1000 + tail) },
      mfu,
      memory: memory.most,
    };
    return { spec: plan.shown, figures };
  }

  /** Whether the plans are for another setting than the one on the screen. */
  #isStale() {
    const { preset } = this.store.get();
    return this.#found !== null && (!preset || this.#pathFor(evenly(preset)) !== this.#found.setting);
  }

  /** The table and the figure, where they are not there already. */
  #draw() {
    const found = this.#found;
    if (!found || this.#asking) return;
    const { plans, limit } = found.answer;
    const now = this.#now();
    const sizes = this.#sizes();
    const place = now && sizes ? placeOf(plans, now.spec, sizes) : -1;
    const key = JSON.stringify([found.path, found.answer.tried, now, place, this.#isStale()]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#say(this.#isStale() ? t("The setting has changed since these plans were found.") : leadText(found.answer));
    show(this.#longer, found.answer.left_out > 0 && !this.#isStale());
    show(this.#csv, true);
    show(this.node.lastElementChild as HTMLElement, true);
    this.#scroll.classList.toggle("is-waiting", this.#isStale());
    const shown = { plans, now: now && { ...now, sizes }, place, limit, titleOf: (spec: Spec) => this.#titleOf(spec) };
    const acts = {
      put: (at: number, under: boolean) => this.#put(at, under),
      point: (at: number | null) => this.figure.point(at),
    };
    const { scrollTop, scrollLeft } = this.#scroll;
    keepFocus(this.#scroll, () => replace(this.#scroll, planTable(shown, acts)));
    this.#scroll.scrollTo(scrollLeft, scrollTop);
    this.#drawFigure();
  }

  async #drawFigure() {
    const found = this.#found;
    if (!found || !this.#size.width || !this.#size.height) return;
    const { plans, limit } = found.answer;
    const now = this.#now();
    const group = (at: number) => groupOf(this.plans, plans[at].spec);
    const figure = planFigure(
      {
        plans,
        now: now && { seconds: now.figures.seconds, memory: now.figures.memory },
        limit,
        name: (at) => this.#titleOf(plans[at].spec),
        lines: (at) => this.#linesOf(at),
        group,
        groupName: tr,
      },
      this.#size,
      paint(),
    );
    const order = plans.map((_, at) => at).sort((a, b) => plans[a].units.memory.most - plans[b].units.memory.most);
    await this.figure.draw(
      await plotly(),
      { figure } as any,
      {
        order,
        front: (at: number) => at,
        put: (at: number) => plans[at]?.spec ?? null,
      } as any,
      t("Time of a step against memory"),
      [],
    );
  }

  /** The sizes of the layout on the screen. */
  #sizes(): Sizes | null {
    const { preset } = this.store.get();
    const { shown } = this.plans.first;
    if (!preset || !shown) return null;
    const size = (name: "tp" | "data" | "micro_batch") => Number(preset[name] ?? plainOf(preset, name));
    const own = (name: string) => Number(preset.own[name] ?? plainOf(preset, name) ?? 1);
    const { p, v, m } = shown;
    return {
      ...{ p, v, m, tp: size("tp"), data: size("data"), micro_batch: size("micro_batch") },
      ...{ context: own("context"), expert: own("expert") },
    };
  }

  #titleOf({ family }: Spec) {
    return this.plans.family(family)?.title ?? family;
  }

  #linesOf(at: number): string[] {
    const { spec, units, sizes } = (this.#found as Found).answer.plans[at];
    const limit = spec.memory === null ? [] : [t("memory limit {limit}", { limit: formatNumber(spec.memory) })];
    return [
      `${this.#titleOf(spec)}, ${this.setup.limits.laidOut ? layoutText(sizes) : `v ${spec.v}`}`,
      ...limit,
      t("recompute {recompute}, offload {offload}", {
        recompute: modesName(spec.recompute),
        offload: modesName(spec.offload),
      }),
      t("{seconds} s, MFU {mfu}, {memory}", {
        seconds: stepSeconds(units).toPrecision(4),
        mfu: formatPercent(units.mfu),
        memory: gigabytesText(units.memory.most),
      }),
    ];
  }

  /** Put a plan on the screen, or below the schedules that are there, with the model that it is for. */
  #put(at: number, under: boolean) {
    const plan = this.#found?.answer.plans[at];
    if (!plan || !this.#found) return;
    const { spec, others } = this.store.get();
    const asked = this.#found.preset;
    const preset = areLaidOut(this.#found.answer.plans) ? withLayout(asked, plan) : asked;
    const next = putOver(plan.spec, spec);
    if (under) this.store.set({ preset, others: [...others.slice(0, IDS.length - 2), next] }, "push");
    else this.store.set({ preset, spec: next }, "push");
  }

  #save() {
    if (!this.#found) return;
    const { plans } = this.#found.answer;
    const { p, m } = plans[0].spec;
    saveBlob(`bubbleline-plans-p${p}-m${m}.csv`, new Blob([plansCsv(plans)], { type: "text/csv" }));
  }
}

/** What a layout determines. */
const LAID_OUT = ["tp", "data", "zero", "micro_batch"] as const;
const LAID_OUT_OWN = ["context", "expert"] as const;

/** The preset without what a layout determines. */
function unlaid(preset: Preset): Preset {
  const even = evenly(preset);
  const own = Object.fromEntries(Object.entries(even.own).filter(([name]) => !LAID_OUT_OWN.includes(name as any)));
  return { ...even, ...Object.fromEntries(LAID_OUT.map((name) => [name, null])), own };
}

/** The preset of a plan's layout. */
function withLayout(asked: Preset, { preset }: TrainingPlan): Preset {
  const plain = unlaid(asked);
  const given = (names: readonly string[]) =>
    Object.fromEntries(names.filter((name) => name in preset).map((name) => [name, preset[name]]));
  return { ...plain, ...given(LAID_OUT), own: { ...plain.own, ...given(LAID_OUT_OWN) } } as Preset;
}

/** What would make a plan fit, as the controls name it. */
function waysText(remedies: TrainingPlans["would_fit"]) {
  const names: Record<string, string> = { gpus: t("GPUs"), zero: "ZeRO", context: "CP", tp: "TP" };
  return remedies
    .map(({ field, value, memory }) => `${names[field] ?? field} ${value} (${gigabytesText(memory)})`)
    .join(", ");
}

function leadText({ plans, tried, left_out: left, limit, would_fit: remedies }: TrainingPlans) {
  const ways = waysText(remedies);
  const fit = plans.filter(({ units }) => units.memory.fits).length;
  const first = fit
    ? t("{tried} settings built; the best of each schedule, {fit} of {shown} within {limit}.", {
        tried,
        fit,
        shown: plans.length,
        limit: gigabytesText(limit),
      })
    : t("None of {tried} settings fits in {limit}; the one with the least memory needs {least}.", {
        tried,
        limit: gigabytesText(limit),
        least: gigabytesText(plans[0].units.memory.most),
      });
  const more = [
    ways && t("It would fit with {ways}.", { ways }),
    left > 0 && t("Not built in time: {left}.", { left }),
  ].filter(Boolean);
  return [first, ...more].join(t(" "));
}

function groupOf(plans: Plans, { family }: Spec) {
  const group = plans.family(family)?.group ?? "";
  return typeof group === "string" ? group : group.message;
}

function paint(): Paint {
  const names = GROUPS.map((group) => `g-${group.replace(" ", "-").toLowerCase()}`);
  const found = coloursNow([...INKS, ...names]);
  const groups = Object.fromEntries(GROUPS.map((group, at) => [group, found[names[at]]]));
  return { ...found, groups, font: getComputedStyle(document.body).fontFamily } as any;
}

export const createPlan = (parts: Parts) => new PlanTab(parts);
