// One run on the screen, from its id on: it is watched until it is over, and its ops are put on a lane of its order.
import { opsPainted } from "../../ui/latency.ts";
import { noRows, type RunRows } from "../../core/measured/rows.ts";
import { getRunOrder, isOver, watchRun, type Run } from "./client.ts";
import { RunLane } from "./measured_lane.ts";
import type { Lane } from "../lanes.ts";
import type { Spec } from "../../core/schedule/types.ts";

/** plan: the first schedule, on whose time axis it is drawn; changed: there is more to show, or a problem. */
type WatchParts = {
  asynchronous: (spec: Spec) => boolean;
  plan: () => { spec: Spec; ms: boolean };
  changed: () => void;
};

export class WatchedRun {
  id: string;
  laneId: string;
  parts: WatchParts;

  run: Run | null = null;
  /** Why there is no run, or no lane. */
  problem: unknown = null;
  lost = false; // the connection, for the moment
  #measured: RunLane | null = null;
  #early = noRows(); // ops and copies that came before their order
  #watch = { stop: () => {}, more: () => {} };

  /** lane: the id of its lane. */
  constructor(id: string, lane: string, parts: WatchParts) {
    this.id = id;
    this.laneId = lane;
    this.parts = parts;
  }

  begin() {
    this.#watch = watchRun(this.id, {
      update: (run, rows) => this.#update(run, rows),
      failed: (problem) => this.#fail(problem),
      lost: (lost) => this.#setLost(lost),
      details: (rows) => this.#addDetails(rows),
    });
  }

  end() {
    this.#watch.stop();
    this.parts = { ...this.parts, changed: () => {} };
  }

  get live() {
    return this.run !== null && !isOver(this.run);
  }

  /** The measured lane, once there is something to draw. */
  get lane(): Lane | null {
    const lane = this.#measured?.lane;
    return lane && lane.end > 0 ? lane : null;
  }

  /** The number of ops that have ended, and of all. */
  get progress() {
    return { done: this.#measured?.done ?? 0, total: this.#measured?.lane.schedule.count ?? 0 };
  }

  setLaneId(lane: string) {
    this.laneId = lane;
    this.#measured?.setId(lane);
  }

  /** Draw it on the time axis of the plan, which is another or has other costs. */
  fit() {
    if (!this.run || !this.#measured) return;
    const { spec, ms } = this.parts.plan();
    this.#measured.fit(this.run, spec, ms);
  }

  #fail(problem: unknown) {
    this.problem = problem;
    this.parts.changed();
  }

  #setLost(lost: boolean) {
    if (lost === this.lost) return;
    this.lost = lost;
    this.parts.changed();
  }

  /** run: so far; rows: new ops and copies. */
  #update(run: Run, rows: RunRows) {
    const first = this.run === null;
    this.run = run;
    if (first) this.#loadOrder(run);
    if (this.#measured) this.#add(this.#measured, run, rows);
    else
      this.#early = {
        ...rows,
        ops: [...this.#early.ops, ...rows.ops],
        copies: [...this.#early.copies, ...rows.copies],
      };
    this.parts.changed();
  }

  #addDetails(rows: RunRows) {
    this.#measured?.addDetails(rows); // requested by a lane
    this.parts.changed();
  }

  #add(measured: RunLane, run: Run, rows: RunRows) {
    measured.lane.live = !isOver(run);
    measured.add(rows, run);
    const t0 = run.t0_unix_ns;
    if (t0 && !isOver(run) && rows.ops.length) opsPainted(rows.ops.map((row) => (t0 + row.end) / 1e6));
  }

  #loadOrder(run: Run) {
    getRunOrder(run.id)
      .then((schedule) => {
        this.#measured = new RunLane(this.laneId, schedule, run, this.parts.asynchronous(run.spec), () =>
          this.#watch.more(),
        );
        this.#add(this.#measured, this.run ?? run, this.#early);
        this.#early = noRows();
        this.fit();
        this.parts.changed();
      })
      .catch((problem) => this.#fail(problem));
  }
}
