// Tests of residuals: deviations of a run from its plan, the ops that lost time, and the causes of idle time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { largest, lost, residual, roundUp, sameOrder, stepOf } from "../../../static/js/core/measured/residuals.ts";
import { kindOf, rankOf } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { lateStart, sumOfLateStarts } from "../../../static/js/core/measured/late_starts.ts";
import { spentBefore, spentText } from "../../../static/js/core/measured/waits.ts";
import { UNIT, offloaded, oneFOneB, schedule, zbH1 } from "../support/helpers.ts";

test("a run that matches its plan has no residual, and no op lost time", () => {
  const order = zbH1(4, 8);
  const [plan, run] = [simulate(order, UNIT), simulate(order, UNIT)];
  for (let i = 0; i < order.count; i++)
    assert.deepEqual([residual(run, plan, i), lost(order, run, plan, UNIT, i)], [0, 0]);
});

test("extra time of one stage's forwards counts as their loss alone, however late it makes other ops", () => {
  const order = zbH1(4, 8);
  const [plan, run] = [simulate(order, UNIT), simulate(order, { ...UNIT, F: [1, 1, 1.5, 1] })];
  const late = [];
  for (let i = 0; i < order.count; i++) {
    const slow = rankOf(order, i) === 2 && kindOf(order.codes[i], 1) === 0;
    assert.equal(lost(order, run, plan, UNIT, i), slow ? 0.5 : 0, `op ${i}`);
    if (!slow && residual(run, plan, i) > 0) late.push(i);
  }
  assert.ok(late.length > 20, "others end later without having lost anything");
});

test("a longer hop counts as the loss of the op that receives the message", () => {
  const order = oneFOneB(2, 1);
  const plan = simulate(order, UNIT);
  const run = simulate(order, { ...UNIT, comm: 0.25 });
  const all = Array.from({ length: order.count }, (_, i) => lost(order, run, plan, UNIT, i));
  assert.deepEqual(all, [0, 0.25, 0.25, 0]); // 0F0, 0B0 after its hop back; 1F0 after its hop, 1B0
});

test("an op that has not ended has no residual and is not among the largest", () => {
  const order = oneFOneB(1, 2);
  const plan = simulate(order, UNIT);
  const run = { ...plan, end: Float64Array.of(2, plan.end[1] - 3, Infinity, Infinity) };
  assert.ok(Number.isNaN(residual(run, plan, 2)));
  assert.deepEqual(
    largest(order.count, (i) => residual(run, plan, i), 3),
    [
      { i: 1, by: -3 },
      { i: 0, by: 1 },
    ],
  );
});

test("the largest residuals are sorted, early and late alike, the first op first among equals", () => {
  const by = [1, -5, 2, 5, 0];
  assert.deepEqual(
    largest(5, (i) => by[i], 3).map(({ i }) => i),
    [1, 3, 2],
  );
  assert.deepEqual(
    largest(2, (i) => by[i], 3).map(({ i }) => i),
    [1, 0],
  );
});

test("orders are the same where every rank does the same ops, whatever they cost", () => {
  assert.ok(sameOrder(zbH1(4, 8), { ...zbH1(4, 8), spec: { ...zbH1(4, 8).spec, costs: { ...UNIT, F: 3 } } }));
  assert.ok(!sameOrder(zbH1(4, 8), zbH1(4, 9)));
  assert.ok(
    !sameOrder(
      oneFOneB(2, 2),
      schedule("looped", 1, 2, [
        [0, 0, 3, 3],
        [0, 0, 3, 3],
      ]),
    ),
    "GPipe has as many ops",
  );
});

test("a scale ends at a round number that covers all values, with three steps each way", () => {
  assert.deepEqual([0.31, 7.5, 1, 12, 95, 0, NaN].map(roundUp), [0.4, 8, 1, 15, 100, 0, 0]);
  assert.deepEqual(
    [-8, -2, -1, 0, 1.3, 1.4, 4, 8].map((by) => stepOf(by, 8) + 0),
    [-3, -1, 0, 0, 0, 1, 2, 3],
  );
  assert.equal(stepOf(5, 0), 0);
});

const noted = (ready: number, wait: number, paced: boolean) => ({
  ready: Float64Array.of(0, ready, 0, 0),
  wait: Float64Array.of(0, wait, 0, 0),
  unit: 10,
  paced,
});

test("the time before an op is split into what it waited for, and the parts add up to it", () => {
  const order = oneFOneB(1, 2);
  const times = { start: Float64Array.of(0, 5, 6, 7), end: Float64Array.of(1, 6, 7, 8), makespan: 8 };
  assert.deepEqual(
    spentBefore(order, times, noted(4, 3.5, true), 1, 1),
    { input: 0, message: 3, copy: 0, late: 1, own: 0 },
    "paced: it could have started at 4 and did at 5",
  );
  assert.deepEqual(
    spentBefore(order, times, noted(0, 3, true), 1, 1),
    { input: 0, message: 0, copy: 0, late: 4, own: 0 },
    "it could have started at once",
  );
  assert.deepEqual(spentBefore(order, times, noted(4, 3, false), 1, 1), {
    input: 0,
    message: 3,
    copy: 0,
    late: 0,
    own: 1,
  });
  assert.deepEqual(spentBefore(order, times, noted(0, 0, false), 1, 1), {
    input: 0,
    message: 0,
    copy: 0,
    late: 0,
    own: 4,
  });
  assert.deepEqual(
    spentBefore(order, times, noted(9, 9, true), 1, 1),
    { input: 0, message: 4, copy: 0, late: 0, own: 0 },
    "no more than there is",
  );
  const copying = { start: Float64Array.of(0, 5, 6, 7), end: Float64Array.of(1, 6, 7, 8), makespan: 8 };
  assert.deepEqual(spentBefore(offloaded(), copying, noted(4, 1, true), 1, 1), {
    input: 0,
    message: 1,
    copy: 2,
    late: 1,
    own: 0,
  });
});

test("a wait while another rank still computes is not a message, and with a hop of nothing none is", () => {
  const order = oneFOneB(2, 1); // 0F0 0B0, 1F0 1B0: 1F0 takes three times as long as the others
  const slow = (hop: number) => {
    const costs = { ...UNIT, F: [1, 3], comm: hop };
    const times = simulate(order, costs);
    const wait = Float64Array.of(0, times.start[1] - times.end[0], times.start[2], 0);
    return { times, said: { ready: times.start.slice(), wait, unit: 1, paced: false } };
  };
  for (const hop of [0, 0.5]) {
    const { times, said } = slow(hop);
    const spent = spentBefore(order, times, said, 1, times.end[0]);
    assert.deepEqual([spent.message, spent.own], [hop, 0]);
    assert.equal(spent.input, times.end[3] - times.end[0]);
  }
});

test("the split is given in milliseconds, the largest part first, and no text is given for zero", () => {
  assert.equal(
    spentText({ input: 0, message: 3, copy: 0, late: 1.25, own: 0.001 }, noted(0, 0, true)),
    "Measured: messages 30 ms, late start 12.5 ms.",
  );
  assert.equal(spentText({ input: 0, message: 0, copy: 0, late: 0, own: 0 }, noted(0, 0, true)), "");
});

test("only an op of a paced run that has ended has a late start, and the sum has all of them", () => {
  const times = { start: Float64Array.of(1, 5, 6, Infinity), end: Float64Array.of(2, 6, 7, Infinity), makespan: 7 };
  assert.equal(lateStart(times, noted(4, 0, true), 1), 1);
  assert.equal(lateStart(times, noted(4, 0, false), 1), 0);
  assert.equal(lateStart(times, undefined, 1), 0);
  assert.equal(lateStart(times, noted(9, 0, true), 1), 0);
  assert.equal(lateStart(times, noted(4, 0, true), 3), 0);
  assert.equal(sumOfLateStarts(times, noted(4, 0, true), 4), 1 + 1 + 6);
});
