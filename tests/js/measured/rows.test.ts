// The rows of a measured run are decoded by the names of their fields.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeRows, noRows } from "../../../static/js/core/measured/rows.ts";

test("rows without stated fields have the fields of the protocol", () => {
  const rows = decodeRows({ ops: [[1, 2, 30, 40, 50, 6]], copies: [[1, 0, 7, 8, 9, 4096]] });
  assert.deepEqual(rows.ops, [{ rank: 1, index: 2, ready: 30, start: 40, end: 50, recv_wait: 6 }]);
  assert.deepEqual(rows.copies, [{ rank: 1, index: 0, ready: 7, start: 8, end: 9, bytes: 4096 }]);
  assert.deepEqual([rows.bytes, rows.messages], [[], []]);
});

test("rows are decoded by the stated fields, whatever their order and whatever fields are added", () => {
  const fields = { bytes: ["live", "new", "rank", "index", "sent", "received"] };
  const { bytes } = decodeRows({ bytes: [[900, 1, 2, 3, 16, 8]] }, fields);
  assert.deepEqual(bytes, [{ rank: 2, index: 3, received: 8, sent: 16, live: 900 }]);
});

test("a message has its ends, its kind and its times", () => {
  const { messages } = decodeRows({ messages: [[0, 1, 1, 2, 3, 10, 20, 30, 64]] });
  assert.deepEqual(messages[0], {
    source: 0,
    target: 1,
    gradient: 1,
    stage: 2,
    micro: 3,
    posted: 10,
    asked: 20,
    taken: 30,
    bytes: 64,
  });
});

test("a batch without rows decodes to none", () => {
  assert.deepEqual(decodeRows({}), noRows());
});
