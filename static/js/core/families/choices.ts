// How to place ops where a building block leaves a choice: the tries of V-Min and V-Half, as in
// backend/schedule/families/v_shape/repeated_block.py.

import type { Task } from "./building_block.ts";

/**
 * How long a device waits for the next op rather than run a W (in units of W); rather than run an op that is less due
 * (in units of F; ENDLESS: never leave the block's order); the same in the cool-down; and by how many slots to move I
 * of chunk 0, F and I of chunk 1.
 */
export type Choice = { w: number; op: number; end: number; move: number[] };

export const ENDLESS = Infinity;
const PARTS = 64; // costs in whole multiples of a 64th add up without rounding
const EXACT = 2 ** 52; // up to which float64 has every whole number
const CLEAR = 1e-3; // units between a wait and a whole number of them, so that no rounding matters

const KEPT = [0.3, 0.6, 0.9, 0].flatMap((w) => [0.6, 0].map((end) => ({ w, op: ENDLESS, end, move: [] })));
const FREE = [
  [3, 2, 1],
  [0, 0, 0],
  [2, 0, 0],
].flatMap((move) => [0.6, 0.3, 0.9].flatMap((w) => [0.9, 0.6].map((op) => ({ w, op, end: op, move }))));

/**
 * In the block's own order, and with ops out of order, for costs that differ from the slots. One of each comes first:
 * very large orders get only a few tries.
 */
export const CHOICES: Choice[] = [KEPT[0], FREE[0], ...KEPT.slice(1), ...FREE.slice(1)];

/** A choice's three waits, in time. */
export function waits({ cost }: Task, { w, op, end }: Choice): [number, number, number] {
  const mean = (kind: number) => {
    let sum = 0;
    for (let row = kind; row < cost.length; row += 3) sum += cost[row];
    return sum / (cost.length / 3);
  };
  const f = mean(0);
  const time = (hold: number) => (hold === ENDLESS ? hold : hold * f);
  return [w * mean(2), time(op), time(end)];
}

/**
 * Leave out each choice that lays the same order as an earlier one, which saves most of them at equal costs. Every
 * moment of an order is a multiple of the time that all costs are multiples of, so two waits with the same number of
 * whole units keep a device waiting for the same ops.
 */
export function different(task: Task, choices: Choice[]) {
  const unit = unitOf(task);
  if (unit === null) return choices;
  const first = new Map<string, Choice>();
  for (const choice of choices) {
    const key = [choice.move, ...waits(task, choice).map((wait) => wholeUnits(wait / unit))].join("/");
    if (!first.has(key)) first.set(key, choice);
  }
  return [...first.values()];
}

/** How many units a wait has whole; the wait itself where a sum might round it to the next. */
function wholeUnits(wait: number) {
  if (wait === ENDLESS) return wait;
  const whole = Math.floor(wait);
  return wait === whole || (CLEAR < wait - whole && wait - whole < 1 - CLEAR) ? whole : wait;
}

/** The greatest time that all costs and the hop are multiples of; null where sums of them may round. */
function unitOf({ cost, costs, m }: Task) {
  const times = [...cost, costs.comm].map((time) => time * PARTS);
  const sum = times.reduce((a, b) => a + b, 0);
  if (!times.every(Number.isInteger) || sum * times.length * m > EXACT) return null;
  const unit = times.reduce(divisor);
  return unit ? unit / PARTS : null;
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
