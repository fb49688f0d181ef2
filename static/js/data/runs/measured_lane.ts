// The measured lane: a run's ops on the plan's time axis, added as they arrive. An op that has not run yet is at
// infinity.
import { deviceShare } from "../costs/preset_costs.ts";
import { noDetails, withRows } from "../../core/measured/run_details.ts";
import { timing } from "../../core/schedule/effective_costs.ts";
import { durationOf } from "../../core/schedule/simulate.ts";
import type { Lane } from "../lanes.ts";
import type { CopyRow, OpRow, RunRows } from "../../core/measured/rows.ts";
import type { Noted } from "../../core/measured/waits.ts";
import type { Costs, Schedule, Spec } from "../../core/schedule/types.ts";
import type { Run } from "./client.ts";

const IMPORTED = "imported"; // the mode of a run that was executed elsewhere
const ALIKE = 2; // imported times within this factor of the plan's are in its unit
const TOLERANCE = 0.15; // an estimated unit is kept while a better estimate differs by less

/**
 * The flat index of a row: where its rank begins in `offsets`, and its index there; -1 where the order has no such op
 * or copy.
 */
function flatIndex(p: number, offsets: Int32Array | undefined, { rank, index }: { rank: number; index: number }) {
  const exists = offsets && rank >= 0 && rank < p && index >= 0 && index < offsets[rank + 1] - offsets[rank];
  return exists ? offsets[rank] + index : -1;
}

/** Costs in another unit. by: its number in the old one. */
const scaled = ({ sized, ...costs }: Costs, by: number): Costs => ({
  ...(Object.fromEntries(
    Object.entries(costs).map(([name, cost]) => [
      name,
      cost === null ? null : Array.isArray(cost) ? cost.map((each) => each * by) : cost * by,
    ]),
  ) as unknown as Costs),
  ...(sized ? { sized } : {}),
});

export class RunLane {
  durationOf: (rank: number, i: number) => number; // as planned; i: flat index of an op
  lane: Lane;

  /** ops that have ended */
  done = 0;
  #unit = 0; // ns of one unit of the plan
  #measured = 0; // ns, the sum of the ops' durations
  #planned = 0; // units, the planned sum of the same ops' durations
  /** With their flat indices. */
  #ops: { i: number; row: OpRow }[] = [];
  #copies: { i: number; row: CopyRow }[] = [];
  #placedOps = 0; // how many are on the axis already
  #placedCopies = 0;
  #known; // by flat index: whether it is among the ops or copies
  #givenUnit = 0; // ns of one unit, for imported times: they have no unit of their own

  /** id: of the lane; asynchronous: whether ops have weight versions; want: requests bytes and messages. */
  constructor(id: string, schedule: Schedule, run: Run, asynchronous: boolean, want: () => void) {
    const all = schedule.count + (schedule.copies?.count ?? 0);
    const start = new Float64Array(all).fill(Infinity);
    const end = new Float64Array(all).fill(Infinity);
    this.#known = new Uint8Array(all);
    this.durationOf = durationOf(schedule, timing(run.spec));
    const noted = {
      ready: new Float64Array(all).fill(Infinity),
      wait: new Float64Array(all),
      moved: new Float64Array(all - schedule.count),
      unit: 0,
      paced: false,
    };
    this.lane = {
      id: id as Lane["id"],
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

  /** rows: the new ops and copies. */
  add({ ops, copies }: RunRows, run: Run) {
    const { schedule } = this.lane;
    const { p, offsets } = schedule;
    this.lane.hosts = run.hosts;
    for (const row of ops) {
      const i = this.#add(flatIndex(p, offsets, row));
      if (i < 0) continue;
      this.#ops.push({ i, row });
      this.done++;
      this.#measured += row.end - row.start;
      this.#planned += this.durationOf(row.rank, i);
    }
    for (const row of copies) {
      const i = this.#add(flatIndex(p, schedule.copies?.offsets, row));
      if (i >= 0) this.#copies.push({ i, row });
    }
    this.#setUnit(run);
    this.#place();
  }

  /**
   * The flat index of a new row; -1 for one that the order lacks, or that was sent before, as viewers who request more
   * kinds of rows may receive ops again.
   */
  #add(i: number) {
    if (i < 0 || this.#known[i]) return -1;
    this.#known[i] = 1;
    return i;
  }

  /** rows: new bytes and messages. */
  addDetails(rows: RunRows) {
    if (!rows.bytes.length && !rows.messages.length) return;
    const { schedule, times, details } = this.lane;
    this.lane = {
      ...this.lane,
      details: withRows(schedule, details ?? noDetails(schedule), rows),
      times: { ...times },
    };
  }

  /** Set the id, which changes when a lane above it is removed. */
  setId(id: string) {
    if (id !== this.lane.id) this.lane = { ...this.lane, id: id as Lane["id"] };
  }

  /**
   * Scale imported times to the plan's axis: to its ms where its costs are in ms, else so that the ops take as long in
   * total as with the plan's costs. Costs at which ops take about as many ms as measured, such as calibrated ones, are
   * in ms too. ms: the plan's costs are said to be.
   */
  fit(run: Run, plan: Spec, ms: boolean) {
    if (run.mode !== IMPORTED) return;
    const { schedule } = this.lane;
    const costs = {
      ...plan.costs,
      F: deviceShare(plan.costs.F, plan.p),
      I: deviceShare(plan.costs.I, plan.p),
      W: deviceShare(plan.costs.W, plan.p),
    };
    this.durationOf = durationOf(schedule, timing({ ...run.spec, costs }));
    this.#planned = 0;
    for (const { i, row } of this.#ops) this.#planned += this.durationOf(row.rank, i);
    const own = (run.unit_ms ?? 1) * 1e6;
    const estimate = this.#planned > 0 ? this.#measured / this.#planned : own;
    this.#givenUnit = ms || (estimate > own / ALIKE && estimate < own * ALIKE) ? own : estimate;
    this.#setUnit(run);
    this.#place();
  }

  /** The unit is known when the run is paced, and once it is over; until then it is estimated from the ops so far. */
  #setUnit(run: Run) {
    const estimate = this.#planned > 0 && this.#measured > 0 ? this.#measured / this.#planned : 1e6;
    const near = this.#unit > 0 && Math.abs(estimate / this.#unit - 1) < TOLERANCE;
    const unit = this.#givenUnit ? this.#givenUnit : run.unit_ms ? run.unit_ms * 1e6 : near ? this.#unit : estimate;
    this.lane.noted = { ...(this.lane.noted as Noted), unit: unit / 1e6, paced: run.mode === "paced" };
    if (unit === this.#unit) return;
    this.#unit = unit;
    if (this.#givenUnit) this.lane.costs = scaled(timing(run.spec), ((run.unit_ms ?? 1) * 1e6) / unit);
    this.#placedOps = this.#placedCopies = 0;
    this.lane.end = 0;
  }

  /** Put the ops and copies on the axis that are not there yet. */
  #place() {
    const { schedule, times } = this.lane;
    const noted = this.lane.noted as Noted;
    for (; this.#placedOps < this.#ops.length; this.#placedOps++) {
      const { i, row } = this.#ops[this.#placedOps];
      this.#placeAt(i, row);
      noted.wait[i] = row.recv_wait / this.#unit;
      this.lane.end = Math.max(this.lane.end, times.end[i]);
    }
    for (; this.#placedCopies < this.#copies.length; this.#placedCopies++) {
      const { i, row } = this.#copies[this.#placedCopies];
      this.#placeAt(i, row);
      if (noted.moved) noted.moved[i - schedule.count] = row.bytes;
    }
    // A new object, since caches are keyed by the times.
    this.lane = { ...this.lane, times: { start: times.start, end: times.end, makespan: this.lane.end } };
  }

  #placeAt(i: number, { ready, start, end }: { ready: number; start: number; end: number }) {
    const { times, noted } = this.lane;
    (noted as Noted).ready[i] = ready / this.#unit;
    times.start[i] = start / this.#unit;
    times.end[i] = end / this.#unit;
  }
}
