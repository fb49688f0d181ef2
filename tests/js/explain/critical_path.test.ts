// Tests of the critical path.
import assert from "node:assert/strict";
import { test } from "node:test";

import { before, criticalPath } from "../../../static/js/core/explain/critical_path.ts";
import { KIND_B, KIND_F, KIND_I, KIND_W, opText } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, offloaded, oneFOneB, spread, zbH1 } from "../support/helpers.ts";
import type { Costs, Schedule, Times } from "../../../static/js/core/schedule/types.ts";

const pathOf = (schedule: Schedule, costs: Costs) => criticalPath(schedule, simulate(schedule, costs), costs);

test("1F1B's path goes down with the first micro-batch, through the last rank, and up with the last one", () => {
  const order = oneFOneB(3, 4);
  const path = pathOf(order, UNIT);
  const texts = path.steps.map(({ op }) => opText(order, op));
  assert.deepEqual(texts, ["0F0", "1F0", "2F0", "2B0", "2F1", "2B1", "2F2", "2B2", "2F3", "2B3", "1B3", "0B3"]);
  assert.equal(path.length, 3 * 4 + 3 * 2);
  assert.equal(path.work[KIND_F], 6);
  assert.equal(path.work[KIND_B], 12);
  assert.deepEqual([path.flight, path.gap, path.hops], [0, 0, 4]);
});

test("with a hop the messages of the path count, and its parts still add up to the step", () => {
  const path = pathOf(oneFOneB(3, 4), { ...UNIT, comm: 0.5 });
  assert.ok(path.hops >= 4);
  assert.equal(path.flight, 0.5 * path.hops);
  assert.equal(path.work[KIND_F] + path.work[KIND_B] + path.flight, path.length);
});

test("with the backward split a path may end in weight gradients", () => {
  const order = zbH1(3, 5);
  const path = pathOf(order, UNIT);
  const last = path.steps[path.steps.length - 1];
  assert.match(opText(order, last.op), /W/);
  assert.equal(path.work[KIND_F] + path.work[KIND_I] + path.work[KIND_W], path.length);
});

test("barriers and copies on a path have their own names", () => {
  for (const barriers of [1, 2] as (1 | 2)[]) {
    const order = spread(barriers);
    const ways = pathOf(order, { ...UNIT, comm: 1, S: 1, T: 1 }).steps.map(({ way }) => way);
    assert.ok(ways.includes("barrier"));
  }
  const copies = offloaded();
  const slow = pathOf(copies, { ...UNIT, O: 5 });
  assert.ok(slow.copies[0] + slow.copies[1] > 0, "slow copies decide");
  assert.equal(slow.copies[0] + slow.copies[1] + slow.work[KIND_F] + slow.work[KIND_B], slow.length);
});

test("a copy waits for its lane and for the op it is issued after, an op for its rank and its values", () => {
  const order = offloaded();
  const first = order.copies.offsets[0];
  const times = simulate(order, UNIT);
  assert.deepEqual(before(order, times, UNIT, first), [{ i: 0, lag: 0, way: "issue" }]);
  assert.deepEqual(
    before(order, times, UNIT, first + 1).map(({ way }) => way),
    ["lane", "issue"],
  );
  assert.deepEqual(
    before(oneFOneB(2, 2), times, { ...UNIT, comm: 2 }, 2).map(({ i, lag, way }) => [i, lag, way]),
    [
      [1, 0, "rank"],
      [5, 2, "message"],
    ],
  );
});

test("time that a measured op waited after all its inputs arrived is a gap of its own rank", () => {
  const order = oneFOneB(2, 2);
  const planned = simulate(order, UNIT);
  const late: Times = {
    start: planned.start.map((x) => x + 0.25),
    end: planned.end.map((x) => x + 0.25),
    makespan: planned.makespan + 0.25,
  };
  const path = criticalPath(order, late, UNIT);
  assert.equal(path.gap, 0.25, "the first op began late");
  assert.equal(path.length, late.makespan);
  late.start[order.count - 1] += 0; // the same times again give the same path
  assert.equal(criticalPath(order, late, UNIT), path);
});

test("a message that came faster than planned is in flight only as long as it was", () => {
  const order = oneFOneB(2, 1); // 0F0 1F0 1B0 0B0
  const start = Float64Array.of(0, 3.5, 1.2, 2.2);
  const end = Float64Array.of(1, 5, 2.2, 3.2);
  const path = criticalPath(order, { start, end, makespan: 5 }, { ...UNIT, comm: 1 });
  assert.deepEqual(
    path.steps.map(({ flight }) => Number(flight.toFixed(6))),
    [0, 0.2, 0, 0.3],
  );
  assert.equal(Number(path.gap.toFixed(6)), 0);
});

test("the path of a live run contains only ended ops, and is empty before the run begins", () => {
  const order = oneFOneB(2, 2);
  const { start, end } = simulate(order, UNIT);
  for (let i = 2; i < order.offsets[1]; i++) start[i] = end[i] = Infinity;
  for (let i = order.offsets[1] + 2; i < order.count; i++) start[i] = end[i] = Infinity;
  const path = criticalPath(order, { start, end, makespan: 4 }, UNIT);
  assert.deepEqual(
    path.steps.map(({ op }) => opText(order, op)),
    ["0F0", "1F0", "1B0"],
  );
  const none = {
    start: new Float64Array(order.count).fill(Infinity),
    end: new Float64Array(order.count).fill(Infinity),
    makespan: 0,
  };
  assert.deepEqual(criticalPath(order, none, UNIT).steps, []);
});
