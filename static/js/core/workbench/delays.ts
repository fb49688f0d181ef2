// The idle time of a position, gap by gap: forced, where nothing else of the rank could have run, or chosen, where an
// op that its row has later was ready and there was room for it.
import { KIND_F, kindOf } from "../schedule/ops.ts";
import { TimedDraft } from "./greedy.ts";
import { codeOf, effects, scheduleOf, timesOf, type Position } from "./position.ts";

type Gap = {
  rank: number;
  from: number;
  to: number;
  next: number; // the op that ends it
  instead: number; // the op that could have run, -1 where none could (a forced gap)
};

const DUST = 1e-9;

/** The gaps of all ranks before their last op, without the fill before their first. */
export function gapsOf(position: Position): Gap[] {
  const { board, rows } = position;
  const { offsets } = scheduleOf(position);
  const { times } = timesOf(position);
  const inputs = inputsOf(position);
  const { takes, gives } = effects(board);
  const most = board.limit === null ? Infinity : board.limit * board.v * (1 + DUST);
  const gaps: Gap[] = [];
  rows.forEach((row, rank) => {
    const coming = nextOfCodes(row);
    let level = 0;
    for (let at = 0; at < row.length && Number.isFinite(times.end[offsets[rank] + at]); at++) {
      const i = offsets[rank] + at;
      const from = at ? times.end[i - 1] : 0;
      const to = times.start[i];
      if (at && to > from + DUST * Math.max(1, to)) {
        const other = coming[at].find((index) => {
          const code = codeOf(row[index]);
          const fits = kindOf(code, board.chunks) !== KIND_F || level + takes[code] <= most;
          return index !== at && inputs[offsets[rank] + index] < to - DUST * Math.max(1, to) && fits;
        });
        gaps.push({ rank, from, to, next: row[at], instead: other === undefined ? -1 : row[other] });
      }
      level += takes[codeOf(row[at])] - gives[codeOf(row[at])];
    }
  });
  return gaps;
}

/** By place in a row: the next op of each code from there on. Returns indices. */
function nextOfCodes(row: Int32Array): number[][] {
  const next = new Map();
  const out: number[][] = new Array(row.length);
  for (let at = row.length - 1; at >= 0; at--) {
    next.set(codeOf(row[at]), at);
    out[at] = [...next.values()];
  }
  return out;
}

/** When the input of each op was there; of one that cannot run, Infinity. */
function inputsOf(position: Position) {
  const draft = new TimedDraft(position);
  return Float64Array.from(position.rows.flatMap((row, rank) => Array.from(row, (op) => draft.ready(rank, op))));
}

/** Idle time by cause. */
export function idleOf(position: Position) {
  let [forced, chosen] = [0, 0];
  for (const { from, to, instead } of gapsOf(position)) {
    if (instead < 0) forced += to - from;
    else chosen += to - from;
  }
  return { forced, chosen };
}
