// Tests of the unit of a paced run that nobody has chosen.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { defaultUnit, meanOp, mostBlocks } from "../../../static/js/core/measured/pace.ts";
import { runLayers } from "../../../static/js/core/schedule/effective_costs.ts";

const golden: { rows: number[][]; most_blocks: [object, number][] } = JSON.parse(
  readFileSync(new URL("../../../tests/golden/units.json", import.meta.url), "utf8"),
);

test("the unit is the server's", () => {
  for (const [makespan, mean, ranks, cores, blocks, steps, unit] of golden.rows)
    assert.equal(defaultUnit({ makespan, meanOp: mean, ranks, cores, blocks, steps }), unit);
});

test("a stage of a run has as many blocks as on the server", () => {
  const costs = { F: 1, I: 1, W: 1, S: null, T: null };
  for (const [fields, blocks] of golden.most_blocks) {
    const spec = { p: 4, v: 1, layers: null, vocabulary: "plain", costs, ...fields };
    assert.equal(mostBlocks(runLayers(spec as never)), blocks);
  }
});

test("ops that take no time do not count in the mean", () => {
  const times = { start: Float64Array.of(0, 1, 1), end: Float64Array.of(1, 1, 4), makespan: 4 };
  assert.equal(meanOp(times, 3), 2);
  assert.equal(meanOp(times, 0), 0);
});
