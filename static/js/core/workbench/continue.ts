// Moves of many ops at once: a block copied for the next micro-batches, and each rank going on by the pattern at the
// end of its row. Both place op by op, as far as each op is legal.
import { Draft, NONE } from "./draft.ts";
import { reasonAgainst, type Reason } from "./legality.ts";
import { codeOf, scheduleOf, timesOf, type Position } from "./position.ts";

type Stop = { rank: number; op: number; reason: Reason };
/** stops: where ranks could not go on, with the reason of each. */
export type Continued = { position: Position; placed: number; stops: Stop[] };
/** Ops [from, to) of a rank's row. */
type Block = { rank: number; from: number; to: number };

/** Place each rank's next op, rank after rank, until none can go on. */
function inTurns(
  position: Position,
  nextOf: (draft: Draft, rank: number) => number, // the op that a rank has to do next; NONE when it is through
  placed: (rank: number) => void, // called for each op that is placed
): Continued {
  const { p } = position.board;
  const draft = new Draft(position);
  for (let moved = true; moved;) {
    moved = false;
    for (let rank = 0; rank < p; rank++) {
      for (let op = nextOf(draft, rank); op !== NONE && draft.allows(rank, op); op = nextOf(draft, rank)) {
        draft.push(rank, op);
        placed(rank);
        moved = true;
      }
    }
  }
  const reached = draft.count === position.count ? position : draft.position();
  const stops: Stop[] = [];
  for (let rank = 0; rank < p; rank++) {
    const op = nextOf(draft, rank);
    const reason = op === NONE ? null : reasonAgainst(reached, rank, op);
    if (reason) stops.push({ rank, op, reason });
  }
  return { position: reached, placed: draft.count - position.count, stops };
}

/**
 * The next op of the code at a place of a list; a code that has no micro-batch left is passed over. at: by rank, moved
 * past those; end: where the list of codes, repeated, ends.
 */
function nextInList(draft: Draft, rank: number, codes: number[], at: Int32Array, end: number) {
  for (let tries = 0; tries < codes.length && at[rank] < end; tries++, at[rank]++) {
    const op = draft.next(rank, codes[at[rank] % codes.length]);
    if (op !== NONE) return op;
  }
  return NONE;
}

/** Copy a block of ops for the next micro-batches, several times over. blocks: at most one a rank. */
export function stamp(position: Position, blocks: Block[], copies = 1): Continued {
  const codes = position.rows.map((row, rank) => {
    const block = blocks.find((each) => each.rank === rank);
    return block ? Array.from(row.subarray(block.from, block.to), codeOf) : [];
  });
  const at = new Int32Array(codes.length);
  return inTurns(
    position,
    (draft, rank) => nextInList(draft, rank, codes[rank], at, copies * codes[rank].length),
    (rank) => at[rank]++,
  );
}

/**
 * The pattern at the end of a row: the block of codes that, repeated, covers most of the row's end, at least twice; of
 * several the shortest. A row whose last ops never repeat has none. Returns codes.
 */
export function patternOf(row: Int32Array): number[] {
  const codes = Array.from(row, codeOf);
  const n = codes.length;
  let best = 0;
  let covered = 0;
  for (let q = 1; 2 * q <= n; q++) {
    let from = n - 1;
    while (from >= q && codes[from] === codes[from - q]) from--;
    const length = n - 1 - from + q;
    if (length >= 2 * q && length > covered) [best, covered] = [q, length];
  }
  return best ? codes.slice(n - best) : [];
}

/**
 * Go on by the rule: each rank repeats the pattern at the end of its row. An op of it that has no micro-batch left is
 * passed over, so that a pattern "F B" ends in backwards alone.
 */
export function goOn(position: Position): Continued {
  const patterns = position.rows.map(patternOf);
  const at = new Int32Array(patterns.length);
  return inTurns(
    position,
    (draft, rank) => nextInList(draft, rank, patterns[rank], at, Infinity),
    (rank) => at[rank]++,
  );
}

/** The ops of some ranks whose middle is within a stretch of time: of each rank those that follow one another. */
export function blocksWithin(
  position: Position,
  { t0, t1, first, last }: { t0: number; t1: number; first: number; last: number }, // ranks first to last
): Block[] {
  const { times } = timesOf(position);
  const { offsets, p } = scheduleOf(position);
  const inside = (i: number) => {
    const middle = (times.start[i] + times.end[i]) / 2;
    return middle >= t0 && middle <= t1;
  };
  const blocks: Block[] = [];
  for (let rank = Math.max(0, first); rank <= Math.min(last, p - 1); rank++) {
    let from = offsets[rank];
    while (from < offsets[rank + 1] && !inside(from)) from++;
    let to = from;
    while (to < offsets[rank + 1] && inside(to)) to++;
    if (to > from) blocks.push({ rank, from: from - offsets[rank], to: to - offsets[rank] });
  }
  return blocks;
}
