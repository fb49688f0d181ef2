import assert from "node:assert/strict";
import { test } from "node:test";

import { CLASSES, SHADES, binRank, classOf, kindOfClass, shadeOfClass } from "../../static/js/pure/bins.js";
import { KIND_T, chunkOf, codesPerRank, kindOf } from "../../static/js/pure/ops.js";
import { simulate } from "../../static/js/pure/simulate.js";
import { UNIT, breadthFirst, oneFOneB, schedule, seeded, zbH1 } from "./helpers.js";

/** @import {Schedule, Times} from "../../static/js/pure/types.js" */

/** Cover of every pixel by class, op by op. @param {Schedule} s @param {Times} times @param {number} rank
 * @param {number} t0 @param {number} t1 @param {number} width */
function slowCover(s, times, rank, t0, t1, width) {
  const k = width / (t1 - t0);
  const cover = Array.from({ length: width }, () => new Float64Array(CLASSES));
  const owed = new Set(); // pixels that hold most of an op narrower than a pixel
  for (let i = s.offsets[rank]; i < s.offsets[rank + 1]; i++) {
    const a = Math.max(0, (times.start[i] - t0) * k);
    const b = Math.min(width, (times.end[i] - t0) * k);
    if (b <= a) continue;
    for (let x = Math.floor(a); x < Math.min(width, Math.ceil(b)); x++) cover[x][classOf(s, i)] += Math.min(b, x + 1) - Math.max(a, x);
    if (b - a < 1) owed.add(Math.min(width - 1, Math.floor(a) + (Math.floor(b) > Math.floor(a) && b - Math.floor(b) > Math.ceil(a) - a ? 1 : 0)));
  }
  return { cover, owed };
}

test("every pixel shows what covers most of it, and idle only where idle is most and no short op lives", () => {
  const random = seeded(21);
  const orders = [oneFOneB(3, 40), zbH1(4, 30), breadthFirst(3, 12, 3)];
  for (let round = 0; round < 120; round++) {
    const s = orders[round % 3];
    const times = simulate(s, { F: 0.2 + random(), I: 0.2 + random(), W: 0.2 + random(), comm: random() * 3, FB: null, S: null, T: null, O: null });
    const t0 = random() * times.makespan * 0.8;
    const t1 = round % 4 === 0 ? times.makespan : t0 + (times.makespan - t0) * random();
    const width = 1 + Math.floor(random() * 200);
    const rank = round % s.p;
    const out = new Uint8Array(width).fill(99);
    const shade = new Uint8Array(width).fill(99);
    binRank(s, times, rank, t0, t1, width, out, shade);
    const { cover, owed } = slowCover(s, times, rank, t0, t1, width);
    cover.forEach((classes, x) => {
      const busy = classes.reduce((a, b) => a + b, 0);
      const most = Math.max(...classes);
      const where = `round ${round} pixel ${x} of ${width}`;
      if (busy > 0.5 + 1e-6 || owed.has(x)) assert.ok(out[x] > 0, `${where} must not be idle`);
      if (busy < 0.5 - 1e-6 && !owed.has(x)) assert.equal(out[x], 0, `${where} must be idle`);
      if (out[x] > 0) assert.ok(classes[out[x]] >= most - 1e-6, `${where} shows a lesser class`);
      assert.ok(Math.abs(shade[x] - 255 * busy) < 1, `${where} shade`);
    });
  }
});

test("a lone op of a thousandth of a pixel stays visible", () => {
  const s = schedule("looped", 1, 1, [[0]]);
  for (const at of [0, 3.0004, 49.9995, 99.9985]) {
    const times = { start: Float64Array.of(at), end: Float64Array.of(at + 0.001), makespan: 100 };
    const out = new Uint8Array(100);
    binRank(s, times, 0, 0, 100, 100, out);
    assert.equal(out.filter((cls) => cls > 0).length, 1, `at ${at}`);
  }
});

test("edges that fall on pixels are exact", () => {
  const s = oneFOneB(2, 2);
  const out = new Uint8Array(9);
  const times = simulate(s, UNIT);
  const [f, b] = [1, 1 + 3 * SHADES];
  binRank(s, times, 0, 0, 9, 9, out);
  assert.deepEqual([...out], [f, f, 0, 0, b, b, 0, b, b]);
  binRank(s, times, 1, 0, 9, 9, out);
  assert.deepEqual([...out], [0, f, b, b, f, b, b, 0, 0]);
});

test("nothing outside the row is touched and an empty window is idle", () => {
  const s = oneFOneB(2, 2);
  const out = new Uint8Array(12).fill(7);
  const times = simulate(s, UNIT);
  binRank(s, times, 0, 0, 9, 9, out);
  assert.deepEqual([...out.subarray(9)], [7, 7, 7]);
  binRank(s, times, 0, 3, 3, 9, out);
  assert.deepEqual([...out.subarray(0, 9)], new Array(9).fill(0));
});

test("a class tells kind and chunk, and all fit the palette", () => {
  for (let chunks = 1; chunks <= 14; chunks++) {
    for (let code = 0; code < codesPerRank(chunks); code++) {
      const cls = classOf({ ...oneFOneB(1, 1), chunks, codes: Uint8Array.of(code) }, 0);
      assert.ok(cls > 0 && cls < CLASSES);
      assert.equal(kindOfClass(cls), kindOf(code, chunks));
      assert.equal(shadeOfClass(cls), chunkOf(code, chunks) % SHADES);
    }
  }
  assert.equal(kindOfClass(CLASSES - 1), KIND_T);
});
