// Squeezes the order of a building block: ops move forward into idle time wherever the peak does not rise. The same as
// in backend/schedule/search/building_block.py.
import { fromRows } from "./from_rows.ts";
import { simulate } from "../schedule/simulate.ts";
import type { Laid, Task } from "./building_block.ts";
import type { Row } from "./table.ts";

type Timed = { rows: Row[]; start: Float64Array; end: Float64Array };

const ROUNDS = 6; // most squeezes of one order; usually nothing moves after two or three
const SWEEPS = 3;

/** The best of some orders, once the `most` best are squeezed; of equal ones the first. */
export function squeezed(task: Task, laid: Laid[], most: number) {
  const few = [...laid].sort((a, b) => a.span - b.span).slice(0, most);
  return few.map(({ rows }) => squeeze(task, rows)).reduce((best, each) => (each.span < best.span ? each : best)).rows;
}

/** The longest window of an order's ranks. */
export const spanOf = (task: Task, rows: Row[]) => times(task, rows).span;

/** Start and end of each op, and the longest window of a rank. */
function times(task: Task, rows: Row[]) {
  const { start, end } = simulate(fromRows(task.placement, task.m, task.v, rows), task.costs);
  const steps = rows[0].length;
  const span = rows.reduce((most, _, r) => Math.max(most, end[(r + 1) * steps - 1] - start[r * steps]), -Infinity);
  return { span, start, end };
}

/** Squeeze an order until nothing moves any more; return the best span and its rows. */
function squeeze(task: Task, rows: Row[]): Laid {
  let best = { span: Infinity, rows };
  for (let round = 0; round < ROUNDS; round++) {
    const { span, start, end } = times(task, rows);
    if (span < best.span) best = { span, rows };
    rows = rows.map((row) => row.slice());
    if (!sweep(task, { rows, start, end })) break;
  }
  return best;
}

/**
 * Move ops forward into idle time, from the last rank to the first; returns how many. No other op gets later, no F goes
 * where the level would pass the limit. The first sweep only records arrival times. Changes its rows and times.
 */
function sweep(task: Task, timed: Timed) {
  const { p, m, cost, feeds, lag, chunks } = task;
  const came = new Float64Array(p * 3 * chunks * m);
  const steps = timed.rows[0].length;
  const level = new Float64Array(steps + 1);
  let moved = 0;
  for (let pass = 0; pass < SWEEPS; pass++) {
    const turn = new Int32Array(p * 3 * chunks);
    for (let r = p - 1; r >= 0; r--) {
      for (let x = 0; x < steps; x++) {
        const code = timed.rows[r][x];
        const kind = Math.floor(code / chunks);
        const row = 3 * (r * chunks + (code % chunks)) + kind;
        const k = turn[row]++;
        level[x + 1] = level[x] + gain(kind);
        const arrival = came[row * m + k];
        const to = pass > 0 && cost[row] > 0 ? placeFor(task, timed, level, r, x, arrival) : { at: x, free: -1 };
        const begin = to.at < x ? to.free : timed.start[r * steps + x];
        if (to.at < x) {
          moved++;
          move(timed, level, r, x, to.at, begin, cost[row], chunks);
        }
        if (kind === 1) came[(row + 1) * m + k] = begin + cost[row];
        if (feeds[row] >= 0) came[feeds[row] * m + k] = begin + cost[row] + lag[row];
      }
    }
  }
  return moved;
}

/** What an op does to the number of chunks in flight. */
const gain = (kind: number) => (kind === 0 ? 1 : kind === 1 ? 0 : -1);

/** The earliest place in its rank's row where an op of `x` fits, and its start there. */
function placeFor(
  { cost, chunks, room }: Task,
  { rows, start, end }: Timed,
  level: Float64Array,
  r: number,
  x: number,
  arrival: number,
) {
  const code = rows[r][x];
  const forward = code < chunks;
  const span = cost[3 * (r * chunks + (code % chunks)) + Math.floor(code / chunks)];
  const from = r * rows[0].length;
  const found = { at: x, free: start[from + x] };
  for (let y = x - 1; y >= 0 && rows[r][y] !== code; y--) {
    if (start[from + y] < arrival + span || (forward && level[y + 1] + 1 > room + 1e-9)) break;
    const early = y > 0 ? Math.max(arrival, end[from + y - 1]) : arrival;
    if (early + span <= start[from + y] && (!forward || level[y] + 1 <= room + 1e-9)) {
      found.at = y;
      found.free = early;
    }
  }
  return found;
}

/** Take the op at `x` forward to `to`. */
function move(
  { rows, start, end }: Timed,
  level: Float64Array,
  r: number,
  x: number,
  to: number,
  begin: number,
  span: number,
  chunks: number,
) {
  const row = rows[r];
  const from = r * row.length;
  const code = row[x];
  row.copyWithin(to + 1, to, x);
  start.copyWithin(from + to + 1, from + to, from + x);
  end.copyWithin(from + to + 1, from + to, from + x);
  row[to] = code;
  start[from + to] = begin;
  end[from + to] = begin + span;
  for (let z = to; z <= x; z++) level[z + 1] = level[z] + gain(Math.floor(row[z] / chunks));
}
