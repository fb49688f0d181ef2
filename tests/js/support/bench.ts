// Benchmark of the pure modules: `npm run bench`. Prints medians after a warm-up; asserts nothing.

import { binRank, emptyBins, kindsIn, type Bins } from "../../../static/js/core/timeline/bins.ts";
import { makers } from "../../../static/js/core/schedule/dependencies.ts";
import { figures } from "../../../static/js/core/schedule/metrics.ts";
import { peakMemory } from "../../../static/js/core/schedule/memory.ts";
import { micros } from "../../../static/js/core/schedule/ops.ts";
import { buildPyramid, levelFor, sample, type Pyramid } from "../../../static/js/core/timeline/pyramid.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { held, maxima } from "../../../static/js/core/timeline/memory_strips.ts";
import { DEFAULTS, UNIT, breadthFirst, oneFOneB, zbH1 } from "./helpers.ts";
import type { Schedule, Times } from "../../../static/js/core/schedule/types.ts";

/** Median time of one call in ms. */
function median(work: () => void) {
  for (let k = 0; k < 12; k++) work();
  const took = Array.from({ length: 25 }, () => {
    const from = performance.now();
    work();
    return performance.now() - from;
  });
  return took.sort((a, b) => a - b)[12];
}

/** All ranks into pixel rows. */
function bins(schedule: Schedule, times: Times, into: Bins, t1: number) {
  for (let r = 0; r < schedule.p; r++) binRank(schedule, times, r, 0, t1 / into.width, into);
}

/** All ranks into pixel rows, from a pyramid. */
function sampled(pyramid: Pyramid, { p }: Schedule, into: Bins) {
  const step = pyramid.total / into.width;
  const level = levelFor(pyramid, step);
  for (let r = 0; level && r < p; r++) sample(pyramid, level, r, 0, step, into);
}

/** All ranks' memory into pixels. */
function strips(schedule: Schedule, times: Times, into: Float32Array) {
  for (const steps of held(schedule, times, DEFAULTS).steps) maxima(steps, 0, times.makespan, 1600, into);
}

const cases = [
  ["1F1B    16 x 128", oneFOneB(16, 128)],
  ["ZB-H1   16 x 520", zbH1(16, 520)],
  ["BFS     16 x 128 x 4", breadthFirst(16, 128, 4)],
  ["ZB-H1   16 x 2083", zbH1(16, 2083)],
  ["BFS     16 x 4096 x 2", breadthFirst(16, 4096, 2)],
  ["ZB-H1   64 x 5208", zbH1(64, 5208)],
];
const costs = { ...UNIT, F: 1.1, comm: 0.1 };
const out = (schedule: Schedule) => emptyBins(kindsIn(schedule), 1600);
const levels = new Float32Array(1600);
for (const [name, schedule] of cases as [string, Schedule][]) {
  const times = simulate(schedule, costs);
  const pyramid = buildPyramid(schedule, times, times.makespan);
  const ms = {
    simulate: median(() => simulate(schedule, costs, times)),
    micros: median(() => micros({ ...schedule })),
    figures: median(() => figures(schedule, times)),
    memory: median(() => peakMemory(schedule, null, { wShare: 1, v: schedule.v, kept: 1, weights: 0, restored: 1 })),
    links: median(() => makers({ ...schedule })),
    "bins, all": median(() => bins(schedule, times, out(schedule), times.makespan)),
    "bins, a third": median(() => bins(schedule, times, out(schedule), times.makespan / 3)),
    "a pyramid": median(() => buildPyramid(schedule, times, times.makespan)),
    "bins, from it": median(() => sampled(pyramid, schedule, out(schedule))),
    "memory strips, new times": median(() => strips(schedule, { ...times }, levels)),
    "memory strips": median(() => strips(schedule, times, levels)),
  };
  const rate = schedule.count / ms.simulate / 1e3;
  const parts = Object.entries(ms).map(([what, took]) => `${what} ${took.toFixed(2)} ms`);
  console.log(`${name}: ${schedule.count} ops; ${rate.toFixed(0)} million ops/s; ${parts.join("; ")}`);
}
