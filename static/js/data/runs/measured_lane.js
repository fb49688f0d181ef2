// The measured lane: a run's ops on the plan's time axis, one by one as they arrive. An op not yet run lies at
// infinity.
import { deviceShare } from "../costs/preset_costs.js";
import { noDetails, withRows } from "../../core/measured/run_details.js";
import { codesPerRank } from "../../core/schedule/ops.js";
import { timing } from "../../core/schedule/effective_costs.js";
import { durations } from "../../core/schedule/simulate.js";

/** @import {Lane} from "../lanes.js" */
/** @import {DetailRows} from "../../core/measured/run_details.js" */
/** @import {Noted} from "../../core/measured/waits.js" */
/** @import {Schedule, Spec} from "../../core/schedule/types.js" */
/** @import {OpRow, Run} from "./client.js" */

const ELSEWHERE = "imported"; // the mode of a run that was not made here
const SETTLED = 0.15; // a guessed unit is kept while a better guess lies this near

/** The flat index of a row of the run: of an op, or, where its index is -1 - k, of the k-th copy of its rank; -1 for
 * neither. @param {Schedule} schedule @param {number} rank @param {number} index */
function placeOf({ p, offsets, copies }, rank, index) {
  const rows = index >= 0 ? offsets : copies?.offsets;
  const at = index >= 0 ? index : -1 - index;
  return rows && rank >= 0 && rank < p && at < rows[rank + 1] - rows[rank] ? rows[rank] + at : -1;
}

export class RunLane {
  /** ops that have ended */
  done = 0;
  #unit = 0; // ns of one unit of the plan
  #worked = 0; // ns that ops took
  #planned = 0; // units that the same ops were planned to take
  #kept = 0; // rows that are on the axis already
  /** @type {OpRow[]} */
  #rows = [];
  #seen; // by flat index: whether it is among the rows
  #given = 0; // ns of one unit, for times from elsewhere: they have no unit of their own

  /**
   * @param {string} id of the lane
   * @param {Schedule} schedule
   * @param {Run} run
   * @param {boolean} asynchronous whether ops have weight versions
   * @param {() => void} want asks for bytes and messages
   */
  constructor(id, schedule, run, asynchronous, want) {
    const all = schedule.count + (schedule.copies?.count ?? 0);
    const start = new Float64Array(all).fill(Infinity);
    const end = new Float64Array(all).fill(Infinity);
    this.#seen = new Uint8Array(all);
    this.took = durations(schedule, timing(run.spec));
    const noted = {
      ready: new Float64Array(all).fill(Infinity),
      wait: new Float64Array(all),
      moved: new Float64Array(all - schedule.count),
      unit: 0,
      paced: false,
    };
    /** @type {Lane} */
    this.lane = {
      id: /** @type {Lane["id"]} */ (id),
      kind: "run",
      schedule,
      times: { start, end, makespan: 0 },
      spec: run.spec,
      costs: timing(run.spec),
      end: 0,
      stale: false,
      live: true,
      asynchronous,
      noted,
      want,
    };
  }

  /** @param {OpRow[]} rows the new ones @param {Run} run */
  add(rows, run) {
    const { schedule } = this.lane;
    this.lane.hosts = run.hosts;
    for (const row of rows) {
      const [rank, index, , start, end] = row;
      const i = placeOf(schedule, rank, index);
      if (i < 0 || this.#seen[i]) continue; // who asks for more than ops may be told of ops again
      this.#seen[i] = 1;
      this.#rows.push(row);
      if (index < 0) continue; // a copy beside compute
      this.done++;
      this.#worked += end - start;
      this.#planned += this.#tookBy(rank, index);
    }
    this.#setUnit(run);
    this.#place();
  }

  /** What else was measured of ops and messages. @param {DetailRows} rows */
  addDetails(rows) {
    if (!rows.bytes?.length && !rows.messages?.length) return;
    const { schedule, times, details } = this.lane;
    this.lane = {
      ...this.lane,
      details: withRows(schedule, details ?? noDetails(schedule), rows),
      times: { ...times },
    };
  }

  /** Give the lane another id: others have gone. @param {string} id */
  rename(id) {
    if (id !== this.lane.id) this.lane = { ...this.lane, id: /** @type {Lane["id"]} */ (id) };
  }

  /**
   * Times from elsewhere on the plan's axis: in its ms where it counts in them, else so that the same ops last as long
   * on the whole as the plan's costs say.
   * @param {Run} run
   * @param {Spec} plan
   * @param {boolean} ms the plan's costs are in ms
   */
  fit(run, plan, ms) {
    if (run.mode !== ELSEWHERE) return;
    const { schedule } = this.lane;
    const alike = JSON.stringify(plan.costs) === JSON.stringify(run.spec.costs);
    const costs = {
      ...plan.costs,
      F: deviceShare(plan.costs.F, plan.p),
      I: deviceShare(plan.costs.I, plan.p),
      W: deviceShare(plan.costs.W, plan.p),
    };
    this.took = durations(schedule, timing({ ...run.spec, costs }));
    this.#planned = 0;
    for (const [rank, index] of this.#rows) if (index >= 0) this.#planned += this.#tookBy(rank, index);
    this.#given = alike || ms || !(this.#planned > 0) ? (run.unit_ms ?? 1) * 1e6 : this.#worked / this.#planned;
    this.#setUnit(run);
    this.#place();
  }

  /** @param {number} rank @param {number} index */
  #tookBy(rank, index) {
    const { codes, offsets, chunks } = this.lane.schedule;
    return this.took[rank * codesPerRank(chunks) + codes[offsets[rank] + index]];
  }

  /**
   * The pace is known when the run is paced, and once it is over; until then it follows from the ops so far.
   * @param {Run} run
   */
  #setUnit(run) {
    const guess = this.#planned > 0 && this.#worked > 0 ? this.#worked / this.#planned : 1e6;
    const near = this.#unit > 0 && Math.abs(guess / this.#unit - 1) < SETTLED;
    const unit = this.#given ? this.#given : run.unit_ms ? run.unit_ms * 1e6 : near ? this.#unit : guess;
    this.lane.noted = { .../** @type {Noted} */ (this.lane.noted), unit: unit / 1e6, paced: run.mode === "paced" };
    if (unit === this.#unit) return;
    this.#unit = unit;
    this.#kept = 0;
    this.lane.end = 0;
  }

  /** Put the rows that are not there yet on the axis. */
  #place() {
    const { schedule, times } = this.lane;
    const noted = /** @type {Noted} */ (this.lane.noted);
    for (; this.#kept < this.#rows.length; this.#kept++) {
      const [rank, index, ready, start, end, wait] = this.#rows[this.#kept];
      const i = placeOf(schedule, rank, index);
      noted.ready[i] = ready / this.#unit;
      if (index >= 0) noted.wait[i] = wait / this.#unit;
      else if (noted.moved) noted.moved[i - schedule.count] = wait;
      times.start[i] = start / this.#unit;
      times.end[i] = end / this.#unit;
      if (index >= 0) this.lane.end = Math.max(this.lane.end, times.end[i]);
    }
    // New times are a new object: what was traced on the old ones is no longer true.
    this.lane = { ...this.lane, times: { start: times.start, end: times.end, makespan: this.lane.end } };
  }
}
