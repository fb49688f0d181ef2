// Tests of the reasons for idle time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { needs, unblocks, whyIdle } from "../../../static/js/core/explain/why_idle.ts";
import { makers } from "../../../static/js/core/schedule/dependencies.ts";
import { find, opText, refOf } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { fixture } from "../support/fixtures.ts";
import { UNIT, breadthFirst, bytes, oneFOneB, zbH1 } from "../support/helpers.ts";
import type { OpRef, Schedule, Times } from "../../../static/js/core/schedule/types.ts";

const HOP = { ...UNIT, comm: 1 };
const order = oneFOneB(4, 6);
const times = simulate(order, HOP);
const op = (schedule: Schedule, text: string): OpRef => find(schedule, text) ?? assert.fail(`no op ${text}`);
const sentence = (rank: number, t: number) => whyIdle(order, times, HOP, rank, t)?.sentence;

test("a rank that fills names the first micro-batch, its way, and what that waits for", () => {
  assert.equal(
    sentence(3, 2),
    "Rank 3 is idle from 0 to 6: fill: it waits for the first micro-batch. 3F0's input is the output of " +
      "2F0 on rank 2, which ends at 5 and arrives at 6 after a hop of 1. " +
      "2F0 itself waits for 1F0 on rank 1, which ends at 3 and arrives at 4 after a hop of 1.",
  );
});

test("a rank that waits names the op awaited, its rank, its end and its arrival", () => {
  assert.equal(
    sentence(3, 12.5),
    "Rank 3 is idle from 12 to 14: it waits for 3F2's input, the output of 2F2 on rank 2, which ends at 13 and " +
      "arrives at 14 after a hop of 1.",
  );
});

test("an awaited op that came late because its rank was busy says with what", () => {
  assert.match(
    sentence(2, 8) ?? "",
    /3B0 on rank 3, which ends at 9 .* Rank 3 is busy with 3F0 until 7 before that\.$/,
  );
});

test("a rank without work left drains", () => {
  assert.equal(sentence(3, 38), "Rank 3 is idle from 30 to 39: drain: no work is left for it in this step.");
});

test("without a hop no sentence mentions one", () => {
  const plain = simulate(order, UNIT);
  assert.equal(
    whyIdle(order, plain, UNIT, 1, 0.5)?.sentence,
    "Rank 1 is idle from 0 to 1: fill: it waits for the first micro-batch. " +
      "1F0's input is the output of 0F0 on rank 0, which ends at 1.",
  );
});

test("a busy rank is not idle, nor is anything outside the timeline", () => {
  assert.equal(whyIdle(order, times, HOP, 0, 0.5), null);
  assert.equal(whyIdle(order, times, HOP, 0, -1), null);
  assert.equal(whyIdle(order, times, HOP, 3, 40), null);
});

test("every gap of a planned timeline ends when what it awaits arrives", () => {
  for (const schedule of [oneFOneB(5, 9), zbH1(4, 9), breadthFirst(3, 4, 3), ...sentSchedules()]) {
    const costs = { F: 1.5, I: 1.25, W: 0.5, comm: 0.25, FB: null, S: null, T: null, O: null, R: null, wire: 0 };
    const planned = simulate(schedule, costs);
    for (let r = 0; r < schedule.p; r++) {
      for (let i = schedule.offsets[r]; i < schedule.offsets[r + 1]; i++) {
        const from = i > schedule.offsets[r] ? planned.end[i - 1] : 0;
        if (planned.start[i] <= from) continue;
        const idle = whyIdle(schedule, planned, costs, r, (from + planned.start[i]) / 2);
        assert.ok(idle?.awaits && idle.arrives !== null);
        assert.deepEqual([idle.from, idle.to, idle.arrives], [from, planned.start[i], planned.start[i]]);
        assert.ok(needs(schedule, planned, costs, refOf(schedule, i)).some(({ ref }) => ref.i === idle.awaits?.i));
      }
    }
  }
});

function sentSchedules(): Schedule[] {
  return fixture("times").map(({ wire }: { wire: string }) => decode(bytes(wire)));
}

/** Measured: everything from an op on comes later. */
function delayed(text: string, late: number): Times {
  const { i, rank } = op(order, text);
  const start = times.start.slice();
  const end = times.end.slice();
  for (let k = i; k < order.offsets[rank + 1]; k++) {
    start[k] += late;
    end[k] += late;
  }
  return { start, end, makespan: times.makespan + late };
}

test("a measured gap after the input arrived is overhead", () => {
  const idle = whyIdle(order, delayed("3B0", 0.5), HOP, 3, 7.25);
  assert.equal(idle?.kind, "overhead");
  assert.equal(idle?.sentence, "Rank 3 is idle from 7 to 7.5: the input of 3B0 arrived at 7: overhead of 0.5.");
  assert.equal(
    whyIdle(order, delayed("0F1", 0.5), HOP, 0, 1.25)?.sentence,
    "Rank 0 is idle from 1 to 1.5: the input of 0F1 was available from the start: overhead of 0.5.",
  );
});

test("a measured gap that outlasts its wait says both", () => {
  assert.match(
    whyIdle(order, delayed("3F2", 0.5), HOP, 3, 14.2)?.sentence ?? "",
    /waits for 3F2's input.*arrives at 14 after a hop of 1\. The input arrived at 14: overhead of 0\.5\.$/,
  );
});

test("a measured hop shorter than planned arrives no later than its op starts", () => {
  const idle = whyIdle(order, delayed("3F2", -0.5), HOP, 3, 12.5);
  assert.match(idle?.sentence ?? "", /ends at 13 and arrives by 13\.5\.$/);
  assert.equal(idle?.arrives, 13.5);
});

test("a live run that has not reached the op says what is still open", () => {
  const start = times.start.slice();
  const end = times.end.slice();
  for (const { i } of [op(order, "3F0"), op(order, "2F1")]) {
    for (let k = i; k < order.offsets[refOf(order, i).rank + 1]; k++) start[k] = end[k] = Infinity;
  }
  const live = { start, end, makespan: 8 };
  assert.equal(
    whyIdle(order, live, HOP, 3, 7)?.sentence,
    "Rank 3 has been idle since 0: its next op 3F0 has what it needs and has not been reported yet.",
  );
  start[op(order, "2F0").i] = end[op(order, "2F0").i] = Infinity;
  assert.equal(
    whyIdle(order, live, HOP, 3, 7)?.sentence,
    "Rank 3 has been idle since 0: its next op 3F0 waits for 2F0 on rank 2, which has not ended yet.",
  );
});

test("an op lists what it needs and what it unblocks, with reasons", () => {
  const lines = (list: { text: string; reason: string }[]) => list.map(({ text, reason }) => `${text}: ${reason}`);
  assert.deepEqual(lines(needs(order, times, HOP, op(order, "2B0"))), [
    "3B0: needs the gradient of 3B0 on rank 3, which ends at 9 and arrives at 10 after a hop of 1",
    "2F1: comes after 2F1 in its rank's order, which ends at 6",
  ]);
  assert.deepEqual(lines(unblocks(order, times, HOP, op(order, "2F0"))), [
    "3F0: uses its output, which arrives at 6",
    "2F1: is next in the rank's order",
  ]);
  assert.deepEqual(
    lines(needs(order, times, HOP, op(order, "3B0")))[0],
    "3F0: needs the loss of 3F0 on rank 3, which ends at 7",
  );
  assert.deepEqual(needs(order, times, HOP, op(order, "0F0")), []);
});

test("a weight gradient needs its own input gradient, which unblocks it", () => {
  const split = zbH1(3, 5);
  const planned = simulate(split, UNIT);
  assert.equal(needs(split, planned, UNIT, op(split, "1W2"))[0].text, "1I2");
  assert.deepEqual(
    unblocks(split, planned, UNIT, op(split, "1I2"))
      .filter(({ kind }) => kind === "data")
      .map(({ text }) => text),
    ["0I2", "1W2"],
  );
});

test("needs and unblocks mirror each other in every schedule that is sent", () => {
  for (const schedule of sentSchedules().filter(({ copies }) => !copies)) {
    const planned = simulate(schedule, UNIT);
    const forth = new Set();
    const back = new Set();
    const everything = schedule.count + (schedule.copies?.count ?? 0);
    for (let i = 0; i < everything; i++) {
      for (const { ref } of needs(schedule, planned, UNIT, refOf(schedule, i))) forth.add(`${ref.i} ${i}`);
      for (const { ref } of unblocks(schedule, planned, UNIT, refOf(schedule, i))) back.add(`${i} ${ref.i}`);
    }
    assert.deepEqual([...forth].sort(), [...back].sort());
  }
});

test("the text of half a pair names that half", () => {
  const pairs = sentSchedules().find(({ codes, chunks }) => codes.some((code) => code >= 4 * chunks)) ?? assert.fail();
  const planned = simulate(pairs, UNIT);
  const i = pairs.codes.findIndex((code) => code >= 4 * pairs.chunks);
  const [, f, b] = /\((\w+);(\w+)\)/.exec(opText(pairs, i)) as RegExpExecArray;
  const list = needs(pairs, planned, UNIT, refOf(pairs, i)).filter(({ kind }) => kind === "data");
  assert.equal(list.length, (f.startsWith("0F") ? 0 : 1) + 1);
  assert.ok(list.every(({ reason }) => !reason.includes("OVERLAP")));
  assert.equal(makers(pairs).gradient.includes(i) && makers(pairs).forward.includes(i), true);
  assert.match(b, /B/);
});
