// Tests of bubbles and other figures of a timed schedule.
import assert from "node:assert/strict";
import { test } from "node:test";

import { curve, peakInFlight, peakMemory } from "../../../static/js/core/schedule/memory.ts";
import { figures, messages } from "../../../static/js/core/schedule/metrics.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, oneFOneB, schedule, zbH1 } from "../support/helpers.ts";

/** Nothing recomputed, nothing stashed. */
const plain = (v: number, wShare = 1) => ({ wShare, v, kept: 1, weights: 0, restored: 1 });

test("1F1B's bubble is (p-1)/(m+p-1) of the total and (p-1)/m of the ideal, in both windows", () => {
  const order = oneFOneB(4, 12);
  const { makespan, longestStage, busy, bubble } = figures(order, simulate(order, UNIT));
  assert.deepEqual([makespan, longestStage, [...busy]], [45, 45, [36, 36, 36, 36]]);
  for (const window of [bubble.global, bubble.span])
    assert.deepEqual(window, { ofTotal: 1 - 36 / 45, ofIdeal: 45 / 36 - 1 });
});

test("a window of its own for each rank is never longer than the whole", () => {
  const order = zbH1(5, 9);
  const { makespan, longestStage } = figures(order, simulate(order, { ...UNIT, comm: 0.5 }));
  assert.ok(longestStage <= makespan);
});

test("a live run's figures count what has been reported", () => {
  const order = oneFOneB(2, 2);
  const times = simulate(order, UNIT);
  times.start.fill(Infinity, 1, 4);
  times.end.fill(Infinity, 1, 4);
  times.start.fill(Infinity, 4);
  times.end.fill(Infinity, 4);
  const { makespan, busy, bubble } = figures(order, times);
  assert.deepEqual([makespan, [...busy], bubble.global.ofTotal], [1, [1, 0], 0.5]);
  times.end[0] = times.start[0] = Infinity;
  assert.deepEqual(figures(order, times).bubble.global, { ofTotal: 0, ofIdeal: 0 });
});

test("times that do not begin at 0 have the same figures", () => {
  const order = oneFOneB(3, 4);
  const times = simulate(order, UNIT);
  const later = {
    start: times.start.map((t) => t + 1024),
    end: times.end.map((t) => t + 1024),
    makespan: times.makespan + 1024,
  };
  assert.deepEqual(figures(order, later), figures(order, times));
});

test("1F1B holds min(p - r, m) chunks in flight, breadth first all of them", () => {
  assert.deepEqual([...peakInFlight(oneFOneB(4, 8))], [4, 3, 2, 1]);
  assert.deepEqual([...peakInFlight(oneFOneB(4, 2))], [2, 2, 2, 1]);
  assert.deepEqual([...peakInFlight(breadthFirst(2, 3, 4))], [12, 12]);
  assert.deepEqual([...peakMemory(breadthFirst(2, 3, 4), null, plain(4))], [3, 3]);
});

test("where W needs only a part, I releases the rest, as in the paper's table 2 for ZB-H1", () => {
  const [p, share] = [4, 0.25];
  peakMemory(zbH1(p, 9), null, plain(1, share)).forEach((peak, r) => assert.equal(peak, p - r + r * share));
});

test("within a pair the forward allocates before the backward releases", () => {
  // F of chunk 0; F of chunk 0 with B of chunk 1; B of chunk 1
  const pair = schedule("bidirectional", 2, 4, [[0, 9, 7]]);
  assert.deepEqual([...peakInFlight(pair)], [2]);
});

test("a memory curve steps where ops start and end, has the stated peak and ends at zero", () => {
  const order = zbH1(3, 5);
  const times = simulate(order, UNIT);
  for (let r = 0; r < 3; r++) {
    const { t, y } = curve(order, times, r, plain(1, 0.25));
    assert.equal(Math.max(...y), peakMemory(order, null, plain(1, 0.25))[r]);
    assert.equal(y[y.length - 1], 0);
    assert.ok(t.every((at, k) => k === 0 || at >= t[k - 1]));
  }
});

test("a curve of a live run ends at the last op reported", () => {
  const order = oneFOneB(1, 2);
  const times = simulate(order, UNIT);
  times.start[1] = times.end[1] = times.start[2] = times.end[2] = times.start[3] = times.end[3] = Infinity;
  const { t, y } = curve(order, times, 0, plain(1));
  assert.deepEqual([[...t], [...y]], [[0], [1]]);
});

test("messages cross every boundary between ranks once forward and once backward for each micro-batch", () => {
  assert.deepEqual(messages(oneFOneB(4, 8)), { count: 2 * 3 * 8, hops: 3 });
  assert.deepEqual(messages(breadthFirst(4, 8, 2)), { count: 2 * 7 * 8, hops: 7 });
  assert.deepEqual(messages(schedule("v", 2, 8, [[], [], [], []])), { count: 2 * 6 * 8, hops: 6 }); // the turn is local
  assert.deepEqual(messages(schedule("bidirectional", 2, 8, [[], [], [], []])), { count: 2 * 3 * 8, hops: 3 });
});
