// Tests of the pyramid that large schedules are drawn from.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FULL, binRank, emptyBins, kindsIn, type Bins } from "../../../static/js/core/timeline/bins.ts";
import { buildPyramid, levelFor, sample } from "../../../static/js/core/timeline/pyramid.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, oneFOneB, seeded, zbH1 } from "../support/helpers.ts";

const ORDERS = [oneFOneB(3, 900), zbH1(4, 700), breadthFirst(3, 300, 3)];

/** Windows of dense schedules, each binned from the pyramid and from the ops. */
function windows(seed: number, check: (from: Bins, ops: Bins, where: string) => void) {
  const random = seeded(seed);
  for (let round = 0; round < 60; round++) {
    const s = ORDERS[round % ORDERS.length];
    const [F, I, W, comm] = [0.2 + random(), 0.2 + random(), 0.2 + random(), random()];
    const times = simulate(s, { ...UNIT, F, I, W, comm });
    const pyramid = buildPyramid(s, times, times.makespan);
    const width = 20 + Math.floor(random() * 200);
    const step = (times.makespan * (0.2 + random())) / width;
    const first = Math.floor((random() - 0.2) * (times.makespan / step));
    const level = levelFor(pyramid, step);
    assert.ok(level, "fine enough");
    const [quick, slow] = [emptyBins(pyramid.kinds, width), emptyBins(kindsIn(s), width)];
    sample(pyramid, level, round % s.p, first, step, quick);
    binRank(s, times, round % s.p, first, step, slow);
    check(quick, slow, `round ${round}`);
  }
}

test("bins from the pyramid equal bins from the ops, to their edges", () => {
  windows(31, (quick, slow, where) => {
    assert.deepEqual(quick.kinds, slow.kinds);
    let off = 0;
    quick.cover.forEach((c, at) => {
      assert.ok(Math.abs(c - slow.cover[at]) <= 0.55 * FULL, `${where} at ${at}: ${c} for ${slow.cover[at]}`);
      off += Math.abs(c - slow.cover[at]);
    });
    assert.ok(off / quick.cover.length < 0.1 * FULL, `${where}: off by ${off / quick.cover.length} on average`);
  });
});

test("every level contains all the time of each kind", () => {
  const s = zbH1(4, 700);
  const times = simulate(s, { ...UNIT, F: 1.1, I: 0.7, W: 0.4, comm: 0.3 });
  const { kinds, levels } = buildPyramid(s, times, times.makespan);
  assert.ok(levels.length >= 3);
  for (const { count, cover } of levels) {
    for (let r = 0; r < s.p; r++) {
      kinds.forEach((kind, g) => {
        let took = 0;
        for (let i = s.offsets[r]; i < s.offsets[r + 1]; i++)
          if (s.codes[i] === kind) took += times.end[i] - times.start[i];
        const row = cover.subarray((r * kinds.length + g) * count, (r * kinds.length + g + 1) * count);
        const held = (row.reduce((a, b) => a + b, 0) / FULL / count) * times.makespan;
        assert.ok(Math.abs(held / took - 1) < 0.02, `${count} bins, rank ${r}, kind ${kind}: ${held} of ${took}`);
      });
    }
  }
});

test("every level contains one short op among a thousand long ones of another kind", () => {
  const s = oneFOneB(1, 1);
  const many = 4096;
  const start = Float64Array.from({ length: many }, (_, k) => k);
  const end = start.map((t, k) => (k === 2000 ? t + 1e-4 : t + 1));
  const rows = {
    codes: Uint8Array.from({ length: many }, (_, k) => (k === 2000 ? 3 : 0)),
    offsets: Int32Array.of(0, many),
    chunks: s.chunks,
  };
  const pyramid = buildPyramid(rows, { start, end, makespan: many }, many);
  for (const { count, cover } of pyramid.levels) {
    const short = cover.subarray(count, 2 * count);
    assert.deepEqual(
      [...short].flatMap((c, x) => (c > 0 ? [x] : [])),
      [Math.floor((2000 * count) / many)],
    );
  }
  for (const width of [7, 333, 500]) {
    const bins = emptyBins(pyramid.kinds, width);
    const level = levelFor(pyramid, many / width);
    assert.ok(level);
    sample(pyramid, level, 0, 0, many / width, bins);
    assert.equal(bins.cover.subarray(width).filter((c) => c > 0).length, 1, `${width} bins`);
  }
});

test("bins beyond the end of time are empty, and a screen finer than all levels has none", () => {
  const s = oneFOneB(2, 50);
  const times = simulate(s, UNIT);
  const pyramid = buildPyramid(s, times, times.makespan);
  const bins = emptyBins(pyramid.kinds, 10);
  sample(pyramid, pyramid.levels[0], 0, 10, times.makespan / 10, bins);
  assert.ok(bins.cover.every((c) => c === 0));
  assert.equal(levelFor(pyramid, times.makespan / 1e6), null);
});
