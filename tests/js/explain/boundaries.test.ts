// What crosses the boundaries between stages, counted for every kind of placement.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crossings } from "../../../static/js/core/explain/boundaries.ts";
import { messagesOf } from "../../../static/js/core/timeline/message_flow.ts";
import { schedule } from "../support/helpers.ts";
import type { PlacementKind } from "../../../static/js/core/schedule/types.ts";

/** All forwards, then all backwards, of every chunk: complete, if not able to run. n: micro-batches of a slot. */
function filled(kind: PlacementKind, p: number, chunks: number, n: number, inference = false) {
  const streams = kind === "bidirectional" ? 2 : 1;
  const each = Array.from({ length: chunks }, (_, chunk) => new Array(n).fill(chunk)).flat();
  const row = inference ? each : [...each, ...each.map((chunk) => 3 * chunks + chunk)];
  return schedule(
    kind,
    chunks,
    n * streams,
    Array.from({ length: p }, () => row),
  );
}

for (const [kind, chunks] of [
  ["looped", 1],
  ["looped", 2],
  ["looped", 5],
  ["v", 2],
  ["v", 3],
  ["bidirectional", 2],
] as [PlacementKind, number][]) {
  for (const p of [2, 4, 6]) {
    for (const inference of [false, true]) {
      const name = `${kind} p ${p} chunks ${chunks}${inference ? " forward only" : ""}`;
      test(`the messages of a micro-batch times m are all messages: ${name}`, () => {
        const order = filled(kind, p, chunks, 3, inference);
        const found = crossings(order);
        assert.equal(found.perMicro * order.m, messagesOf(order).count);
        assert.equal(found.line, (inference ? 1 : 2) * (p - 1));
        const stages = kind === "bidirectional" ? p : p * chunks;
        assert.equal(found.crossing + found.turns, stages - 1);
      });
    }
  }
}

test("v chunks in a loop send more than v times as much, by the hops from the last device to the first", () => {
  const { perMicro, line, wraps, turns } = crossings(filled("looped", 4, 2, 3));
  assert.deepEqual([perMicro, line, wraps, turns], [14, 6, 1, 0]);
  assert.ok(perMicro / line > 2);
});

test("a V turns on one device, so v chunks send v times as much", () => {
  const { perMicro, line, wraps, turns } = crossings(filled("v", 4, 2, 3));
  assert.deepEqual([perMicro, line, wraps, turns], [12, 6, 0, 1]);
});

test("only where a stage is on two devices are there replicas, and none without gradients", () => {
  assert.deepEqual(crossings(filled("bidirectional", 4, 2, 3)).replicas, [0, 3]);
  assert.equal(crossings(filled("bidirectional", 4, 2, 3, true)).replicas, null);
  assert.equal(crossings(filled("looped", 4, 2, 3)).replicas, null);
});

test("one device sends nothing", () => {
  const { perMicro, turns, wraps } = crossings(filled("looped", 1, 3, 2));
  assert.deepEqual([perMicro, turns, wraps], [0, 2, 0]);
});
