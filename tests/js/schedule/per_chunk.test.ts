// Tests of modes chosen for each chunk; tests/schedule/simulation compares what comes of them with the server's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { modesName } from "../../../static/js/data/option_names.ts";
import { moveTo, withField } from "../../../static/js/data/spec_fields.ts";
import { offloadOfChunks, ofStages, overChunks } from "../../../static/js/core/schedule/per_chunk.ts";
import { DEFAULTS } from "../support/helpers.ts";
import type { Family, Spec } from "../../../static/js/core/schedule/types.ts";

const spec = (fields: Partial<Spec>): Spec => ({ ...DEFAULTS, family: "interleaved", v: 2, ...fields });

test("a list that means the same as a word is that word", () => {
  assert.equal(withField(spec({}), "recompute", ["full", "full"]).recompute, "full");
  assert.deepEqual(withField(spec({}), "recompute", ["full", "none"]).recompute, ["full", "none"]);
  assert.equal(withField(spec({}), "offload", ["full", "none"]).offload, "selective");
  assert.equal(withField(spec({ v: 3 }), "offload", ["full", "full", "none"]).offload, "selective");
  assert.deepEqual(withField(spec({}), "offload", ["none", "full"]).offload, ["none", "full"]);
  assert.deepEqual(offloadOfChunks("selective", 3), ["full", "full", "none"]);
});

test("with another number of chunks the same parts of the model keep their modes", () => {
  const four = withField(spec({ recompute: ["full", "none"], offload: ["none", "full"] }), "v", 4);
  assert.deepEqual(four.recompute, ["full", "full", "none", "none"]);
  assert.deepEqual(four.offload, ["none", "none", "full", "full"]);
  assert.deepEqual(withField(four, "v", 2).recompute, ["full", "none"]);
  assert.equal(overChunks("recompute", ["full", "none"], 1), "full");
  assert.deepEqual(ofStages(["full", "none"], 8), [...new Array(4).fill("full"), ...new Array(4).fill("none")]);
});

test("a family without chunks or offload takes what it can", () => {
  const to = { name: "1f1b", fields: [], vocabulary: [], v: { min: 1, default: 1, max: 1 } } as unknown as Family;
  const moved = moveTo(spec({ recompute: ["full", "none"], offload: ["none", "full"] }), null, to);
  assert.deepEqual([moved.recompute, moved.offload], ["full", "none"]);
});

test("modes are named in runs", () => {
  assert.equal(modesName("full"), "full");
  assert.equal(modesName(["full", "full", "none"]), "2×full/none");
  assert.equal(modesName(["none", "full", "none"]), "none/full/none");
});
