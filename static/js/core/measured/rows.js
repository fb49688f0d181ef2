// The rows of a measured run: lists of whole numbers as the server sends them, decoded here by the names of their
// fields.

/** @typedef {"ops" | "copies" | "bytes" | "messages"} RowKind */
/** @typedef {Record<RowKind, string[]>} RowFields  the names of each kind's columns, in order */
/** @typedef {Partial<Record<RowKind, number[][]>>} EncodedRows */
/**
 * @typedef {{rank: number, index: number, ready: number, start: number, end: number, recv_wait: number}} OpRow index:
 *   in the rank's row; times in ns of the run's clock
 */
/**
 * @typedef {{rank: number, index: number, ready: number, start: number, end: number, bytes: number}} CopyRow index: in
 *   the rank's copy lane
 */
/** @typedef {{rank: number, index: number, received: number, sent: number, live: number}} BytesRow  bytes of an op */
/**
 * @typedef {{source: number, target: number, gradient: number, stage: number, micro: number, posted: number, asked:
 *   number, taken: number, bytes: number}} MessageRow gradient: 0 for activations; stage: the one that receives it;
 *   times in ns of the run's clock
 */
/** @typedef {{ops: OpRow[], copies: CopyRow[], bytes: BytesRow[], messages: MessageRow[]}} RunRows */

/** @type {RowFields} */
const FIELDS = {
  ops: ["rank", "index", "ready", "start", "end", "recv_wait"],
  copies: ["rank", "index", "ready", "start", "end", "bytes"],
  bytes: ["rank", "index", "received", "sent", "live"],
  messages: ["source", "target", "gradient", "stage", "micro", "posted", "asked", "taken", "bytes"],
};

/** @returns {RunRows} */
export const noRows = () => ({ ops: [], copies: [], bytes: [], messages: [] });

/**
 * Decode the rows of a run or of one of its batches; kinds that it lacks are empty. Spelled out by kind: long runs have
 * hundreds of thousands of rows.
 * @param {EncodedRows} encoded
 * @param {Partial<RowFields> | null} [fields] as the server states them
 * @returns {RunRows}
 */
export function decodeRows({ ops = [], copies = [], bytes = [], messages = [] }, fields) {
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

/** The column of each field. @param {string[]} names @returns {Record<string, number>} */
const columnsOf = (names) => Object.fromEntries(names.map((name, column) => [name, column]));
