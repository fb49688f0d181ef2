// The score of a position: makespan, bubble, memory, messages, and how short a rule can describe it.
import { memoized } from "../memoized.ts";
import { KIND_F, KIND_I, KIND_PAIR, KIND_W, chunkOf, kindOf } from "../schedule/ops.ts";
import { figures } from "../schedule/metrics.ts";
import { codeOf, firstOf, halvesOf, scheduleOf, secondOf, tablesOf, timesOf, type Position } from "./position.ts";

export type Score = {
  makespan: number;
  bubble: number; // of the step
  peak: number; // memory of the fullest rank, in micro-batches' activations on a device
  messages: number;
  simplicity: number; // the length of the shortest rule in symbols (ruleLength)
};

/** A position that is not whole is scored by what can run so far. */
export const scoreOf = memoized(makeScore);

function makeScore(position: Position): Score {
  const { makespan, bubble } = figures(scheduleOf(position), timesOf(position).times);
  const { peak } = tablesOf(position);
  return {
    makespan,
    bubble: bubble.global.ofTotal,
    peak: peak.reduce((most, each) => Math.max(most, each), 0) / position.board.v,
    messages: messagesOf(position),
    simplicity: position.rows.reduce((sum, row) => sum + ruleLength(row, position.board.chunks), 0),
  };
}

/** Outputs and gradients that are sent to another rank. */
function messagesOf({ board, rows }: Position) {
  const { placement, chunks } = board;
  const apart = (to: number, rank: number) => to >= 0 && Math.floor(to / chunks) !== rank;
  let count = 0;
  rows.forEach((row, rank) => {
    const sends = new Map(); // by code
    for (const op of row) {
      const code = codeOf(op);
      if (!sends.has(code))
        sends.set(
          code,
          halvesOf(board, rank, op).filter(
            ({ kind, slot }) =>
              kind !== KIND_W && apart(kind === KIND_F ? placement.next[slot] : placement.prev[slot], rank),
          ).length,
        );
      count += sends.get(code);
    }
  });
  return count;
}

/**
 * How many symbols the shortest rule of a row has. A rule is a list of blocks: a block of ops done once counts its ops,
 * a block repeated k > 1 times its ops and one for the number; "F F F B B B" is 3 x F, 3 x B: 4 symbols. Micro-batches
 * that follow by counting are left out; in a row of others an op is told from another by its step to the next one.
 */
export const ruleLength = memoized((row: Int32Array, chunks: number) =>
  shortest(isCounted(row, chunks) ? Uint16Array.from(row, codeOf) : stepped(row)),
);

/** Whether every op of a row has the micro-batch that follows by counting (core/schedule/ops.ts). */
function isCounted(row: Int32Array, chunks: number) {
  const done = new Int32Array(2 * chunks); // F's, then gradients, by chunk
  const weights = new Int32Array(chunks);
  const split: number[][] = Array.from({ length: chunks }, () => []);
  for (const op of row) if (kindOf(codeOf(op), chunks) === KIND_I) split[codeOf(op) % chunks].push(firstOf(op));
  return row.every((op) => {
    const code = codeOf(op);
    const kind = kindOf(code, chunks);
    const back = code % chunks;
    if (kind === KIND_W) return split[back][weights[back]++] === firstOf(op);
    if (kind === KIND_F) return done[back]++ === firstOf(op);
    if (kind !== KIND_PAIR) return done[chunks + back]++ === firstOf(op);
    return done[chunkOf(code, chunks)]++ === firstOf(op) && done[chunks + back]++ === secondOf(op);
  });
}

/** Numbers for ops by their code and the step from the last micro-batch of that code. */
function stepped(row: Int32Array) {
  const last = new Map();
  const numbers = new Map();
  return Uint16Array.from(row, (op) => {
    const code = codeOf(op);
    const [first, second] = last.get(code) ?? [-1, -1];
    last.set(code, [firstOf(op), secondOf(op)]);
    const symbol = `${code}/${firstOf(op) - first}/${secondOf(op) < 0 ? "" : secondOf(op) - second}`;
    if (!numbers.has(symbol)) numbers.set(symbol, numbers.size);
    return numbers.get(symbol);
  });
}

/** A stretch [from, to) of a row that repeats its first q ops. */
type Run = {
  q: number;
  from: number;
  to: number;
  before: Int32Array; // by place modulo q, the least cost before the copies that end there
};

/**
 * The least cost of each prefix: one more op than the prefix before, or q ops and a number after a prefix that ends
 * where at least two copies of the last q ops begin.
 */
function shortest(codes: Uint16Array) {
  const n = codes.length;
  const cost = new Int32Array(n + 1);
  const runs = runsOf(codes).sort((a, b) => a.from + 2 * a.q - (b.from + 2 * b.q));
  let active: Run[] = [];
  let coming = 0;
  for (let i = 1; i <= n; i++) {
    let best = cost[i - 1] + 1;
    while (coming < runs.length && runs[coming].from + 2 * runs[coming].q <= i) active.push(runs[coming++]);
    let over = false;
    for (const { q, from, to, before } of active) {
      if (i > to) {
        over = true;
        continue;
      }
      const at = (i - from) % q;
      // two copies begin anew, or one more continues those that ended q ops ago
      const two = cost[i - 2 * q];
      before[at] = i - from >= 3 * q ? Math.min(two, before[at]) : two;
      if (before[at] + q + 1 < best) best = before[at] + q + 1;
    }
    if (over) active = active.filter(({ to }) => to >= i);
    cost[i] = best;
  }
  return cost[n];
}

/** All stretches of at least two copies of a block, without those that repeat a part of their block as well. */
function runsOf(codes: Uint16Array): Run[] {
  const n = codes.length;
  /** By period. */
  const found: Run[][] = [[]];
  for (let q = 1; 2 * q <= n; q++) {
    const runs: Run[] = [];
    // q ops in a row that equal those q before them have one among them whose place is a multiple of q
    for (let check = q; check < n; check += q) {
      if (codes[check] !== codes[check - q]) continue;
      let [from, to] = [check, check + 1];
      while (from > q && codes[from - 1] === codes[from - 1 - q]) from--;
      while (to < n && codes[to] === codes[to - q]) to++;
      if (to - from >= q && !isPart(found, q, from - q, to))
        runs.push({ q, from: from - q, to, before: new Int32Array(q) });
      while (check + q < to) check += q; // the rest of this stretch
    }
    found.push(runs);
  }
  return found.flat();
}

/** Whether a stretch is one of a shorter block, of which its own is a multiple: that one is never longer to tell. */
function isPart(found: Run[][], q: number, from: number, to: number) {
  for (let d = 1; 2 * d <= q; d++)
    if (q % d === 0 && found[d].some((run) => run.from <= from && run.to >= to)) return true;
  return false;
}
