// How long a unit of the costs lasts in a paced run, unless the reader has chosen it: the rule of
// backend/schedule/simulation/pace.py, to which tests/golden/units.json holds both.

import type { Times } from "../schedule/types.ts";

const STEP_S = 5; // of one step: long enough to watch, short enough to wait for
const LONGEST_S = 60; // of all steps together
const WORK_MS = 3; // an op of the tiny model with its messages, and room for other work of the core
const MOST_BLOCKS = 8; // of a stage of a run's model: the ratios of real layers, not their number
const READABLE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]; // the figures of a unit, times a power of ten
const SAME = 1e-9; // relative; below it a number counts as readable already

/** Makespan and meanOp in units, the mean of the ops that take time. */
type Work = {
  makespan: number;
  meanOp: number;
  ranks: number;
  cores: number;
  blocks?: number; // the most of a stage
  steps?: number;
};

/** The mean duration of the ops that take time; 0 where none does. count: of ops. */
export function meanOp({ start, end }: Times, count: number) {
  let sum = 0;
  let n = 0;
  for (let i = 0; i < count; i++) {
    if (!(end[i] > start[i])) continue;
    sum += end[i] - start[i];
    n++;
  }
  return n ? sum / n : 0;
}

/** The most blocks of a stage by the layers of each, as backend/schedule/options/blocks.py has it; null: 1. */
export function mostBlocks(layers: number[] | null) {
  if (!layers) return 1;
  const divisor = layers.reduce((a, b) => {
    while (b) [a, b] = [b, a % b];
    return a;
  });
  return Math.min(MOST_BLOCKS, Math.max(...layers) / divisor);
}

/** The milliseconds of a unit. */
export function defaultUnit({ makespan, meanOp: mean, ranks, cores, blocks = 1, steps = 1 }: Work) {
  const wanted = readable((1000 * STEP_S) / makespan, 0);
  const least = readable((WORK_MS * Math.max(1, ranks / cores) * blocks) / mean, 1);
  const most = readable((1000 * LONGEST_S) / (makespan * steps), -1);
  return Math.min(Math.max(wanted, least), most);
}

/** The readable number nearest by ratio; for direction 1 the least from the value on, for -1 the largest up to it. */
function readable(value: number, direction: number) {
  const power = Math.floor(Math.log10(value));
  let best = NaN;
  for (const exponent of [power - 1, power, power + 1])
    for (const digits of READABLE) {
      const each = digits * 10 ** exponent;
      if (direction > 0 && each < value * (1 - SAME)) continue;
      if (direction < 0 && each > value * (1 + SAME)) continue;
      if (!(Math.abs(Math.log(each / value)) >= Math.abs(Math.log(best / value)))) best = each;
    }
  return Number(best.toPrecision(2));
}
