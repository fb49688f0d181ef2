// Tests of the sorts and decisions behind offload and the sharded output layer; tests/schedule/simulation compares what
// they make with the server's.
import assert from "node:assert/strict";
import { test } from "node:test";

import { placedHere, timedWithOptions } from "../../../static/js/core/options/apply_options.ts";
import { baseOrder, completeOrder } from "../../../static/js/core/families/base_order.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { argsort, argsortWhole } from "../../../static/js/core/options/argsort.ts";
import { orderQuery } from "../../../static/js/data/plan.ts";
import { DEFAULTS, UNIT, oneFOneB, seeded } from "../support/helpers.ts";
import type { Spec } from "../../../static/js/core/schedule/types.ts";

const stable = (keys: ArrayLike<number>) => Array.from(keys, (_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);

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
  const spec = { ...schedule.spec, offload: "full", vocabulary: "parallel-1" } as const;
  assert.equal(timedWithOptions(schedule, spec, UNIT).schedule, schedule);
});

const query = (changes: Partial<Spec>) => orderQuery({ ...DEFAULTS, ...changes }, DEFAULTS);

test("an imported order is asked for without costs, unless the server has to validate them", () => {
  const costs = { ...DEFAULTS.costs, F: 2, O: 3 };
  const imported = { family: "imported", order: "x" };
  const small = "?family=imported&p=4&m=8&v=1";
  assert.equal(query({ ...imported, costs }), `${small}&order=x`);
  assert.equal(query({ ...imported, costs, offload: "full" }), `${small}&offload=full&order=x`);
  const listed = { ...DEFAULTS.costs, F: [1, 2, 1, 1], W: 3 };
  assert.equal(query({ ...imported, costs: listed }), `${small}&F=1,2,1,1&W=3&order=x`);
  const paired = { ...DEFAULTS.costs, F: 2, FB: 4 };
  assert.equal(query({ ...imported, costs: paired }), `${small}&order=x`);
  assert.equal(query({ ...imported, costs: paired, recompute: "full" }), `${small}&recompute=full&F=2&FB=4&order=x`);
});

test("a searched order is asked for with its costs", () => {
  const costs = { ...DEFAULTS.costs, F: 2 };
  assert.equal(query({ family: "zb-auto", costs }), "?family=zb-auto&p=4&m=8&v=1&F=2");
});

test("an order that takes long to complete is left to a worker, which makes the same", () => {
  const large = { ...DEFAULTS, family: "gis", p: 64, m: 4096, v: 4, offload: "full" };
  const small = { ...large, p: 4, m: 8, v: 2 };
  assert.equal(placedHere(large), false);
  assert.equal(placedHere(small), true);
  const whole = completeOrder(small);
  assert.equal(whole.base, false);
  assert.deepEqual(whole.copies, timedWithOptions(baseOrder(small), small, timing(small)).schedule.copies);
});
