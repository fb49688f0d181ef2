// The measured lane: a run's ops on the plan's time axis, one by one as they arrive. An op not yet run lies at infinity.
import { codesPerRank } from "./pure/ops.js";
import { timing } from "./pure/timing.js";
import { durations } from "./pure/simulate.js";

/** @import {Lane} from "./lanes.js" */
/** @import {Schedule} from "./pure/types.js" */
/** @import {OpRow, Run} from "./runclient.js" */

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

  /** @param {Schedule} schedule @param {Run} run @param {boolean} asynchronous whether ops have weight versions */
  constructor(schedule, run, asynchronous) {
    const all = schedule.count + (schedule.copies?.count ?? 0);
    const start = new Float64Array(all).fill(Infinity);
    const end = new Float64Array(all).fill(Infinity);
    this.took = durations(schedule, timing(run.spec));
    /** @type {Lane} */
    this.lane = { id: "run", schedule, times: { start, end, makespan: 0 }, spec: run.spec, costs: timing(run.spec), end: 0, stale: false, live: true, asynchronous };
  }

  /** @param {OpRow[]} rows the new ones @param {Run} run */
  add(rows, run) {
    const { schedule } = this.lane;
    const { offsets, codes, chunks } = schedule;
    for (const row of rows) {
      const [rank, index, , start, end] = row;
      if (placeOf(schedule, rank, index) < 0) continue;
      this.#rows.push(row);
      if (index < 0) continue; // a copy beside compute
      this.done++;
      this.#worked += end - start;
      this.#planned += this.took[rank * codesPerRank(chunks) + codes[offsets[rank] + index]];
    }
    this.#setUnit(run);
    this.#place();
  }

  /** The pace is known when the run is paced, and once it is over; until then it follows from the ops so far. @param {Run} run */
  #setUnit(run) {
    const guess = this.#planned > 0 && this.#worked > 0 ? this.#worked / this.#planned : 1e6;
    const near = this.#unit > 0 && Math.abs(guess / this.#unit - 1) < SETTLED;
    const unit = run.unit_ms ? run.unit_ms * 1e6 : near ? this.#unit : guess;
    if (unit === this.#unit) return;
    this.#unit = unit;
    this.#kept = 0;
    this.lane.end = 0;
  }

  /** Put the rows that are not there yet on the axis. */
  #place() {
    const { schedule, times } = this.lane;
    for (; this.#kept < this.#rows.length; this.#kept++) {
      const [rank, index, , start, end] = this.#rows[this.#kept];
      const i = placeOf(schedule, rank, index);
      times.start[i] = start / this.#unit;
      times.end[i] = end / this.#unit;
      if (index >= 0) this.lane.end = Math.max(this.lane.end, times.end[i]);
    }
    // New times are a new object: what was traced on the old ones is no longer true.
    this.lane = { ...this.lane, times: { start: times.start, end: times.end, makespan: this.lane.end } };
  }
}
