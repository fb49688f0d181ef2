// The rows of a measured run: lists of whole numbers as the server sends them, decoded here by the names of their
// fields.

type RowKind = "ops" | "copies" | "bytes" | "messages";
/** The names of each kind's columns, in order. */
export type RowFields = Record<RowKind, string[]>;
export type EncodedRows = Partial<Record<RowKind, number[][]>>;
export type OpRow = {
  rank: number;
  index: number; // in the rank's row; times in ns of the run's clock
  ready: number;
  start: number;
  end: number;
  recv_wait: number;
};
export type CopyRow = {
  rank: number;
  index: number; // in the rank's copy lane
  ready: number;
  start: number;
  end: number;
  bytes: number;
};
/** Bytes of an op. */
export type BytesRow = { rank: number; index: number; received: number; sent: number; live: number };
export type MessageRow = {
  source: number;
  target: number;
  gradient: number; // 0 for activations
  stage: number; // the one that receives it; times in ns of the run's clock
  micro: number;
  posted: number;
  asked: number;
  taken: number;
  bytes: number;
};
export type RunRows = { ops: OpRow[]; copies: CopyRow[]; bytes: BytesRow[]; messages: MessageRow[] };

const FIELDS: RowFields = {
  ops: ["rank", "index", "ready", "start", "end", "recv_wait"],
  copies: ["rank", "index", "ready", "start", "end", "bytes"],
  bytes: ["rank", "index", "received", "sent", "live"],
  messages: ["source", "target", "gradient", "stage", "micro", "posted", "asked", "taken", "bytes"],
};

export const noRows = (): RunRows => ({ ops: [], copies: [], bytes: [], messages: [] });

/**
 * Decode the rows of a run or of one of its batches; kinds that it lacks are empty. Spelled out by kind: long runs have
 * hundreds of thousands of rows.
 */
export function decodeRows(
  { ops = [], copies = [], bytes = [], messages = [] }: EncodedRows,
  fields?: Partial<RowFields> | null, // as the server states them
): RunRows {
  const names = { ...FIELDS, ...fields };
  const op = columnsOf(names.ops);
  const copy = columnsOf(names.copies);
  const size = columnsOf(names.bytes);
  const message = columnsOf(names.messages);
  return {
    ops: ops.map((row) => ({
      rank: row[op.rank],
      index: row[op.index],
      ready: row[op.ready],
      start: row[op.start],
      end: row[op.end],
      recv_wait: row[op.recv_wait],
    })),
    copies: copies.map((row) => ({
      rank: row[copy.rank],
      index: row[copy.index],
      ready: row[copy.ready],
      start: row[copy.start],
      end: row[copy.end],
      bytes: row[copy.bytes],
    })),
    bytes: bytes.map((row) => ({
      rank: row[size.rank],
      index: row[size.index],
      received: row[size.received],
      sent: row[size.sent],
      live: row[size.live],
    })),
    messages: messages.map((row) => ({
      source: row[message.source],
      target: row[message.target],
      gradient: row[message.gradient],
      stage: row[message.stage],
      micro: row[message.micro],
      posted: row[message.posted],
      asked: row[message.asked],
      taken: row[message.taken],
      bytes: row[message.bytes],
    })),
  };
}

/** The column of each field. */
const columnsOf = (names: string[]): Record<string, number> =>
  Object.fromEntries(names.map((name, column) => [name, column]));
