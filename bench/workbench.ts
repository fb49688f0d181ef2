// Prints how long each step of the workbench takes on its largest board: p = 16, v = 8, m = 64, three ops a
// micro-batch and stage (24,576). Run: node tests/js/run.mjs bench/workbench.ts [rounds]
import { criticalPath } from "../static/js/core/explain/critical_path.ts";
import { whyIdle } from "../static/js/core/explain/why_idle.ts";
import { moveCost } from "../static/js/core/workbench/bound.ts";
import { canComplete } from "../static/js/core/workbench/completable.ts";
import { goOn, stamp } from "../static/js/core/workbench/continue.ts";
import { gapsOf } from "../static/js/core/workbench/delays.ts";
import { greedyStep } from "../static/js/core/workbench/greedy.ts";
import { hint, runUntilStrange } from "../static/js/core/workbench/hints.ts";
import { candidates } from "../static/js/core/workbench/legality.ts";
import { fromText, toText } from "../static/js/core/workbench/order_text.ts";
import {
  createBoard,
  cut,
  emptyPosition,
  onBoard,
  place,
  rewind,
  scheduleOf,
  timesOf,
  type Position,
} from "../static/js/core/workbench/position.ts";
import { forkOf, recognise, references } from "../static/js/core/workbench/references.ts";
import { scoreOf } from "../static/js/core/workbench/score.ts";
import { violations } from "../static/js/core/workbench/violations.ts";
import { DEFAULTS, UNIT } from "../tests/js/support/helpers.ts";
import type { Spec } from "../static/js/core/schedule/types.ts";

const ROUNDS = Number(process.argv[2] ?? 7);
const LIMIT = 50; // ms
const COSTS = { ...UNIT, I: 1.1, W: 0.9, comm: 0.05 };
const SPEC: Spec = { ...DEFAULTS, family: "imported", p: 16, m: 64, v: 8, seed: 0, costs: COSTS };

const board = createBoard(SPEC, "looped");
const whole = forkOf(board, "interleaved-zb");
const tight = createBoard({ ...SPEC, memory: Math.ceil(Math.max(scoreOf(whole).peak)) }, "looped");
const half = rewind(whole, timesOf(whole).times.makespan / 2);
const start = rewind(whole, timesOf(whole).times.makespan / 16);
const text = toText(whole);
/** A new object each time, so that nothing is remembered of it. */
const fresh = (position: Position) =>
  onBoard({ ...position, rows: position.rows.map((row) => row.slice()) }, position.board);

const STEPS = {
  "fork from a family": () => forkOf(createBoard(SPEC, "looped"), "interleaved-zb"),
  "place an op, with times": () =>
    timesOf(place(fresh(cut(whole, 3, whole.rows[3].length - 1)), 3, whole.rows[3][whole.rows[3].length - 1])),
  "legal ops of all ranks": () => {
    const position = fresh(half);
    for (let rank = 0; rank < 16; rank++) candidates(position, rank);
  },
  violations: () => violations(fresh(whole)),
  "can be completed": () => canComplete(fresh(half)),
  "can be completed, memory limit": () => canComplete(onBoard(fresh(half), tight)),
  "what a move costs": () => moveCost(fresh(half), 0, whole.rows[0][half.rows[0].length], false),
  "score of one op more": () => {
    const position = place(half, 0, whole.rows[0][half.rows[0].length]);
    return scoreOf(position);
  },
  "score, nothing remembered": () => scoreOf(fresh(whole)),
  recognise: () => recognise(fresh(whole), references(board)),
  "families' orders, nothing kept": () =>
    references(createBoard({ ...SPEC, costs: { ...COSTS, F: Math.random() } }, "looped")),
  "stamp a block": () =>
    stamp(
      fresh(start),
      start.rows.map((row, rank) => ({ rank, from: Math.max(0, row.length - 24), to: row.length })),
      3,
    ),
  "go on by the rule": () => goOn(fresh(half)),
  "hint from a reference": () => hint(fresh(half), { position: whole, title: "x" }),
  "next op by list scheduling": () => greedyStep(fresh(half)),
  "run until strange": () => runUntilStrange(fresh(half), whole, new Set()),
  "gaps, forced and chosen": () => gapsOf(fresh(whole)),
  "why a gap": () => {
    const position = fresh(whole);
    const { times } = timesOf(position);
    return whyIdle(scheduleOf(position), times, board.costs, 15, 0.01);
  },
  "critical path": () => {
    const position = fresh(whole);
    return criticalPath(scheduleOf(position), timesOf(position).times, board.costs);
  },
  "link: write": () => toText(fresh(whole)),
  "link: read": () => fromText(text, SPEC),
  "an empty board": () => candidates(emptyPosition(createBoard(SPEC, "looped")), 0),
};

let over = 0;
console.log(
  `${whole.count.toLocaleString("en")} ops, p 16, v 8, m 64; ms of processor time, ` +
    `median and worst of ${ROUNDS} after one to warm up`,
);
for (const [name, step] of Object.entries(STEPS)) {
  step();
  const times = Array.from({ length: ROUNDS }, () => {
    const from = process.cpuUsage();
    step();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1000;
  }).sort((a, b) => a - b);
  const [median, worst] = [times[ROUNDS >> 1], times[ROUNDS - 1]];
  if (median > LIMIT) over++;
  console.log(`${name.padEnd(34)} ${median.toFixed(1).padStart(7)} ${worst.toFixed(1).padStart(7)}`);
}
console.log(`link of the whole order: ${text.length} characters`);
console.log(over ? `${over} steps take more than ${LIMIT} ms` : `no step takes more than ${LIMIT} ms`);
process.exitCode = over ? 1 : 0;
