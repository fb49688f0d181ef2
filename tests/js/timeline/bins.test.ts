// Tests of many ops binned to pixels.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CLASSES,
  FULL,
  SHADES,
  binRank,
  classTable,
  emptyBins,
  kindOfClass,
  kindsIn,
  shadeOfClass,
  stack,
  type Bins,
} from "../../../static/js/core/timeline/bins.ts";
import { KIND_T, chunkOf, codesPerRank, kindOf } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, oneFOneB, schedule, seeded, zbH1 } from "../support/helpers.ts";
import type { Schedule, Times } from "../../../static/js/core/schedule/types.ts";

const ORDERS = [oneFOneB(3, 40), zbH1(4, 30), breadthFirst(3, 12, 3)];

/** A rank in bins. */
function binned(s: Schedule, times: Times, rank: number, from: number, step: number, width: number, gap?: number) {
  const bins = emptyBins(kindsIn(s), width);
  binRank(s, times, rank, from, step, bins, gap);
  return bins;
}

const PLAIN = Uint32Array.from({ length: CLASSES }, (_, cls) => cls); // every class looks like its number
const LOWER = PLAIN.map((cls) => cls + CLASSES); // and in the lower half like this

/** What a bin looks like, as classes. */
function looks(bins: Bins, x: number, layers = 8) {
  const out = new Uint32Array(layers * bins.width);
  const alone = new Uint8Array(bins.width);
  stack(bins, layers, PLAIN, LOWER, out, alone);
  const seen = Array.from({ length: layers }, (_, s) => out[s * bins.width + x]);
  const classes = seen.map((value, s) => value - (s < layers >> 1 ? 0 : CLASSES));
  assert.ok(
    classes.every((cls) => cls >= 0 && cls < CLASSES),
    "each half in its own looks",
  );
  assert.equal(alone[x], bins.mixed[x] ? 0 : classes[0]);
  return classes;
}

const someCosts = (random: () => number) => ({
  ...UNIT,
  ...{ F: 0.2 + random(), I: 0.2 + random(), W: 0.2 + random(), comm: random() * 3 },
});

/** The share of every bin by kind, op by op. */
function slowCover(s: Schedule, times: Times, rank: number, from: number, step: number, width: number) {
  const kinds = kindsIn(s);
  const cover = Array.from({ length: width }, () => new Float64Array(kinds.length));
  for (let i = s.offsets[rank]; i < s.offsets[rank + 1]; i++) {
    const [a, b] = [times.start[i] / step - from, times.end[i] / step - from];
    for (let x = Math.max(0, Math.floor(a)); x < Math.min(width, Math.ceil(b)); x++) {
      cover[x][kinds.indexOf(kindOf(s.codes[i], s.chunks))] += Math.min(b, x + 1) - Math.max(a, x);
    }
  }
  return cover;
}

/** Random windows of random schedules. */
function windows(
  seed: number,
  rounds: number,
  check: (s: Schedule, times: Times, rank: number, from: number, step: number, width: number, where: string) => void,
) {
  const random = seeded(seed);
  for (let round = 0; round < rounds; round++) {
    const s = ORDERS[round % ORDERS.length];
    const times = simulate(s, someCosts(random));
    const width = 1 + Math.floor(random() * 200);
    const step = (times.makespan * (0.05 + random())) / width;
    check(s, times, round % s.p, Math.floor((random() - 0.2) * (times.makespan / step)), step, width, `round ${round}`);
  }
}

test("every bin holds the share that each kind covers of it, and shares add up to its busy time", () => {
  windows(21, 120, (s, times, rank, from, step, width, where) => {
    const bins = binned(s, times, rank, from, step, width);
    slowCover(s, times, rank, from, step, width).forEach((shares, x) => {
      let sum = 0;
      shares.forEach((share, g) => {
        const got = bins.cover[g * width + x];
        sum += got;
        assert.ok(Math.abs(got - share * FULL) <= 1, `${where} bin ${x} kind ${g}: ${got} of ${share * FULL}`);
      });
      assert.ok(Math.abs(sum - shares.reduce((a, b) => a + b, 0) * FULL) <= shares.length, `${where} bin ${x}`);
    });
  });
});

test("every op is visible in a bin that it overlaps, whatever else is in it", () => {
  windows(22, 120, (s, times, rank, from, step, width, where) => {
    const bins = binned(s, times, rank, from, step, width);
    for (let i = s.offsets[rank]; i < s.offsets[rank + 1]; i++) {
      const [a, b] = [times.start[i] / step - from, times.end[i] / step - from];
      if (a < 0 || b > width) continue;
      const kind = kindOf(s.codes[i], s.chunks);
      let seen = false;
      for (let x = Math.floor(a); x < Math.min(width, Math.ceil(b)); x++)
        seen ||= looks(bins, x).some((cls) => cls > 0 && kindOfClass(cls) === kind);
      assert.ok(seen, `${where} op ${i} from ${a} to ${b}`);
    }
  });
});

test("a bin with long ops alone shows one of them, and idle only where idle is most", () => {
  windows(23, 120, (s, times, rank, from, step, width, where) => {
    const bins = binned(s, times, rank, from, step, width);
    slowCover(s, times, rank, from, step, width).forEach((shares, x) => {
      if (bins.mixed[x]) return;
      const layers = looks(bins, x);
      assert.equal(new Set(layers).size, 1, `${where} bin ${x}`);
      const busy = shares.reduce((a, b) => a + b, 0);
      if (busy > 0.51)
        assert.ok(
          shares[kindsIn(s).indexOf(kindOfClass(layers[0]))] >= Math.max(...shares) - 0.01,
          `${where} bin ${x} shows a lesser kind`,
        );
      if (busy < 0.49) assert.equal(layers[0], 0, `${where} bin ${x} must be idle`);
    });
  });
});

test("a pan by whole bins shifts the picture and changes nothing in it", () => {
  const random = seeded(24);
  windows(25, 120, (s, times, rank, from, step, width, where) => {
    const by = Math.floor((random() - 0.5) * width);
    const [one, two] = [from, from + by].map((at) => binned(s, times, rank, at, step, width, 1));
    for (let x = Math.max(1, 1 - by); x < Math.min(width, width - by) - 1; x++) {
      assert.deepEqual(looks(two, x), looks(one, x + by), `${where} by ${by}, bin ${x}`);
    }
  });
});

test("a mixed bin is stacked by its shares, the smallest by one layer, with idle time below", () => {
  const bins = emptyBins([0, 1, 2], 1);
  bins.mixed[0] = 1;
  bins.cls.set([1, 9, 17]);
  bins.cover.set([127, 64, 64]);
  assert.deepEqual(looks(bins, 0), [1, 1, 1, 1, 9, 9, 17, 17]);
  bins.cover.set([253, 1, 1]);
  assert.deepEqual(looks(bins, 0), [1, 1, 1, 1, 1, 1, 9, 17]);
  bins.cover.set([0, 128, 0]);
  assert.deepEqual(looks(bins, 0), [9, 9, 9, 9, 0, 0, 0, 0]);
  bins.cover.set([60, 70, 50]);
  assert.deepEqual(looks(bins, 0, 2), [9, 9], "three kinds in two layers: the largest");
  assert.deepEqual(looks(bins, 0, 1), [9]);
  bins.cover.set([255, 255, 255]); // more than there is, by rounding
  assert.deepEqual(new Set(looks(bins, 0)), new Set([1, 9, 17]));
});

test("a lone op of a thousandth of a bin stays visible", () => {
  const s = schedule("looped", 1, 1, [[0]]);
  for (const at of [0, 3.0004, 49.9995, 99.9985]) {
    const bins = binned(
      s,
      { start: Float64Array.of(at), end: Float64Array.of(at + 0.001), makespan: 100 },
      0,
      0,
      1,
      100,
    );
    assert.equal(
      Array.from({ length: 100 }, (_, x) => looks(bins, x)).filter((layers) => layers.includes(1)).length,
      1,
      `at ${at}`,
    );
  }
});

test("edges that coincide with bins are exact, and wide ops leave a gap where one is asked for", () => {
  const s = oneFOneB(2, 2);
  const times = simulate(s, UNIT);
  const [f, b] = [1, 1 + 3 * SHADES];
  const first = (bins: Bins) => Array.from({ length: bins.width }, (_, x) => looks(bins, x)[0]);
  assert.deepEqual(first(binned(s, times, 0, 0, 1, 9)), [f, f, 0, 0, b, b, 0, b, b]);
  assert.deepEqual(first(binned(s, times, 1, 0, 1, 9)), [0, f, b, b, f, b, b, 0, 0]);
  assert.deepEqual(first(binned(s, times, 0, 0, 0.2, 15, 1)), [f, f, f, f, 0, f, f, f, f, 0, 0, 0, 0, 0, 0]);
});

test("bins are emptied before they are filled again", () => {
  const s = oneFOneB(2, 2);
  const times = simulate(s, UNIT);
  const bins = binned(s, times, 0, 0, 1, 9);
  binRank(s, times, 0, 1000, 1, bins);
  assert.ok(bins.cover.every((c) => c === 0));
  assert.deepEqual(looks(bins, 4), new Array(8).fill(0));
});

test("a class encodes kind and chunk, and all fit the palette", () => {
  for (let chunks = 1; chunks <= 14; chunks++) {
    for (let code = 0; code < codesPerRank(chunks); code++) {
      const cls = classTable(chunks)[code];
      assert.ok(cls > 0 && cls < CLASSES);
      assert.equal(kindOfClass(cls), kindOf(code, chunks));
      assert.equal(shadeOfClass(cls), chunkOf(code, chunks) % SHADES);
    }
  }
  assert.equal(kindOfClass(CLASSES - 1), KIND_T);
});
