// Tests of the weight versions of asynchronous schedules.
import assert from "node:assert/strict";
import { test } from "node:test";

import { versions } from "../../../static/js/core/schedule/weight_versions.ts";
import { build } from "../../../static/js/core/schedule/placement.ts";
import type { Schedule } from "../../../static/js/core/schedule/types.ts";

/** 1F1B on two ranks, without a flush. */
const PIPEDREAM: Schedule = {
  placement: build("looped", 2, 1),
  p: 2,
  m: 3,
  n: 3,
  v: 1,
  chunks: 1,
  count: 12,
  micro: [],
  codes: Uint8Array.of(0, 0, 3, 0, 3, 3, 0, 3, 0, 3, 0, 3),
  offsets: Int32Array.of(0, 6, 12),
} as any;

test("a backward uses the weights of its forward, and is late by the updates in between", () => {
  const { used, late, held } = versions(PIPEDREAM);
  assert.deepEqual([...used], [0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 2, 2]);
  assert.deepEqual([...late], [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual([...held], [2, 1]);
});

test("versions are computed once per schedule", () => assert.equal(versions(PIPEDREAM), versions(PIPEDREAM)));
