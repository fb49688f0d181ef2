// Tests of the placement of stages on ranks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { build } from "../../../static/js/core/schedule/placement.ts";
import type { PlacementKind } from "../../../static/js/core/schedule/types.ts";

test("a looped placement puts stage chunk * p + rank on each rank", () => {
  const { stage, stages } = build("looped", 3, 2);
  assert.deepEqual([...stage], [0, 3, 1, 4, 2, 5]);
  assert.equal(stages, 6);
});

test("a V turns on the last rank and ends on the first", () => {
  const { stage, prev, next } = build("v", 3, 2);
  assert.deepEqual([...stage], [0, 5, 1, 4, 2, 3]);
  assert.equal(next[4], 5); // slots of the last rank: chunk 0 hands to chunk 1
  assert.equal(prev[1], 3); // the last stage, on rank 0, follows the one on rank 1
});

test("a bidirectional placement holds two replicas that run against each other", () => {
  const { stage, stream, stages, streams, next } = build("bidirectional", 4, 2);
  assert.deepEqual([...stage], [0, 3, 1, 2, 2, 1, 3, 0]);
  assert.deepEqual([...stream], [0, 1, 0, 1, 0, 1, 0, 1]);
  assert.deepEqual([stages, streams], [4, 2]);
  assert.equal(next[7], 5); // stream 1 starts on rank 3 and goes down the ranks
});

test("a custom placement has each stage on its rank, and no stage in slots that a rank lacks", () => {
  const { stage, prev, next, stages } = build("custom", 2, 3, [0, 1, 1, 0, 1]);
  assert.deepEqual([...stage], [0, 3, -1, 1, 2, 4]);
  assert.deepEqual([...next], [3, 5, -1, 4, 1, -1]);
  assert.deepEqual([...prev], [-1, 4, -1, 0, 3, 1]);
  assert.equal(stages, 5);
  assert.throws(() => build("custom", 2, 1, [0, 1, 1]), /ranks/);
  assert.throws(() => build("custom", 3, 2, [0, 1, 1]), /ranks/);
});

const many: [PlacementKind, number, number][] = [
  ["looped", 1, 1],
  ["looped", 5, 3],
  ["v", 4, 2],
  ["v", 3, 3],
  ["bidirectional", 6, 2],
];
for (const [kind, p, chunks] of many) {
  const shape = `${kind} ${p} x ${chunks}`;
  test(`following next through ${shape} visits every stage of a stream in model order, and prev undoes it`, () => {
    const placement = build(kind, p, chunks);
    let visited = 0;
    placement.prev.forEach((before, first) => {
      if (before >= 0) return;
      for (let slot = first, s = 0; slot >= 0; slot = placement.next[slot], s++, visited++) {
        assert.equal(placement.stage[slot], s);
        assert.equal(placement.stream[slot], placement.stream[first]);
        if (placement.next[slot] >= 0) assert.equal(placement.prev[placement.next[slot]], slot);
      }
    });
    assert.equal(visited, p * chunks);
  });
}

test("an unknown kind is refused", () => {
  assert.throws(() => build("ring" as any, 2, 1), /unknown placement "ring"/);
});
