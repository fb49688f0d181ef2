// A building block's drawing as data: its ops, their positions, and the sentences about them.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arithmetic,
  beside,
  geometry,
  hit,
  livesOf,
  microName,
  opsOf,
  remark,
  rowSizes,
  say,
  spanOf,
  unitsOf,
  windowOf,
  xOf,
  yOf,
} from "../../../static/js/core/drawing/building_block.ts";

type Answer = import("../../../static/js/core/drawing/building_block.ts").Answer;

/** V-Min on two devices, as the server gives it. */
const V_MIN: Answer = {
  family: "v-min",
  p: 2,
  chunks: 2,
  placement: "v",
  backward: "split",
  block: {
    period: 6,
    slots: [
      [
        [0, 7, 8],
        [3, 4, 5],
      ],
      [
        [1, 6, 10],
        [2, 5, 9],
      ],
    ],
    lifespan: [12, 18],
  },
  memory: [2, 3],
  peaks: [2, 4],
  peak: 4,
  sentence: "",
  note: "",
};
/** 1F1B on three. */
const ONE_F_ONE_B: Answer = {
  family: "1f1b",
  p: 3,
  chunks: 1,
  placement: "looped",
  backward: "full",
  block: { period: 3, slots: [[[0, 7, 8]], [[1, 5, 6]], [[2, 3, 4]]], lifespan: [9, 6, 3] },
  memory: [3, 2, 1],
  peaks: [3, 2, 1],
  peak: 3,
  sentence: "",
  note: "",
};

test("a rank's ops are in order of time, with the stage of their chunk", () => {
  const row = opsOf(V_MIN)[1];
  assert.deepEqual(
    row.map(({ slot }) => slot),
    [1, 2, 5, 6, 9, 10],
  );
  assert.deepEqual(
    row.map(({ stage }) => stage),
    [1, 2, 2, 1, 2, 1],
  );
});

test("a full backward is one op of two slots", () => {
  assert.deepEqual(
    opsOf(ONE_F_ONE_B)[0].map(({ kind, slot, length }) => [kind, slot, length]),
    [
      [0, 0, 1],
      [3, 7, 2],
    ],
  );
});

test("the window is the block with a period before and after; a chunk's slot is a fraction of a device's", () => {
  assert.deepEqual(windowOf(V_MIN), { from: -6, to: 17 });
  assert.equal(unitsOf(V_MIN), 23 / 2);
  assert.equal(unitsOf(ONE_F_ONE_B), 15);
});

test("copies fill every slot of the window exactly once", () => {
  for (const answer of [V_MIN, ONE_F_ONE_B]) {
    const at = geometry(answer, 10);
    for (const row of opsOf(answer)) {
      const taken = new Map();
      for (const op of row) {
        for (let k = -at.copies; k <= at.copies; k++) {
          const span = spanOf(at, op, k * answer.block.period);
          for (let x = span?.x ?? 0; span && x < span.x + span.w; x += at.px) taken.set(x, (taken.get(x) ?? 0) + 1);
        }
      }
      assert.equal(taken.size, at.to - at.from);
      assert.ok([...taken.values()].every((times) => times === 1));
    }
  }
});

test("a position gives the op drawn there, with its micro-batch, and the lifespan below it", () => {
  const at = geometry(V_MIN, 10);
  const ops = opsOf(V_MIN);
  for (const op of ops.flat()) {
    for (const k of [-1, 0, 1]) {
      const span = spanOf(at, op, k * 6);
      if (!span) continue;
      const found = hit(at, V_MIN, ops, span.x + span.w / 2, yOf(at, op.rank) + at.lane / 2);
      assert.deepEqual(found, { op, k });
    }
  }
  assert.deepEqual(hit(at, V_MIN, ops, xOf(at, 4), yOf(at, 0) + at.lane + at.bar + 3), { rank: 0, chunk: 1 });
  assert.equal(
    hit(at, V_MIN, ops, xOf(at, 6.5), yOf(at, 0) + at.lane + at.bar + 3),
    null,
    "chunk 1 has given its activations back",
  );
  assert.equal(hit(at, V_MIN, ops, 2, at.top + 2), null);
  assert.equal(hit(at, V_MIN, ops, xOf(at, 1), at.height + 1), null);
});

test("where slots are too small to distinguish, only the nearest copies are drawn and found", () => {
  const at = geometry(V_MIN, 1.5);
  assert.equal(at.copies, 2);
  const far = hit({ ...at, to: 40 }, V_MIN, opsOf(V_MIN), xOf(at, 30.5), at.top + 2);
  assert.equal(far, null);
});

test("the rows of many devices get thinner and still hold their ops and bars", () => {
  for (const [p, chunks] of [
    [1, 1],
    [16, 2],
    [17, 1],
    [33, 2],
    [64, 2],
  ]) {
    const { lane, bar, gap, step } = rowSizes({ ...V_MIN, p, chunks });
    assert.ok(lane >= 3 && bar >= 1);
    assert.equal(lane + bar * chunks + gap, step);
    assert.ok(p <= 16 || p * step <= 450);
  }
});

test("the memory figures are lifespan over period", () => {
  assert.deepEqual(livesOf(V_MIN, 1), [10, 8]);
  assert.deepEqual(arithmetic(V_MIN, 1), { ratio: "18 / 6", memory: "3" });
  assert.deepEqual(arithmetic({ ...V_MIN, memory: [11 / 3, 0] }, 0), { ratio: "12 / 6", memory: "3.67" });
});

test("differences between the schedule on the screen and its block are listed", () => {
  const spec = { m: 8, recompute: "none" } as any;
  assert.equal(remark(V_MIN, spec), "");
  assert.equal(remark(V_MIN, { ...spec, m: 2 }), "", "11 slots of the block, 12 of two periods");
  assert.equal(
    remark(V_MIN, { ...spec, m: 1 }),
    "With m = 1 the last micro-batch begins before the first is done, so this steady state is not reached.",
  );
  assert.match(
    remark(V_MIN, { ...spec, recompute: "full", offload: "full" }),
    /with recomputation and offload a device keeps less/,
  );
  assert.match(remark(V_MIN, { ...spec, vocabulary: "parallel-1" }), /^The spread output layer is left out/);
  assert.equal(remark(V_MIN, { ...spec, vocabulary: "redistribute" }), "");
});

test("keys step along a rank and to the nearest op of the next", () => {
  const ops = opsOf(V_MIN);
  assert.equal(beside(ops, ops[0][0], 1, 0).slot, 3);
  assert.equal(beside(ops, ops[0][0], -1, 0), ops[0][0]);
  assert.equal(beside(ops, ops[0][5], 0, 1).slot, 9);
  assert.equal(beside(ops, ops[1][5], 0, 1), ops[1][5]);
});

test("the sentence for an op under the pointer names its slot, its position and its activations", () => {
  const ops = opsOf(V_MIN);
  assert.equal(microName(0) + microName(2) + microName(-1), "kk + 2k − 1");
  assert.equal(
    say(V_MIN, { op: ops[1][1], k: 1 }),
    "Forward (F) of micro-batch k + 1 on rank 1, chunk 1, stage 2: slot 8; takes activations that are kept until " +
      "16, for 8 slots.",
  );
  assert.match(
    say(V_MIN, { op: ops[1][2], k: 0 }),
    /^Input gradient .* slot 5; the activations stay for W, which ends at 10\.$/,
  );
  assert.match(
    say(ONE_F_ONE_B, { op: opsOf(ONE_F_ONE_B)[0][1], k: 0 }),
    /^Full backward .* rank 0, stage 0: slots 7 and 8; gives back .* 9 slots\.$/,
  );
  assert.equal(
    say(V_MIN, { rank: 1, chunk: 0 }),
    "Rank 1, chunk 0 keeps the activations of micro-batch k for 10 slots, from the start of F at 1 to the end of W " +
      "at 11.",
  );
});
