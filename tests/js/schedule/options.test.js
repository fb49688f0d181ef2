// Tests of the sorts and decisions behind offload and the sharded output layer; tests/schedule/simulation compares what
// they make with the server's.
import assert from "node:assert/strict";
import { test } from "node:test";

import { placedHere, timedWithOptions } from "../../../static/js/core/options/apply_options.js";
import { argsort, argsortWhole } from "../../../static/js/core/options/argsort.js";
import { orderQuery } from "../../../static/js/data/plan.js";
import { DEFAULTS, UNIT, oneFOneB, seeded } from "../support/helpers.js";

/** @import {Spec} from "../../../static/js/core/schedule/types.js" */

/** @param {ArrayLike<number>} keys */
const stable = (keys) => Array.from(keys, (_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);

test("numbers are sorted stably, whether they ascend, descend, repeat or are mixed", () => {
  const random = seeded(11);
  for (let round = 0; round < 200; round++) {
    const length = Math.floor(random() * 40);
    const lists = 1 + Math.floor(random() * 5);
    const keys = Float64Array.from({ length }, (_, i) =>
      round % 2 ? Math.floor(random() * 6) : -Math.floor((i % (length / lists)) * 1.5),
    );
    const room = () => new Int32Array(length + 3);
    const sorted = argsort(keys, length, room(), room());
    assert.deepEqual(Array.from(sorted.subarray(0, length)), stable(keys));
    const whole = Int32Array.from(keys, (key) => Math.abs(key));
    const order = room();
    argsortWhole(whole, length, order, new Int32Array(100));
    assert.deepEqual(Array.from(order.subarray(0, length)), stable(whole));
  }
});

test("a schedule that lacks nothing stays the same object", () => {
  const schedule = oneFOneB(3, 5);
  const spec = /** @type {const} */ ({ ...schedule.spec, offload: "full", vocabulary: "parallel-1" });
  assert.equal(timedWithOptions(schedule, spec, UNIT).schedule, schedule);
});

/** @param {Partial<Spec>} changes */
const query = (changes, shaped = false) => orderQuery({ ...DEFAULTS, ...changes }, DEFAULTS, shaped);

test("an order is asked for without costs that only time it, and as a base order where options place ops", () => {
  const costs = { ...DEFAULTS.costs, F: 2, O: 3 };
  const small = "?family=gis&p=4&m=8&v=2";
  assert.equal(query({ family: "gis", v: 2, costs }), small);
  assert.equal(query({ family: "gis", v: 2, costs, offload: "full" }), `${small}&offload=full&base=true`);
  assert.equal(
    query({ costs, vocabulary: "parallel-2", recompute: "full" }),
    "?family=1f1b&p=4&m=8&v=1&recompute=full&vocabulary=parallel-2&base=true",
  );
  assert.equal(query({ costs, vocabulary: "interlaced" }), "?family=1f1b&p=4&m=8&v=1&vocabulary=interlaced");
  assert.equal(
    query({ family: "imported", offload: "full", order: "x", costs }),
    "?family=imported&p=4&m=8&v=1&offload=full&order=x",
  );
});

test("the query keeps what the server has to judge: lists, and a pair's time beside an option", () => {
  const listed = { ...DEFAULTS.costs, F: [1, 2, 1, 1], W: 3 };
  assert.equal(
    query({ costs: listed, vocabulary: "parallel-1" }),
    "?family=1f1b&p=4&m=8&v=1&vocabulary=parallel-1&F=1,2,1,1&W=3&base=true",
  );
  const paired = { ...DEFAULTS.costs, F: 2, FB: 4 };
  assert.equal(query({ costs: paired }), "?family=1f1b&p=4&m=8&v=1");
  assert.equal(query({ costs: paired, recompute: "full" }), "?family=1f1b&p=4&m=8&v=1&recompute=full&FB=4");
});

test("an order that takes long to complete, and one that a search makes, is asked for with its costs", () => {
  const costs = { ...DEFAULTS.costs, F: 2 };
  const large = { ...DEFAULTS, costs, family: "gis", p: 64, m: 4096, v: 4, offload: "full" };
  assert.equal(placedHere(large), false);
  assert.equal(placedHere({ ...large, p: 16, m: 128 }), true);
  assert.equal(query(large), "?family=gis&p=64&m=4096&v=4&offload=full&F=2");
  assert.equal(query({ family: "v-half", costs, vocabulary: "parallel-1" }, true).includes("F=2"), true);
});
