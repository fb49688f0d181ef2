// Rows as texts of ops, as torch spells them ("0F0 0F1 0B0"): how tasks give their start and par.
import { emptyPosition, opOf, type Board, type Position } from "./position.ts";

const OP = /^(\d+)([FIWB])(\d+)$/;
const PAIR = /^\((\d+)F(\d+);(\d+)B(\d+)\)OVERLAP_F_B$/;

/** The op of a text on a rank; throws an Error where the rank has no such op. */
export function opOfText(board: Board, rank: number, text: string) {
  const { chunks } = board;
  const pair = PAIR.exec(text);
  if (pair) {
    const [chunk, k] = home(board, rank, Number(pair[1]), Number(pair[2]));
    const [back, other] = home(board, rank, Number(pair[3]), Number(pair[4]));
    return opOf(4 * chunks + chunk * chunks + back, k, other);
  }
  const op = OP.exec(text);
  if (!op) throw new Error(`${text} is no op`);
  const [chunk, k] = home(board, rank, Number(op[1]), Number(op[3]));
  return opOf("FIWB".indexOf(op[2]) * chunks + chunk, k);
}

/** The chunk of a stage on a rank, and the local number of a micro-batch. */
function home({ placement, chunks, n }: Board, rank: number, stage: number, micro: number): [number, number] {
  const stream = Math.floor(micro / n);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const slot = rank * chunks + chunk;
    if (placement.stage[slot] === stage && placement.stream[slot] === stream) return [chunk, micro - stream * n];
  }
  throw new Error(`rank ${rank} has no stage ${stage} of micro-batch ${micro}`);
}

/** The position of rows of texts; throws an Error for an op that is none. */
export function positionOfRows(board: Board, rows: string[]): Position {
  const found = emptyPosition(board).rows.map((_, rank) =>
    Int32Array.from((rows[rank] ?? "").split(" ").filter(Boolean), (text) => opOfText(board, rank, text)),
  );
  return { board, rows: found, count: found.reduce((sum, row) => sum + row.length, 0) };
}
