// V-Min and V-Half: one micro-batch's ops on a V, repeated at a constant pace, and the order that follows at the costs.
//
// A block defines when F and I of one micro-batch run on every device, in slots of one op. The order takes the block's
// sequence at the given costs: every op as early as its inputs and the memory allow, and W in time that would otherwise
// be idle or where only a W makes room for the next F. The best of some tries is squeezed (squeeze.ts).
// The same sums in the same order as backend/schedule/search/building_block.py, so that orders are equal byte by byte.
//
// Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, sections 3 and 4.
import { meanTiming } from "../schedule/effective_costs.ts";
import { compile } from "./formula.ts";
import { KIND_F as F, KIND_I as I, codesPerRank } from "../schedule/ops.ts";
import { build } from "../schedule/placement.ts";
import { durations } from "../schedule/simulate.ts";
import { CHOICES, ENDLESS, different, waits, type Choice } from "./choices.ts";
import { spanOf, squeezed } from "./squeeze.ts";
import { unitOrder } from "./unit_slots.ts";
import type { BlockTable, Costs, Placement, Spec } from "../schedule/types.ts";
import type { Row } from "./table.ts";

export type Task = {
  p: number;
  m: number;
  v: number;
  chunks: number;
  placement: Placement;
  costs: Costs;
  /**
   * the memory limit in chunks; by row 3 * slot + kind: cost, the time of an op; feeds, the row that waits for its
   * result, -1 for none; lag, the delay until the result arrives there
   */
  room: number;
  cost: Float64Array;
  feeds: Int32Array;
  lag: Float64Array;
};
/** span: of the rank that takes longest. */
export type Laid = { span: number; rows: Row[] };

const CHUNKS = 2;
const WIDTH = 3 * CHUNKS; // rows of a rank
const PERIOD = 6; // slots after which the next micro-batch follows
const EFFORT = 4_000_000; // ops to construct over all tries, and to squeeze; large orders get fewer of both
const SQUEEZED = 24; // best orders, of those by all choices and the one in unit slots, that are squeezed
const SQUEEZE_OPS = 8; // ops that could be constructed in the time in which one is squeezed
const MOST_IN_UNIT_SLOTS = 200_000; // ops of an order that is also squeezed in unit slots

/** The slots of F and I of chunk 0, then of chunk 1, of every rank in turn. */
function dueOf({ due, let: given }: BlockTable, p: number) {
  const names = ["p", "r", ...given.map(([name]) => name)];
  const formulas = [...given.map(([, tree]) => tree), due.F0, due.I0, due.F1, due.I1].map((tree) =>
    compile(tree, names),
  );
  const slots = formulas.slice(-4);
  return Float64Array.from({ length: 4 * p }, (_, at) => {
    const values = [p, Math.floor(at / 4)];
    for (const formula of formulas.slice(0, -4)) values.push(formula(values));
    return slots[at % 4](values);
  });
}

/** The best order of a block, of those by all choices and the one in unit slots, within the block's peak. */
export function fromBlock(spec: Spec, block: BlockTable): Row[] {
  const due = dueOf(block, spec.p);
  const task = taskOf(spec, peak(due, spec.p));
  const ops = WIDTH * spec.p * spec.m;
  const most = Math.max(1, Math.floor(EFFORT / ops));
  /** Equal orders once. */
  const found = new Map<string, Laid>();
  for (const choice of different(task, CHOICES.slice(0, most))) {
    const laid = lay(task, due, choice);
    if (laid) found.set(textOf(laid.rows), laid);
  }
  if (ops <= MOST_IN_UNIT_SLOTS) {
    const rows = unitOrder(due, spec.m);
    found.set(textOf(rows), { span: spanOf(task, rows), rows });
  }
  const few = Math.min(SQUEEZED, Math.floor(EFFORT / (SQUEEZE_OPS * ops)));
  return squeezed(task, [...found.values()], Math.max(1, few));
}

const textOf = (rows: Row[]) => rows.map((row) => new TextDecoder("latin1").decode(row)).join("");

function taskOf(spec: Spec, room: number): Task {
  const { p, m, v } = spec;
  const placement = build("v", p, CHUNKS);
  const costs = { ...meanTiming(spec), lead: undefined }; // as if backwards waited for their gradient
  const took = durations({ p, chunks: CHUNKS, v, placement } as any, costs);
  const wide = codesPerRank(CHUNKS);
  const rows = p * WIDTH;
  const cost = Float64Array.from({ length: rows }, (_, row) => {
    const slot = Math.floor(row / 3);
    return took[Math.floor(slot / CHUNKS) * wide + (row % 3) * CHUNKS + (slot % CHUNKS)];
  });
  const feeds = Int32Array.from({ length: rows }, (_, row) => fed(placement, Math.floor(row / 3), row % 3));
  const lag = Float64Array.from(feeds, (to, row) =>
    to >= 0 && Math.floor(to / WIDTH) !== Math.floor(row / WIDTH) ? costs.comm : 0,
  );
  return { p, m, v, chunks: CHUNKS, placement, costs, room, cost, feeds, lag };
}

/** The row that waits for a row's result; an I's own W, which waits for nothing else, is left out. */
function fed({ prev, next }: Placement, slot: number, kind: number) {
  if (kind === F) return next[slot] < 0 ? 3 * slot + I : 3 * next[slot] + F;
  return kind === I && prev[slot] >= 0 ? 3 * prev[slot] + I : -1;
}

/**
 * The largest number of chunks in flight on any rank in the steady state, counted slot by slot; each W runs in the
 * first slot after its I that is free in every period.
 */
function peak(due: Float64Array, p: number) {
  let most = 0;
  for (let r = 0; r < p; r++) {
    const own = due.subarray(4 * r, 4 * r + 4);
    const taken = new Set(Array.from(own, (slot) => slot % PERIOD));
    const weights = [0, 0];
    for (const c of own[1] <= own[3] ? [0, 1] : [1, 0]) {
      let slot = own[2 * c + 1] + 1;
      while (taken.has(slot % PERIOD)) slot++;
      taken.add(slot % PERIOD);
      weights[c] = slot;
    }
    for (let slot = 0; slot < PERIOD; slot++) {
      const live = weights.map(
        (w, c) => Math.floor((slot - own[2 * c]) / PERIOD) - Math.floor((slot - w - 1) / PERIOD),
      );
      most = Math.max(most, live[0] + live[1]);
    }
  }
  return most;
}

/**
 * The order of a block by one choice; null for a deadlock, which is only possible for a block that is kept to its
 * sequence under a limit that it was not made for.
 */
function lay(task: Task, block: Float64Array, choice: Choice): Laid | null {
  const { p, m } = task;
  const due = block.slice();
  choice.move.forEach((slots, k) => {
    for (let at = k + 1; at < due.length; at += 2 * CHUNKS) due[at] += slots;
  });
  const rows = Array.from({ length: p }, () => new Uint8Array(WIDTH * m));
  const first = new Float64Array(p).fill(Infinity);
  const last = new Float64Array(p);
  if (fill(task, due, waits(task, choice), rows, first, last) < p * WIDTH * m) return null;
  return { span: first.reduce((most, from, r) => Math.max(most, last[r] - from), -Infinity), rows };
}

/** Let the device that is free first run the most overdue op that it can run, repeatedly; return how many ops ran. */
function fill(
  { p, m, cost, feeds, lag, room }: Task,
  due: Float64Array,
  hold: [number, number, number], // a choice's three waits, in time
  rows: Row[], // to fill
  first: Float64Array, // start of each rank, to fill
  last: Float64Array, // end
) {
  const came = new Float64Array(p * WIDTH * m).fill(Infinity);
  came.fill(0, 0, m);
  const turn = new Int32Array(p * WIDTH);
  const owed = new Int32Array(p * CHUNKS * m); // slots of the I's whose W is still to come, first in, first out
  const [made, paid, opened, step] = Array.from({ length: 4 }, () => new Int32Array(p));
  const [clock, wake, level] = Array.from({ length: 3 }, () => new Float64Array(p));
  for (let ran = 0; ;) {
    let r = 0;
    for (let each = 1; each < p; each++) if (wake[each] < wake[r]) r = each;
    const now = wake[r];
    if (now === Infinity) return ran;
    const waiting = made[r] - paid[r];
    const patience = hold[turn[r * WIDTH] === m ? 2 : 1];
    let [pick, pickLate, pickDue, begin] = [-1, Infinity, Infinity, Infinity];
    const left = room - level[r] - 1 + 1e-9;
    // an F of an early chunk leaves room for one of the last chunk, which alone leads to an I and so to room
    const tight = opened[r] === 0 && left + waiting < 1 && patience < ENDLESS;
    for (let row = r * WIDTH; row < (r + 1) * WIDTH; row++) {
      const k = turn[row];
      if (row % 3 === 2 || k >= m) continue;
      const barred = row % 3 === 0 && (left < 0 || (tight && row % WIDTH !== WIDTH - 3));
      const arrival = barred ? Infinity : came[row * m + k];
      const late = arrival > now + patience ? arrival : 0;
      const when = due[2 * Math.floor(row / 3) + (row % 3)] + PERIOD * k;
      if (late < pickLate || (late === pickLate && when < pickDue))
        [pick, pickLate, pickDue, begin] = [row, late, when, Math.max(arrival, now)];
    }
    if (waiting > 0 && begin > now + hold[0]) {
      pick = 3 * owed[r * CHUNKS * m + paid[r]++] + 2;
      begin = now;
    } else if (begin > now + patience || begin === Infinity) {
      wake[r] = begin;
      continue;
    }
    const [slot, kind, k] = [Math.floor(pick / 3), pick % 3, turn[pick]++];
    const end = begin + cost[pick];
    const isLast = slot % CHUNKS === CHUNKS - 1 ? 1 : 0;
    if (kind === F) {
      level[r] += 1;
      opened[r] += isLast;
    } else if (kind === I) {
      opened[r] -= isLast;
      owed[r * CHUNKS * m + made[r]++] = slot;
    } else level[r] -= 1;
    const to = feeds[pick];
    if (to >= 0) {
      came[to * m + k] = end + lag[pick];
      const other = Math.floor(to / WIDTH);
      wake[other] = Math.min(wake[other], Math.max(clock[other], end + lag[pick]));
    }
    rows[r][step[r]++] = kind * CHUNKS + (slot % CHUNKS);
    clock[r] = wake[r] = last[r] = end;
    first[r] = Math.min(first[r], begin);
    ran++;
  }
}
