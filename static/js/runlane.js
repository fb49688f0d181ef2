// The measured lane: a run's ops on the plan's time axis, one by one as they arrive. An op not yet run lies at infinity.

/** @import {Lane} from "./lanes.js" */
/** @import {Schedule} from "./pure/types.js" */
/** @import {OpRow, Run} from "./runclient.js" */

/** @param {Schedule} schedule @param {Run} run @returns {Lane} */
export function createRunLane(schedule, run) {
  const start = new Float64Array(schedule.count).fill(Infinity);
  const end = new Float64Array(schedule.count).fill(Infinity);
  return { id: "run", schedule, times: { start, end, makespan: 0 }, costs: run.spec.costs, end: 0, stale: false, live: true };
}

/** Nanoseconds of one unit of the plan. @param {Run} run */
export const unitOf = (run) => (run.unit_ms ?? 1) * 1e6;

/** @param {Lane} lane @param {OpRow[]} rows @param {number} unit ns */
export function addOps(lane, rows, unit) {
  const { offsets, p } = lane.schedule;
  const { start, end } = lane.times;
  for (const [rank, index, , began, ended] of rows) {
    if (rank < 0 || rank >= p || index < 0 || index >= offsets[rank + 1] - offsets[rank]) continue;
    const i = offsets[rank] + index;
    start[i] = began / unit;
    end[i] = ended / unit;
    if (end[i] > lane.end) lane.end = end[i];
  }
  lane.times.makespan = lane.end;
}

/** @param {Lane} lane */
export function countOps({ schedule, times }) {
  let n = 0;
  for (let i = 0; i < schedule.count; i++) if (times.end[i] < Infinity) n++;
  return n;
}
