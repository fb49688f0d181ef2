// One run on the screen, from its id on: it is watched until it is over, and its ops are put on a lane of its order.
import { opsPainted } from "../../ui/latency.js";
import { noRows } from "../../core/measured/rows.js";
import { getRunOrder, isOver, watchRun } from "./client.js";
import { RunLane } from "./measured_lane.js";

/** @import {Lane} from "../lanes.js" */
/** @import {RunRows} from "../../core/measured/rows.js" */
/** @import {Run} from "./client.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/**
 * @typedef {{asynchronous: (spec: Spec) => boolean, plan: () => {spec: Spec, ms: boolean}, changed: () => void}}
 *   WatchParts plan: the first schedule, on whose time axis it is drawn; changed: there is more to show, or a problem
 */

export class WatchedRun {
  /** @type {Run | null} */
  run = null;
  /** @type {unknown} why there is no run, or no lane */
  problem = null;
  lost = false; // the connection, for the moment
  /** @type {RunLane | null} */
  #measured = null;
  #early = noRows(); // ops and copies that came before their order
  #watch = { stop: () => {}, more: () => {} };

  /** @param {string} id @param {string} lane the id of its lane @param {WatchParts} parts */
  constructor(id, lane, parts) {
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

  /** The measured lane, once there is something to draw. @returns {Lane | null} */
  get lane() {
    const lane = this.#measured?.lane;
    return lane && lane.end > 0 ? lane : null;
  }

  /** The number of ops that have ended, and of all. */
  get progress() {
    return { done: this.#measured?.done ?? 0, total: this.#measured?.lane.schedule.count ?? 0 };
  }

  /** @param {string} lane */
  setLaneId(lane) {
    this.laneId = lane;
    this.#measured?.setId(lane);
  }

  /** Draw it on the time axis of the plan, which is another or has other costs. */
  fit() {
    if (!this.run || !this.#measured) return;
    const { spec, ms } = this.parts.plan();
    this.#measured.fit(this.run, spec, ms);
  }

  /** @param {unknown} problem */
  #fail(problem) {
    this.problem = problem;
    this.parts.changed();
  }

  /** @param {boolean} lost */
  #setLost(lost) {
    if (lost === this.lost) return;
    this.lost = lost;
    this.parts.changed();
  }

  /** @param {Run} run so far @param {RunRows} rows new ops and copies */
  #update(run, rows) {
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

  /** @param {RunRows} rows */
  #addDetails(rows) {
    this.#measured?.addDetails(rows); // requested by a lane
    this.parts.changed();
  }

  /** @param {RunLane} measured @param {Run} run @param {RunRows} rows */
  #add(measured, run, rows) {
    measured.lane.live = !isOver(run);
    measured.add(rows, run);
    const t0 = run.t0_unix_ns;
    if (t0 && !isOver(run) && rows.ops.length) opsPainted(rows.ops.map((row) => (t0 + row.end) / 1e6));
  }

  /** @param {Run} run */
  #loadOrder(run) {
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
