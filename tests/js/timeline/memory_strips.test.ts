// Tests of memory over time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { CLASSES, binRank, emptyBins, kindsIn, stack } from "../../../static/js/core/timeline/bins.ts";
import { copyRows, copyTimes } from "../../../static/js/core/timeline/copy_rows.ts";
import { opAt, opsInWindow } from "../../../static/js/core/timeline/layout.ts";
import { opText } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { held, levelAt, maxima, stepAt, stripsByDefault } from "../../../static/js/core/timeline/memory_strips.ts";
import { DEFAULTS, UNIT, offloaded, oneFOneB, seeded } from "../support/helpers.ts";

/** The highest level within a pixel, by a look at every step. */
function slowly({ t, y }: { t: Float64Array; y: Float64Array }, from: number, to: number) {
  let level = 0;
  let top = 0;
  for (let k = 0; k < t.length; k++) if (t[k] < from) level = y[k];
  const begins = t.indexOf(from) < 0;
  if (begins) top = level;
  for (let k = 0; k < t.length; k++) if (t[k] >= from && t[k] < to) top = Math.max(top, y[k]);
  return top;
}

test("every pixel of a strip shows the highest level within it", () => {
  const random = seeded(5);
  for (let round = 0; round < 200; round++) {
    const count = Math.floor(random() * 60);
    const t = Float64Array.from({ length: count }, () => Math.floor(random() * 64)).sort();
    const y = Float64Array.from({ length: count }, () => Math.floor(random() * 9));
    const width = [1, 2, 4, 8, 32, 64, 128][round % 7]; // pixels whose edges are exact, so that both ways agree on them
    const t0 = 16 * Math.floor(random() * 3);
    const t1 = t0 + 32;
    const out = new Float32Array(width + 1).fill(-7);
    maxima({ t, y }, t0, t1, width, out);
    for (let x = 0; x < width; x++) {
      const at = (edge: number) => t0 + (edge * (t1 - t0)) / width;
      assert.equal(out[x], slowly({ t, y }, at(x), at(x + 1)), `round ${round}, pixel ${x} of ${width}`);
    }
    assert.equal(out[width], -7, "nothing beyond the width");
  }
});

test("a strip's top is the rank's peak, however narrow the strip", () => {
  const order = oneFOneB(4, 8);
  const times = simulate(order, UNIT);
  const { steps, peaks, top } = held(order, times, { ...DEFAULTS, p: 4, m: 8 });
  assert.deepEqual([...peaks], [4, 3, 2, 1]);
  assert.equal(top, 4);
  for (const width of [1, 7, 300]) {
    const out = new Float32Array(width);
    maxima(steps[1], 0, times.makespan, width, out);
    assert.equal(Math.max(...out), 3);
  }
});

test("the level at a time is that of the step before it, and zero before the first", () => {
  const steps = { t: Float64Array.of(1, 4), y: Float64Array.of(2, 3) };
  assert.deepEqual(
    [0, 1, 3.9, 4, 9].map((t) => [stepAt(steps, t), levelAt(steps, t)]),
    [
      [-1, 0],
      [0, 2],
      [0, 2],
      [1, 3],
      [1, 3],
    ],
  );
});

test("strips appear automatically where activations are offloaded or weights are counted", () => {
  assert.equal(stripsByDefault([DEFAULTS]), false);
  assert.equal(stripsByDefault([DEFAULTS, { ...DEFAULTS, offload: "full" }]), true);
  assert.equal(stripsByDefault([{ ...DEFAULTS, weights: 2 }]), true);
});

test("copies are placed and binned as rows of their own", () => {
  const order = offloaded();
  const times = simulate(order, { ...UNIT, O: 0.5 });
  const rows = copyRows(order);
  assert.ok(rows && order.copies);
  const own = copyTimes(order, times);
  const [lo, hi] = opsInWindow(rows, own, 0, 0, Infinity);
  assert.deepEqual(
    Array.from({ length: hi - lo }, (_, k) => opText(order, order.count + lo + k)),
    ["0O0", "0O1", "0R0", "0R1"],
  );
  assert.equal(opText(order, opAt(order.copies, times, 0, 1.25)), "0O0");
  assert.equal(opAt(order.copies, times, 0, 0.5), -1, "the lane is empty before the first offload");
  const bins = emptyBins(kindsIn(rows), 12);
  binRank(rows, own, 0, 0, 0.5, bins);
  const plain = Uint32Array.from({ length: CLASSES }, (_, cls) => cls);
  const out = new Uint32Array(12);
  stack(bins, 1, plain, plain, out, new Uint8Array(12));
  const ends = [...own.start].map((start, k) => [start, own.end[k]]);
  out.forEach((cls, x) => {
    const copy = ends.findIndex(([start, end]) => start <= x / 2 && x / 2 < end);
    assert.equal(cls, copy < 0 ? 0 : copy < 2 ? 1 : 9, `half ${x}`);
  });
  const { steps } = held(order, times, { ...DEFAULTS, p: 1, m: 2, offload: "full" });
  assert.ok(levelAt(steps[0], 2.75) < levelAt(steps[0], 1.25), "an offload gives memory back");
});

test("curves of other times in the same arrays are those of new arrays", () => {
  const order = oneFOneB(4, 8);
  const spec = order.spec;
  const first = simulate(order, UNIT);
  held(order, first, spec);
  const costs = { ...UNIT, F: 2.5, I: 0.3 };
  const again = held(order, simulate(order, costs, first), spec);
  const fresh = held(order, simulate(order, costs), spec);
  assert.deepEqual(
    again.steps.map(({ t, y }) => [[...t], [...y]]),
    fresh.steps.map(({ t, y }) => [[...t], [...y]]),
  );
  assert.equal(again.top, fresh.top);
});
