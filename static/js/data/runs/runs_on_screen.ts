// The runs that the link names, up to four: each is watched and has a measured lane on the timeline.
import { invalidate } from "../../ui/frame_loop.ts";
import { IDS, specsOf } from "../../core/state/schedules.ts";
import { RUN_LANE_IDS, type Lane } from "../lanes.ts";
import { planOf } from "../matched_plan.ts";
import { headingsOf, measurementsOf, peakBytes, titleOf } from "./run_titles.ts";
import { WatchedRun } from "./watched_run.ts";
import type { Plans } from "../plans.ts";
import type { Store } from "../store.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { ViewState } from "../../core/state/link.ts";

export const MOST_RUNS = RUN_LANE_IDS.length;

export class RunsOnScreen {
  store: Store;
  plans: Plans;

  /** In the order of the link. */
  all: WatchedRun[] = [];
  #listeners: (() => void)[] = [];

  constructor({ store, plans }: { store: Store; plans: Plans }) {
    this.store = store;
    this.plans = plans;
    store.subscribe((state, before) => {
      if (state.spec !== before.spec || state.preset !== before.preset) for (const each of this.all) each.fit();
      if (state.view.run !== before.view.run) this.sync();
    });
  }

  /** Call a task whenever a run has changed or the runs are others. */
  onChange(listener: () => void) {
    this.#listeners.push(listener);
  }

  /** The first run of the link. */
  get run() {
    return this.all[0]?.run ?? null;
  }

  /** The measured lanes that have something to draw. */
  get lanes(): Lane[] {
    return this.all.map((each) => each.lane).filter((lane) => lane !== null);
  }

  get live() {
    return this.all.some((each) => each.live);
  }

  /** The ids of the runs that the link names. */
  ids() {
    return (this.store.get().view.run ?? "").split(",").filter(Boolean);
  }

  /** The runs of the link and one more, in the place of the last one where there is no room. */
  withRun(id: string) {
    const others = this.ids().filter((each) => each !== id);
    return [...others.slice(0, MOST_RUNS - 1), id].join(",");
  }

  /** Put runs on the screen and open their tab. ids: with commas. */
  show(ids: string, view: Partial<ViewState> = {}) {
    this.store.setView({ run: ids || null, tab: "run", ...view }, "push");
  }

  /** Take a run off the screen. */
  remove(id: string | undefined, history: "push" | "replace" = "push") {
    const ids = this.ids();
    if (id && ids.includes(id))
      this.store.setView({ run: ids.filter((each) => each !== id).join(",") || null }, history);
  }

  removeLane(laneId: string) {
    this.remove(this.all.find((each) => each.laneId === laneId)?.id);
  }

  /** Watch the runs that the link names, and no others. */
  sync() {
    const ids = [...new Set(this.ids())].slice(0, MOST_RUNS);
    if (ids.join() === this.all.map(({ id }) => id).join()) return;
    const before = this.all;
    for (const each of before) if (!ids.includes(each.id)) each.end();
    this.all = ids.map((id, at) => {
      const watched = before.find((each) => each.id === id) ?? this.#watch(id, RUN_LANE_IDS[at]);
      watched.setLaneId(RUN_LANE_IDS[at]);
      return watched;
    });
    for (const each of this.all) if (!before.includes(each)) each.begin();
    this.#changed();
  }

  /** The headings over the measured lanes. */
  headings() {
    return headingsOf(this.all, specsOf(this.store.get()), this.title);
  }

  /** The measured lanes that are complete, for the comparison. */
  measured() {
    return measurementsOf(this.all, this.title);
  }

  /** The peak of activations in a run of this plan, in bytes on a rank; null where none was measured. */
  peak(planId: string) {
    const lanes = this.plans.lanes();
    const watched = this.all.find(({ run, lane }) => run?.activations && lane && planOf(lane, lanes)?.id === planId);
    return watched?.run ? peakBytes(watched.run) : null;
  }

  /** Which schedule on the screen a run executed; the first where it is none of them. */
  planIndex(lane: Lane) {
    const id = planOf(lane, this.plans.lanes())?.id;
    return Math.max(
      0,
      IDS.findIndex((each) => each === id),
    );
  }

  titleOf(laneId: string) {
    const run = this.all.find((each) => each.laneId === laneId)?.run;
    return run ? titleOf(run, this.title) : "";
  }

  /** The title of a schedule. */
  title = (spec: Spec) => this.plans.family(spec.family)?.title ?? spec.family;

  #watch(id: string, laneId: string) {
    return new WatchedRun(id, laneId, {
      asynchronous: (spec) => this.plans.family(spec.family)?.asynchronous ?? false,
      plan: () => ({ spec: this.store.get().spec, ms: this.store.get().preset !== null }),
      changed: () => this.#changed(),
    });
  }

  #changed() {
    for (const listener of this.#listeners) listener();
    invalidate("plan");
  }
}
