// S and T of an output layer that is spread over all ranks, among the ops of a base order: the same places as in
// backend/schedule/options/vocabulary.py, op by op.

import { KIND_S, KIND_T, codesPerRank } from "../schedule/ops.ts";
import { durations, tables } from "../schedule/simulate.ts";
import type { Costs, Schedule } from "../schedule/types.ts";

/**
 * The schedule with S and T of every micro-batch. Each rank keeps its sequence and runs S, then T, before its next op
 * whenever they can start as early. base: without S and T; costs: effective ones; barriers: 1 or 2.
 */
export function withShards(base: Schedule, costs: Costs, barriers: number): Schedule {
  const { p, n, count } = base;
  const offsets = base.offsets.map((offset, r) => offset + 2 * n * r);
  const codes = new Uint8Array(count + 2 * p * n);
  const schedule = { ...base, base: false, codes, offsets, micro: [], count: codes.length, barriers };
  const filled = insert(base, schedule, costs);
  if (filled < codes.length) throw new Error("S and T do not fit into this order");
  return schedule;
}

/**
 * Fills in the codes of a schedule greedily; returns how many ops ran. The rank whose next op can start first runs it:
 * S, T or the next op of its own sequence, whichever can start first, in this order where equal.
 */
function insert(base: Schedule, schedule: Schedule, costs: Costs) {
  const { p, n, chunks } = base;
  const width = codesPerRank(chunks);
  const S = width - 2;
  const T = S + KIND_T - KIND_S;
  const { inA, outA, lagA, shards, joins, size } = tables(schedule, costs);
  const took = durations(schedule, costs);
  const reader = readers(inA, width, S, p, size, n);
  const done = new Float64Array(size).fill(Infinity);
  const counts = new Int32Array(size / n); // results of each row so far
  const passed = new Int32Array(2 * n);
  const latest = new Float64Array(2 * n);
  const clock = new Float64Array(p);
  const wake = new Float64Array(p);
  const choice = new Int32Array(p);
  const stale = new Uint8Array(p).fill(1);
  const at = base.offsets.slice(0, p);
  const to = schedule.offsets.slice(0, p);
  for (let ran = 0; ; ran++) {
    let r = 0;
    for (let rank = 0; rank < p; rank++) {
      if (stale[rank]) {
        stale[rank] = 0;
        wake[rank] = Infinity;
        for (let turn = 0; turn < 3; turn++) {
          if (turn === 2 && at[rank] === base.offsets[rank + 1]) continue;
          const code = turn === 0 ? S : turn === 1 ? T : base.codes[at[rank]];
          const x = rank * width + code;
          const k = outA[x] < 0 ? 0 : counts[outA[x] / n];
          if (turn < 2 && k === n) continue;
          let begin = clock[rank];
          if (inA[x] >= 0) begin = Math.max(begin, done[inA[x] + k] + lagA[x]);
          if (begin < wake[rank]) {
            wake[rank] = begin;
            choice[rank] = code;
          }
        }
      }
      if (wake[rank] < wake[r]) r = rank;
    }
    if (wake[r] === Infinity) return ran;
    const code = choice[r];
    const x = r * width + code;
    if (code < S) at[r]++;
    clock[r] = wake[r] + took[x];
    schedule.codes[to[r]++] = code;
    stale[r] = 1;
    if (outA[x] < 0) continue;
    const row = outA[x] / n;
    const k = counts[row]++;
    done[outA[x] + k] = clock[r];
    if (outA[x] < shards) {
      if (reader[row] < 0) stale.fill(1);
      else stale[reader[row]] = 1;
      continue;
    }
    const join = ((outA[x] - shards) / n) % 2;
    const gate = join * n + k;
    latest[gate] = Math.max(latest[gate], clock[r]);
    if (++passed[gate] === p) {
      done[joins + gate] = latest[gate];
      stale.fill(1);
    }
  }
}

/**
 * The one rank that waits for each row of results, -1 for all of them: their S wait for the last stage's output. inA:
 * what each (rank, code) waits for; S: its code.
 */
function readers(inA: Int32Array, width: number, S: number, p: number, size: number, n: number) {
  const reader = new Int32Array(size / n).fill(-1);
  inA.forEach((cell, x) => {
    if (cell >= 0) reader[cell / n] = Math.floor(x / width);
  });
  for (let r = 0; r < p; r++) reader[inA[r * width + S] / n] = -1;
  return reader;
}
