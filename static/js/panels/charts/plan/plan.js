// The training plan: the fastest step of the model on the machine within a device's memory. The server builds the
// plans; they are a table and a figure of time over memory, and any of them can be put on the screen.
import { Refusal, getAnswer } from "../../../data/api.js";
import { gigabytesText } from "../../../data/costs/quantities.js";
import { modesName } from "../../../data/option_names.js";
import { onRecolour } from "../../../ui/appearance.js";
import { h, keepFocus, replace, sentence, setText, show } from "../../../ui/dom.js";
import { coloursNow } from "../../../ui/palette.js";
import { onRest } from "../../../ui/rest.js";
import { saveBlob } from "../../../ui/save_file.js";
import { Figure } from "../figure.js";
import { plotly } from "../plotly.js";
import { Setup } from "./setup.js";
import { planTable } from "./table.js";
import { putOver } from "../../../core/drawing/chart_points.js";
import { GROUPS, planFigure } from "../../../core/drawing/plan_figure.js";
import { placeOf, plansCsv } from "../../../core/drawing/training_plans.js";
import { t, tr } from "../../../core/i18n/language.js";
import { formatNumber, formatPercent } from "../../../core/i18n/numbers.js";
import { presetEntries } from "../../../core/state/link_preset.js";
import { IDS } from "../../../core/state/schedules.js";

/** @import {Spec} from "../../../core/schedule/types.js" */
/** @import {Preset} from "../../../core/state/link_preset.js" */
/** @import {TrainingPlans} from "../../../core/drawing/training_plans.js" */
/** @import {StepUnits} from "../../../data/costs/step_units.js" */
/** @import {Plan} from "../../../data/plan.js" */
/** @import {Plans} from "../../../data/plans.js" */
/** @import {Store} from "../../../data/store.js" */
/** @import {Figures} from "./table.js" */
/**
 * @typedef {{store: Store, plans: Plans, unitsOf: (plan: Plan) => StepUnits | null, reveal: () => void}} Parts reveal:
 *   opens all settings of the model and the machine
 */
/** @typedef {{path: string, preset: Preset, answer: TrainingPlans}} Found path: what was asked, without its seconds */

const SECONDS = 10; // for which plans are built
const MORE_SECONDS = 20; // where that was too short
const FORM = "csv";
const INKS = ["ink", "ink-2", "ink-3", "line", "plot-grid", "raised", "accent", "bad"];

class PlanTab {
  #lead = h("p", { class: "plan-lead", role: "status" });
  #progress = h("progress", { class: "plan-progress", hidden: true, "aria-label": t("Plans are being built") });
  #longer = h(
    "button",
    { type: "button", class: "link", id: "plan-longer", hidden: true, onclick: () => this.#find(MORE_SECONDS) },
    t("Search longer"),
  );
  #csv = h(
    "button",
    { type: "button", class: "button soft", "data-save": FORM, hidden: true, onclick: () => this.#save() },
    FORM.toUpperCase(),
  );
  #scroll = h("div", { class: "comparison-scroll", role: "region", "aria-label": t("Plans"), tabindex: 0 });
  #home = h("div", { class: "charts-home plan-figure" });
  /** @type {Found | null} */
  #found = null;
  /** @type {AbortController | null} of the request under way */
  #asking = null;
  #ticking = 0;
  #drawn = "";
  #size = { width: 0, height: 0 };

  /** @param {Parts} parts */
  constructor({ store, plans, unitsOf, reveal }) {
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
      "div",
      { class: "plan" },
      this.setup.node,
      h("div", { class: "row plan-state" }, this.#lead, this.#longer, this.#progress, this.#csv),
      h("div", { class: "plan-body", hidden: true }, this.#scroll, this.#home),
    );
    store.subscribe((state, before) => {
      if (state.preset !== before.preset || state.spec !== before.spec || state.view.gb !== before.view.gb) this.show();
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
    if (!this.node.isConnected || this.node.closest("[hidden]")) return;
    this.setup.load();
    this.setup.sync(this.#asking !== null);
    if (this.#found) this.#draw();
    else if (!this.#asking && !this.#lead.textContent)
      this.#say(t("One search over schedule, chunks, memory limit, recomputation and offload for the fastest step."));
  }

  /** The request of the state, without its seconds; null without a model. */
  #path() {
    const { preset, spec, view } = this.store.get();
    if (!preset) return null;
    const query = new URLSearchParams([
      ["p", String(spec.p)],
      ["m", String(spec.m)],
      ...(view.gb === null ? [] : [["gb", String(view.gb)]]),
      ...presetEntries(preset, false).map(([key, text]) => [`m.${key}`, text]),
    ]);
    return `/api/plans?${query}`;
  }

  /** @param {number} seconds */
  async #find(seconds) {
    const path = this.#path();
    const { preset } = this.store.get();
    if (!path || !preset || this.#asking) return;
    this.#asking = new AbortController();
    this.#wait(seconds);
    try {
      const answer = await getAnswer(`${path}&seconds=${seconds}`, this.#asking.signal);
      this.#found = { path, preset, answer };
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

  /** @param {number} seconds */
  #wait(seconds) {
    const begun = performance.now();
    this.#progress.max = seconds;
    this.#progress.value = 0;
    show(this.#progress, true);
    show(this.#longer, false);
    this.#say(t("Building each schedule with recomputation and offload, at most {seconds} s …", { seconds }));
    this.#ticking = window.setInterval(() => {
      this.#progress.value = (performance.now() - begun) / 1000;
    }, 250);
    this.setup.sync(true);
  }

  #endWait() {
    clearInterval(this.#ticking);
    this.#asking = null;
    show(this.#progress, false);
  }

  /** @param {unknown} problem @param {boolean} aborted by the reader */
  #fail(problem, aborted) {
    this.#drawn = "";
    if (aborted && this.#found) return this.#draw();
    this.#say(
      aborted
        ? t("Stopped.")
        : problem instanceof Refusal
          ? sentence(tr(problem.error))
          : t("The server does not answer."),
    );
  }

  /** @param {string} text */
  #say(text) {
    setText(this.#lead, text);
  }

  /** The schedule on the screen, where its step is the one that was planned. */
  #now() {
    const plan = this.plans.first;
    const units = plan.shown && !plan.shown.forward_only ? this.unitsOf(plan) : null;
    if (!plan.shown || !units || this.#isStale()) return null;
    const { seconds, tokens, mfu, memory } = units;
    /** @type {Figures} */
    const figures = { seconds, tokens_per_second: tokens / seconds, mfu, memory: memory.most };
    return { spec: plan.shown, figures };
  }

  /** Whether the plans are for another setting than the one on the screen. */
  #isStale() {
    return this.#found !== null && this.#path() !== this.#found.path;
  }

  /** The table and the figure, where they are not there already. */
  #draw() {
    const found = this.#found;
    if (!found || this.#asking) return;
    const { plans, limit } = found.answer;
    const now = this.#now();
    const place = now ? placeOf(plans, now.spec) : -1;
    const key = JSON.stringify([found.path, found.answer.tried, now, place, this.#isStale()]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#say(this.#isStale() ? t("The setting has changed since these plans were found.") : leadText(found.answer));
    show(this.#longer, found.answer.left_out > 0 && !this.#isStale());
    show(this.#csv, true);
    show(/** @type {HTMLElement} */ (this.node.lastElementChild), true);
    this.#scroll.classList.toggle("is-waiting", this.#isStale());
    const shown = { plans, now, place, limit, titleOf: (/** @type {Spec} */ spec) => this.#titleOf(spec) };
    const acts = {
      put: (/** @type {number} */ at, /** @type {boolean} */ under) => this.#put(at, under),
      point: (/** @type {number | null} */ at) => this.figure.point(at),
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
    const group = (/** @type {number} */ at) => groupOf(this.plans, plans[at].spec);
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
      /** @type {any} */ ({ figure }),
      /** @type {any} */ ({
        order,
        front: (/** @type {number} */ at) => at,
        put: (/** @type {number} */ at) => plans[at]?.spec ?? null,
      }),
      t("Time of a step against memory"),
      [],
    );
  }

  /** @param {Spec} spec */
  #titleOf({ family }) {
    return this.plans.family(family)?.title ?? family;
  }

  /** @param {number} at @returns {string[]} */
  #linesOf(at) {
    const { spec, units } = /** @type {Found} */ (this.#found).answer.plans[at];
    const limit = spec.memory === null ? [] : [t("memory limit {limit}", { limit: formatNumber(spec.memory) })];
    return [
      `${this.#titleOf(spec)}, v ${spec.v}`,
      ...limit,
      t("recompute {recompute}, offload {offload}", {
        recompute: modesName(spec.recompute),
        offload: modesName(spec.offload),
      }),
      t("{seconds} s, MFU {mfu}, {memory}", {
        seconds: units.seconds.toPrecision(4),
        mfu: formatPercent(units.mfu),
        memory: gigabytesText(units.memory.most),
      }),
    ];
  }

  /** Put a plan on the screen, or below the schedules that are there, with the model that it is for. @param {number} at
   * @param {boolean} under */
  #put(at, under) {
    const plan = this.#found?.answer.plans[at];
    if (!plan || !this.#found) return;
    const { spec, others } = this.store.get();
    const preset = this.#isStale() ? { preset: this.#found.preset } : {};
    const next = putOver(plan.spec, spec);
    if (under) this.store.set({ ...preset, others: [...others.slice(0, IDS.length - 2), next] }, "push");
    else this.store.set({ ...preset, spec: next }, "push");
  }

  #save() {
    if (!this.#found) return;
    const { p, m, plans } = this.#found.answer;
    saveBlob(`bubbleline-plans-p${p}-m${m}.csv`, new Blob([plansCsv(plans)], { type: "text/csv" }));
  }
}

/** @param {TrainingPlans} answer */
function leadText({ plans, tried, left_out: left, limit }) {
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
  return left ? `${first}${t(" ")}${t("Not built in time: {left}.", { left })}` : first;
}

/** @param {Plans} plans @param {Spec} spec */
function groupOf(plans, { family }) {
  const group = plans.family(family)?.group ?? "";
  return typeof group === "string" ? group : group.message;
}

/** @returns {import("../../../core/drawing/plan_figure.js").Paint} */
function paint() {
  const names = GROUPS.map((group) => `g-${group.replace(" ", "-").toLowerCase()}`);
  const found = coloursNow([...INKS, ...names]);
  const groups = Object.fromEntries(GROUPS.map((group, at) => [group, found[names[at]]]));
  return /** @type {any} */ ({ ...found, groups, font: getComputedStyle(document.body).fontFamily });
}

/** @param {Parts} parts */
export const createPlan = (parts) => new PlanTab(parts);
