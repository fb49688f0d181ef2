// Tests of the simulator of the page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { find, opText } from "../../../static/js/core/schedule/ops.ts";
import { baseOrder } from "../../../static/js/core/families/base_order.ts";
import { timedWithOptions } from "../../../static/js/core/options/apply_options.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { durations, simulate } from "../../../static/js/core/schedule/simulate.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { fixture } from "../support/fixtures.ts";
import { UNIT, breadthFirst, bytes, oneFOneB, schedule, seeded, zbH1 } from "../support/helpers.ts";

const sent: { name: string; wire: string; end: string }[] = fixture("times");

for (const { name, wire, end } of sent) {
  test(`${name} ends, op by op, at the server's float64 times`, () => {
    const decoded = decode(bytes(wire));
    const costs = timing(decoded.spec);
    const { schedule: made, times } = timedWithOptions(baseOrder(decoded.spec), decoded.spec, costs);
    assert.deepEqual([made.codes, made.copies, made.micro], [decoded.codes, decoded.copies, decoded.micro]);
    assert.deepEqual(new Uint8Array(times.end.buffer), new Uint8Array(bytes(end)));
    assert.deepEqual(times, simulate(decoded, costs));
  });
}

test("1F1B takes (m + p - 1) times forward plus backward", () => {
  for (const [p, m] of [
    [1, 1],
    [4, 8],
    [8, 32],
    [5, 3],
  ])
    assert.equal(simulate(oneFOneB(p, m), UNIT).makespan, 3 * (m + p - 1));
});

test("a cost list gives each stage its own time and an op of a chunk takes 1/v of a single cost", () => {
  const order = breadthFirst(2, 2, 2);
  const costs = { ...UNIT, F: [1, 2, 3, 4], W: 3 };
  const took = durations(order, { ...costs, FB: 9 });
  const width = took.length / 2;
  assert.deepEqual([...took.subarray(0, 8)], [1, 3, 0.5, 0.5, 1.5, 1.5, 2, 2]); // F0 F1 I I W W B B on rank 0
  assert.deepEqual([...took.subarray(width, width + 2)], [2, 4]);
  assert.equal(took[8], 4.5); // a pair
  assert.equal(durations(order, costs)[width + 9], 2 + 2);
});

test("arrays are reused when they are long enough and replaced when not", () => {
  const large = simulate(oneFOneB(4, 20), UNIT);
  const small = simulate(oneFOneB(4, 8), UNIT, large);
  assert.equal(small.start, large.start);
  assert.equal(small.makespan, 33);
  assert.notEqual(simulate(oneFOneB(4, 40), UNIT, large).end, large.end);
});

test("every op starts after its rank's last and no run depends on what was simulated before", () => {
  const random = seeded(3);
  for (let round = 0; round < 30; round++) {
    const order = [oneFOneB, zbH1][round % 2](1 + Math.floor(random() * 6), 6 + Math.floor(random() * 9));
    const costs = { ...UNIT, F: random(), I: random(), W: random(), comm: random() / 4 };
    const { start, end } = simulate(order, costs);
    for (let r = 0; r < order.p; r++) {
      for (let i = order.offsets[r] + 1; i < order.offsets[r + 1]; i++) assert.ok(start[i] >= end[i - 1]);
    }
    assert.deepEqual(simulate(order, costs).end, end);
  }
});

test("an order with a deadlock is refused with the rank and the op", () => {
  const stuck = schedule("looped", 1, 1, [
    [3, 0],
    [0, 3],
  ]); // rank 0 wants the backward before its forward
  assert.throws(() => simulate(stuck, UNIT), /rank 0 waits forever at 0B0/);
});

test("an op's text leads back to the op, in every schedule that is sent", () => {
  for (const { wire } of sent) {
    const decoded = decode(bytes(wire));
    for (let i = 0; i < decoded.count; i++) assert.equal(find(decoded, opText(decoded, i))?.i, i);
  }
});

test("half a pair finds the pair, and nonsense finds nothing", () => {
  const pairs = sent.map(({ wire }) => decode(bytes(wire))).find(({ spec }) => spec.family === "dualpipe");
  assert.ok(pairs);
  const i = pairs.codes.findIndex((code) => code >= 8);
  const [, forward, backward] = /\((\w+);(\w+)\)/.exec(opText(pairs, i)) as RegExpExecArray;
  assert.equal(find(pairs, forward)?.i, i);
  assert.equal(find(pairs, backward.toLowerCase())?.i, i);
  for (const text of ["", "F", "99F0", "0F99", "0X0", `(${forward};0B99)OVERLAP_F_B`])
    assert.equal(find(pairs, text), null);
});
