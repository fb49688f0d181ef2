// The search of a searched family: how far its order can be from the best, and better orders while it runs.
import { getAnswer } from "../../data/api.ts";
import { h, hasServer, setText, show } from "../../ui/dom.ts";
import { onStage } from "../../ui/frame_loop.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { connect } from "../../data/runs/client.ts";
import { keepOrder } from "../../data/orders/orders.ts";
import { formatCount, formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { putAt, specAt, specsOf } from "../../core/state/schedules.ts";
import { decode } from "../../core/schedule/wire.ts";
import { tame } from "../../data/costs/time_unit.ts";
import type { Plans } from "../../data/plans.ts";
import type { Plan } from "../../data/plan.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { Store } from "../../data/store.ts";
import type { State } from "../../core/state/link.ts";
import type { Socket } from "socket.io-client";

type Bound = { lower_bound: number; bound: string };
type SearchUpdate = {
  id: string;
  status: string;
  position: number;
  better: number;
  span: number;
  evaluations: number;
  seconds: number;
  spec: Spec;
  error: { message: string } | null;
  order?: ArrayBuffer | null;
};

const NATURAL_S = 5;
const LONGER_S = 30;
const REST = 700; // ms without a change until a search begins
const TOLERANCE = 1e-9; // spans are long sums

/** The key of a search: the spec without what a search finds. */
const base = (spec: Spec) => JSON.stringify({ ...spec, effort: null, seed: 1 });

/** Whether the figures are those of what is asked for: an order that has arrived is timed in the next frame. */
const isTimed = (plan: Plan) => plan.shown === plan.asked && !plan.fresh && plan.figures !== null;

/** Whether the schedule that is asked for has arrived. */
const isHere = (plan: Plan, spec: Spec) => plan.asked === spec && isTimed(plan);

/** Whether no order can be better than the one on the screen. */
const isOptimal = (plan: Plan, bound: Bound | null) =>
  bound !== null && isTimed(plan) && (plan.figures?.longestStage ?? NaN) <= bound.lower_bound * (1 + TOLERANCE);

export class Search {
  store: Store;
  plans: Plans;

  node = h("section#search.search", { hidden: true, "aria-labelledby": "search-title" });
  #verdict = h("span#search-verdict.badge.verdict");
  #bound = h("p.footnote.source");
  #status = h("p#search-status.footnote.search-status", { role: "status" });
  #bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": t("Time of the search") });
  #go = h(
    "button#search-go.button.soft",
    { onclick: () => this.#start(NATURAL_S) },
    t("Search {seconds} s", { seconds: NATURAL_S }),
  );
  #longer = h(
    "button#search-longer.button.soft",
    { onclick: () => this.#start(LONGER_S) },
    t("{seconds} s", { seconds: LONGER_S }),
  );
  #stop = h("button#search-stop.button.soft", { hidden: true, onclick: () => this.#halt() }, t("Stop"));
  #auto = h("input#search-auto", { type: "checkbox", checked: true });
  /** null: asked for. */
  #bounds: Map<string, Bound | null> = new Map();
  #running: { slot: number; key: string; spec: Spec; id: string; seconds: number; lost: boolean } | null = null;
  #last: SearchUpdate | null = null;
  #problem = "";
  #timer = 0;
  #waits = false; // the rest is over and the schedule is not here yet
  #untouched = true; // since the page was opened
  #listening = false;

  constructor({ store, plans }: { store: Store; plans: Plans }) {
    this.store = store;
    this.plans = plans;
    this.node.append(
      h("h2#search-title", t("Certificate"), this.#verdict),
      this.#bound,
      this.#bar,
      this.#status,
      h("div.search-acts", this.#go, this.#longer, this.#stop),
      h("label.check", this.#auto, t("Keep searching while idle")),
    );
    this.#auto.addEventListener("change", () => this.#whenIdle());
    store.subscribe((state, before) => this.#onState(state, before));
    onStage("figures", () => this.show());
  }

  /** The schedule that is searched: the first that can be. */
  #target(): { slot: number; plan: Plan; spec: Spec } | null {
    if (!hasServer) return null;
    const specs = specsOf(this.store.get());
    const slot = specs.findIndex((spec) => this.plans.family(spec.family)?.searched);
    return slot < 0 ? null : { slot, plan: this.plans.all[slot], spec: specs[slot] };
  }

  /** Follow the plans. */
  show() {
    const target = this.#target();
    show(this.node, target !== null);
    if (!target) return;
    const { plan, spec } = target;
    const bound = this.#boundOf(spec);
    const span = plan.figures?.longestStage ?? NaN;
    const current = isTimed(plan) && bound && Number.isFinite(span);
    const gap = current ? span / bound.lower_bound - 1 : NaN;
    const optimal = isOptimal(plan, bound);
    if (this.#waits && isHere(plan, spec)) this.#startIdle();
    setText(
      this.#verdict,
      optimal ? t("optimal") : Number.isNaN(gap) ? "…" : t("{gap} above the bound", { gap: formatPercent(gap) }),
    );
    this.#verdict.className = optimal ? "badge good verdict" : "badge verdict";
    setText(
      this.#bound,
      bound
        ? tame(
            t("In no order is the busiest device's window shorter than {bound}: {why}. In this one it is {span}.", {
              bound: formatNumber(bound.lower_bound),
              why: tr(bound.bound),
              span: formatNumber(span),
            }),
          )
        : "",
    );
    this.#progress(optimal, spec);
  }

  #progress(optimal: boolean, spec: Spec) {
    const going = this.#running !== null;
    show(this.#bar, going);
    show(this.#stop, going);
    show(this.#go, !going && !optimal);
    show(this.#longer, !going && !optimal);
    setText(this.#status, this.#problem || this.#words(going, spec, optimal));
    if (!this.#running) return;
    const spent = this.#last && this.#last.id === this.#running.id ? this.#last.seconds : 0;
    this.#bar.value = Math.min(1, spent / this.#running.seconds);
  }

  #words(going: boolean, spec: Spec, optimal: boolean) {
    const update = this.#last;
    const mine = update !== null && this.#running?.id === update.id;
    if (going && (!mine || update.status === "queued"))
      return mine && update.position > 0
        ? t("Queued: {count} before this one.", { count: update.position })
        : t("Starting …");
    if (going && update)
      return t("{seconds} s, {count} orders simulated, {better} improvements.", {
        seconds: update.seconds.toFixed(1),
        count: formatCount(update.evaluations),
        better: update.better,
      });
    if (spec.effort === null && optimal) return t("Constructed without a search; no order is better.");
    if (spec.effort === null && this.#untouched && this.#auto.checked)
      return t("Constructed without a search; a search may find a better order. It starts after the next change.");
    if (spec.effort === null) return t("Constructed without a search; a search may find a better order.");
    return t("Found among {count} orders (seed {seed}). The link gives the same order again.", {
      count: formatCount(spec.effort),
      seed: spec.seed,
    });
  }

  #boundOf(spec: Spec): Bound | null {
    const key = base(spec);
    const found = this.#bounds.get(key);
    if (found !== undefined || this.#running?.key === key) return found ?? null;
    if (!this.plans.onScreen().some((plan) => plan.asked === spec)) return null;
    this.#bounds.set(key, null);
    const query = this.plans.query({ ...spec, effort: null, seed: 1 });
    getAnswer(`/api/bound${query}`).then(
      (bound) => {
        this.#bounds.set(key, bound);
        this.show();
      },
      () => this.#bounds.delete(key),
    );
    return null;
  }

  #onState(state: State, before: State) {
    if (state.spec === before.spec && state.others === before.others) return;
    this.#untouched = false;
    const target = this.#target();
    if (this.#running && (!target || target.slot !== this.#running.slot || base(target.spec) !== this.#running.key))
      this.#halt();
    this.#problem = "";
    const was = target && specAt(before, target.slot);
    if (target && (!was || base(was) !== base(target.spec))) this.#whenIdle();
    else if (!target || target.spec.effort !== null) clearTimeout(this.#timer);
  }

  /** Start a search after a moment without a change, if the reader wants that. */
  #whenIdle() {
    clearTimeout(this.#timer);
    this.#waits = false;
    this.#timer = window.setTimeout(() => this.#startIdle(), REST);
  }

  #startIdle() {
    this.#waits = false;
    const target = this.#target();
    if (!target || !this.#auto.checked || this.#running || target.spec.effort !== null || target.plan.error) return;
    this.#waits = !isHere(target.plan, target.spec);
    if (!this.#waits && !isOptimal(target.plan, this.#boundOf(target.spec))) this.#start(NATURAL_S);
  }

  async #start(seconds: number) {
    clearTimeout(this.#timer);
    const target = this.#target();
    if (!target || target.plan.error || target.plan.asked !== target.spec) return;
    const spec = { ...target.spec, effort: null };
    this.#problem = "";
    this.#running = { slot: target.slot, key: base(target.spec), spec, id: "", seconds, lost: false };
    const mine = this.#running;
    this.show();
    const line = await connect().catch(() => null);
    if (line && !this.#listening) this.#listen(line);
    if (this.#running !== mine) return; // stopped meanwhile
    if (!line || (!line.connected && !line.active)) {
      this.#end(t("The server does not answer."));
      return;
    }
    this.#ask(line);
  }

  /** Ask the server for the search. */
  #ask(line: Socket) {
    const mine = this.#running;
    if (!mine) return;
    line.emit("search", { spec: mine.spec, seconds: mine.seconds }, (answer: any) => {
      if (this.#running !== mine) return;
      if (answer?.error) this.#end(tr(answer.error));
      else mine.id = answer.id;
    });
  }

  /** Follow the searches; the server forgets one whose connection is lost. */
  #listen(line: Socket) {
    this.#listening = true;
    line.on("search", (update: SearchUpdate) => this.#take(update));
    line.on("disconnect", () => {
      if (!this.#running) return;
      this.#running = { ...this.#running, id: "", lost: true };
      this.#problem = t("The server does not answer.");
      this.show();
    });
    line.on("connect", () => {
      if (!this.#running?.lost) return;
      this.#running.lost = false;
      this.#problem = "";
      this.#ask(line);
      this.show();
    });
  }

  #halt() {
    const going = this.#running;
    this.#running = null;
    if (going)
      connect().then(
        (line) => line.emit("search_stop", {}),
        () => {}, // without a connection the server searches nothing
      );
    this.show();
  }

  #end(problem: string) {
    this.#problem = problem;
    this.#running = null;
    this.show();
  }

  #take(update: SearchUpdate) {
    const going = this.#running;
    if (!going || (going.id !== "" && update.id !== going.id)) return;
    going.id = update.id;
    this.#last = update;
    const over = ["finished", "stopped", "failed"].includes(update.status);
    if (update.order) this.#use(going.slot, update);
    if (over) this.#end(update.status === "failed" ? tr(update.error) : "");
    else this.show();
  }

  /** Put a found order on the timeline and into the link. */
  #use(slot: number, update: SearchUpdate) {
    const now = specAt(this.store.get(), slot);
    if (!now || !update.order || base(now) !== this.#running?.key) return;
    if (now.effort === update.spec.effort) return; // the end of a search has its last improvement once more
    const spec = { ...now, effort: update.spec.effort, seed: update.spec.seed };
    keepOrder(this.plans.query(spec), decode(update.order));
    this.store.set(putAt(this.store.get(), slot, spec), "replace");
  }
}
