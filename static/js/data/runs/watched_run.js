// One run on the screen, from its id on: watched until it is over, its order fetched, its ops on a lane of their own.
import { opsPainted } from "../../ui/latency.js";
import { order } from "../order_cache.js";
import { isOver, watchRun } from "./client.js";
import { RunLane } from "./measured_lane.js";

/** @import {Lane} from "../lanes.js" */
/** @import {Run, OpRow} from "./client.js" */
/** @import {Spec} from "../../core/schedule/types.js" */
/**
 * @typedef {{query: (spec: Spec) => string, asynchronous: (spec: Spec) => boolean, plan: () => {spec: Spec, ms:
 *   boolean}, changed: () => void}} WatchParts plan: the first schedule, on whose axis it is drawn; changed: there is
 *   more to show, or something went wrong
 */

export class Watched {
  /** @type {Run | null} */
  run = null;
  /** @type {unknown} why there is no run, or no lane */
  problem = null;
  lost = false; // the connection, for the moment
  /** @type {RunLane | null} */
  #measured = null;
  /** @type {OpRow[]} ops that came before their order did */
  #early = [];
  #line = { stop: () => {}, more: () => {} };

  /** @param {string} id @param {string} lane the id of its lane @param {WatchParts} parts */
  constructor(id, lane, parts) {
    this.id = id;
    this.name = lane;
    this.parts = parts;
  }

  begin() {
    this.#line = watchRun(
      this.id,
      (run, rows) => this.#take(run, rows),
      (problem) => this.#fail(problem),
      (lost) => this.#lose(lost),
      (rows) => this.#takeDetails(rows),
    );
  }

  end() {
    this.#line.stop();
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

  /** Ops that have ended, and all. */
  get progress() {
    return { done: this.#measured?.done ?? 0, total: this.#measured?.lane.schedule.count ?? 0 };
  }

  /** @param {string} lane */
  rename(lane) {
    this.name = lane;
    this.#measured?.rename(lane);
  }

  /** The plan is another, or has other costs. */
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
  #lose(lost) {
    if (lost === this.lost) return;
    this.lost = lost;
    this.parts.changed();
  }

  /** @param {Run} run the run so far @param {OpRow[]} rows the ops that are new */
  #take(run, rows) {
    const first = this.run === null;
    this.run = run;
    if (first) this.#loadOrder(run);
    if (this.#measured) this.#put(this.#measured, run, rows);
    else this.#early.push(...rows);
    this.parts.changed();
  }

  /** @param {import("../../core/measured/run_details.js").DetailRows} rows */
  #takeDetails(rows) {
    this.#measured?.addDetails(rows); // a lane asked for them
    this.parts.changed();
  }

  /** @param {RunLane} measured @param {Run} run @param {OpRow[]} rows */
  #put(measured, run, rows) {
    measured.lane.live = !isOver(run);
    measured.add(rows, run);
    const t0 = run.t0_unix_ns;
    if (t0 && !isOver(run) && rows.length) opsPainted(rows.map((row) => (t0 + row[4]) / 1e6));
  }

  /** @param {Run} run */
  #loadOrder(run) {
    order(this.parts.query(run.spec), new AbortController().signal)
      .then(({ schedule, error }) => {
        if (!schedule) throw new Error(error.message);
        this.#measured = new RunLane(this.name, schedule, run, this.parts.asynchronous(run.spec), () =>
          this.#line.more(),
        );
        this.#put(this.#measured, this.run ?? run, this.#early.splice(0));
        this.fit();
        this.parts.changed();
      })
      .catch((problem) => this.#fail(problem));
  }
}
