// Tests of measured bytes and messages: the op or message of each row, and what is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeRows } from "../../../static/js/core/measured/rows.ts";
import { noDetails, sidesOf, wasAwaited, withRows } from "../../../static/js/core/measured/run_details.ts";
import { alive } from "../../../static/js/core/measured/live_memory.ts";
import { makers } from "../../../static/js/core/schedule/dependencies.ts";
import { messagesOf } from "../../../static/js/core/timeline/message_flow.ts";
import { opText } from "../../../static/js/core/schedule/ops.ts";
import { formatBytes } from "../../../static/js/core/i18n/numbers.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { levelAt } from "../../../static/js/core/timeline/memory_strips.ts";
import { DEFAULTS, UNIT, breadthFirst, oneFOneB, schedule, seeded, spread } from "../support/helpers.ts";
import type { Schedule } from "../../../static/js/core/schedule/types.ts";

/** Two ranks, both directions, an overlapped pair on each. */
const bidirectional = () =>
  schedule("bidirectional", 2, 4, [
    [0, 0, 1, 10, 6, 7, 7],
    [1, 1, 0, 9, 7, 6, 6],
  ]);

/** The row of each message, from the text of the op that takes it. */
function rowsOf(order: Schedule): number[][] {
  const { taker, gradient, from, to, count } = messagesOf(order);
  return Array.from({ length: count }, (_, at) => {
    const texts = opText(order, taker[at]).match(/\d+[FIB]\d+/g) ?? [];
    const text = texts.find((each) => each.includes("F") !== (gradient[at] === 1)) ?? "";
    const [stage, micro] = text.split(/[FIB]/).map(Number);
    return [from[at], to[at], gradient[at], stage, micro, 1000 * at, 1000 * at + 7, 1000 * at + 9, 64 + at];
  });
}

for (const [name, order] of Object.entries({
  "1F1B": oneFOneB(4, 6),
  "two chunks": breadthFirst(2, 4, 2),
  "two directions": bidirectional(),
})) {
  test(`every message of a run is found by its stage and micro-batch: ${name}`, () => {
    const rows = rowsOf(order);
    assert.equal(rows.length, 2 * order.n * order.placement.prev.filter((slot) => slot >= 0).length);
    const found = withRows(order, noDetails(order), decodeRows({ messages: rows }));
    assert.deepEqual(
      [...found.size],
      rows.map((_, at) => 64 + at),
    );
    assert.deepEqual(
      [...found.taken],
      rows.map((_, at) => 1000 * at + 9),
    );
  });
}

test("rows of ops and messages that the order does not have are skipped", () => {
  const order = oneFOneB(2, 2);
  const none = noDetails(order);
  const wrong = [
    [0, 1, 0, 2, 0, 1, 2, 3, 4],
    [0, 1, 0, 1, 2, 1, 2, 3, 4],
    [1, 0, 0, 1, 0, 1, 2, 3, 4],
    [0, 1, 0, -1, 0, 1, 2, 3, 4],
    [0, 1, 0, 0, 0, 1, 2, 3, 4],
    [0, 1, 1, 1, 0, 1, 2, 3, 4],
  ];
  const found = withRows(
    order,
    none,
    decodeRows({
      messages: wrong,
      bytes: [
        [2, 0, 1, 2, 3],
        [0, 4, 1, 2, 3],
        [0, -1, 1, 2, 3],
        [-1, 0, 1, 2, 3],
      ],
    }),
  );
  for (const values of Object.values(found)) assert.ok(values.every(Number.isNaN));
  assert.notEqual(found, none, "what was read off the old ones is read again");
});

test("ops that meet at a barrier are not among a run's messages", () => {
  const order = spread(1);
  const { forward } = makers(order);
  const found = withRows(order, noDetails(order), decodeRows({ messages: [[0, 1, 0, 1, 0, 1, 2, 3, 64]] }));
  const { giver, taker } = messagesOf(order);
  const known = [...found.size].flatMap((size, at) => (size === 64 ? [[giver[at], taker[at]]] : []));
  assert.deepEqual(known, [[forward[0], forward[order.n]]]);
});

test("an awaited message is drawn until its arrival, another where it was posted and where it was requested", () => {
  const order = oneFOneB(2, 2);
  const found = withRows(
    order,
    noDetails(order),
    decodeRows({
      messages: [
        [0, 1, 0, 1, 0, 100, 10, 130, 8], // the receiver stood waiting
        [0, 1, 0, 1, 1, 200, 900, 905, 8], // it had come long before
        [1, 0, 1, 0, 0, 400, 450, 500, 8],
      ],
    }),
  ); // asked for on its way
  const [early, there, onWay] = [100, 200, 400].map((posted) => found.posted.indexOf(posted));
  assert.deepEqual(
    [early, there, onWay].map((at) => wasAwaited(found, at)),
    [true, false, true],
  );
  const { sent, received } = sidesOf(order, found);
  const bars = (side: typeof sent, rank: number) =>
    [...side.list.subarray(side.offsets[rank], side.offsets[rank + 1])].map((at) => [side.begin(at), side.end(at)]);
  assert.deepEqual(
    [bars(sent, 0), bars(sent, 1)],
    [
      [
        [100, 130],
        [200, 200],
      ],
      [[400, 500]],
    ],
  );
  assert.deepEqual(
    [bars(received, 0), bars(received, 1)],
    [
      [[450, 500]],
      [
        [10, 130],
        [900, 905],
      ],
    ],
  );
  assert.deepEqual([sent.longest, received.longest], [100, 120]);
});

test("the messages of a rank are sorted by start, in whatever order they were reported", () => {
  const order = oneFOneB(3, 9);
  const random = seeded(3);
  const rows = rowsOf(order).map((row) => {
    row[5] = Math.floor(random() * 1000);
    row[6] = Math.floor(random() * 1000);
    row[7] = 2000;
    return row;
  });
  let found = noDetails(order);
  for (const row of rows.sort(() => random() - 0.5)) found = withRows(order, found, decodeRows({ messages: [row] }));
  for (const side of Object.values(sidesOf(order, found))) {
    assert.equal(side.list.length, rows.length);
    for (let rank = 0; rank < 3; rank++) {
      for (let k = side.offsets[rank] + 1; k < side.offsets[rank + 1]; k++)
        assert.ok(side.begin(side.list[k - 1]) <= side.begin(side.list[k]));
    }
  }
});

test("live bytes rise at an op's start and fall at its end; the peaks of run and plan are equally high", () => {
  const order = oneFOneB(2, 2); // 0F0 0F1 0B0 0B1; 1F0 1B0 1F1 1B1
  const times = simulate(order, UNIT);
  const spec = { ...DEFAULTS, p: 2, m: 2 };
  assert.equal(alive(order, times, spec, null), null);
  assert.equal(alive(order, times, spec, noDetails(order)), null, "nothing was measured");
  const found = withRows(
    order,
    noDetails(order),
    decodeRows({
      bytes: [
        [0, 0, 0, 8, 100],
        [0, 1, 0, 8, 220],
        [0, 2, 8, 0, 100],
        [0, 3, 8, 0, 0],
        [1, 0, 8, 0, 300],
        [1, 1, 0, 8, 0],
      ],
    }),
  );
  const real = alive(order, times, spec, found);
  assert.ok(real);
  const [first, second, third] = [0, 1, 2].map((i) => times.start[i]);
  assert.deepEqual([...real.steps[0].t], [first, second, times.end[2], times.end[3]]);
  assert.deepEqual(
    [
      levelAt(real.steps[0], first),
      levelAt(real.steps[0], second),
      levelAt(real.steps[0], third),
      levelAt(real.steps[0], 99),
    ],
    [100, 220, 220, 0],
  );
  assert.deepEqual([[...real.peaks], real.unit], [[220, 300], 150]);
  const live = alive(order, { ...times, end: times.end.map((end, i) => (i > 0 ? Infinity : end)) }, spec, found);
  assert.deepEqual([...(live?.steps[0].y ?? [])], [100], "only ops that have ended count");
});

test("bytes are written with three digits in a suitable unit", () => {
  assert.deepEqual([0, 999, 1000, 66_304, 999_999, 1.0563e6, 8e10].map(formatBytes), [
    "0 B",
    "999 B",
    "1 kB",
    "66.3 kB",
    "1 MB",
    "1.06 MB",
    "80 GB",
  ]);
});
