// Tests of ticks and formatted numbers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { formatNumber, formatPercent, formatTime } from "../../../static/js/core/i18n/numbers.ts";
import { tickStep, ticks } from "../../../static/js/core/timeline/scale.ts";
import { seeded } from "../support/helpers.ts";

test("ticks are round, within the range, ascending and free of rounding error", () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0.05, 0.35, 3), [0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(0, 117, 6), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(3, 3, 5), [3]);
});

test("any range has at most count + 1 ticks, one step apart", () => {
  const random = seeded(5);
  for (let round = 0; round < 500; round++) {
    const d0 = random() * 1000;
    const d1 = d0 + 10 ** (random() * 8 - 4);
    const count = 2 + Math.floor(random() * 10);
    const found = ticks(d0, d1, count);
    const step = tickStep(d1 - d0, count);
    assert.ok(found.length <= count + 1 && found.length >= Math.floor((d1 - d0) / step));
    for (let k = 1; k < found.length; k++) assert.ok(Math.abs(found[k] - found[k - 1] - step) < step * 1e-5);
  }
});

test("times show exactly the decimals of their step", () => {
  assert.deepEqual(
    [formatTime(3, 1), formatTime(0.30000000000000004, 0.1), formatTime(2, 0.05), formatTime(1e3, 50)],
    ["3", "0.3", "2.00", "1000"],
  );
  assert.equal(formatTime(-1e-12, 0.1), "0.0");
});

test("percentages always have one decimal, so that the width is stable", () => {
  assert.deepEqual(
    [formatPercent(0.0941), formatPercent(0.1), formatPercent(0), formatPercent(1)],
    ["9.4 %", "10.0 %", "0.0 %", "100.0 %"],
  );
});

test("numbers in prose have at most four decimals", () => {
  assert.deepEqual([1 / 3, 2, -0.00001, 1e-7, 123456.78912, 0, -0].map(formatNumber), [
    "0.3333",
    "2",
    "-1e-5",
    "1e-7",
    "123456.7891",
    "0",
    "0",
  ]);
});
