// Tests of a custom model and machine in a link.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  called,
  expertFields,
  machineFields,
  modelFields,
  range,
  read,
  sharedFields,
  shown,
} from "../../../static/js/core/state/own_values.ts";
import { seeded } from "../support/helpers.ts";
import type { Bounds, OwnField } from "../../../static/js/core/state/own_values.ts";

const fields = () => [...modelFields(), ...expertFields(), ...machineFields(), ...sharedFields()];
const field = (name: string): OwnField => fields().find((each) => each.name === name) ?? assert.fail(name);

const good: [string, string, Bounds, number | null][] = [
  ["layers", "48", [1, 4096], 48],
  ["layers", " 4e1 ", [1, 4096], 40],
  ["vocabulary", "128,256", [1, 2 ** 24], 128256],
  ["vocabulary", "128 256", [1, 2 ** 24], 128256],
  ["kv_heads", "", [1, 65536], null],
  ["reserve", "2.5", [0, 1e15], 2.5e9],
  ["flops", "989.4", [1e6, 1e20], 989.4e12],
  ["efficiency", "45", [1e-3, 1], 0.45],
  ["intra_latency", "5", [0, 10], 5e-6],
  ["intra_latency", "0", [0, 10], 0],
];
for (const [name, text, bounds, value] of good) {
  test(`${called(field(name))} "${text}" is ${value} to the server`, () =>
    assert.deepEqual(read(field(name), text, bounds), { value }));
}

const bad: [string, string, Bounds, string, number | undefined][] = [
  ["layers", "many", [1, 4096], "Layers must be a whole number, 1 to 4,096", undefined],
  ["layers", "", [1, 4096], "Layers must be a whole number, 1 to 4,096", undefined],
  ["layers", "0x10", [1, 4096], "Layers must be a whole number, 1 to 4,096", undefined],
  ["layers", "9000", [1, 4096], "Layers must be 1 to 4,096", 4096],
  ["layers", "-3", [1, 4096], "Layers must be 1 to 4,096", 1],
  ["layers", "12.7", [1, 4096], "Layers must be a whole number", 13],
  ["efficiency", "120", [1e-3, 1], "Efficiency must be 0.1 to 100 %", 1],
  ["flops", "1e9", [1e6, 1e20], "Peak rate must be 10⁻⁶ to 10⁸ TFLOP/s", 1e20],
  ["memory", "1,5", [1e3, 1e18], "Memory must be a number, 10⁻⁶ to 10⁹ GB", undefined],
];
for (const [name, text, bounds, message, nearest] of bad) {
  test(`${called(field(name))} "${text}" is refused by name with the nearest legal value`, () => {
    assert.deepEqual(read(field(name), text, bounds), { message, nearest });
    if (nearest !== undefined)
      assert.deepEqual(read(field(name), shown(field(name), nearest), bounds), { value: nearest });
  });
}

test("the text in a field is read back as the same value, whatever the unit", () => {
  const random = seeded(3);
  for (let round = 0; round < 2000; round++) {
    const each = fields()[Math.floor(random() * fields().length)];
    const digits = Number((random() * 1000).toPrecision(1 + Math.floor(random() * 7)));
    const typed = each.whole ? Math.ceil(digits) : digits;
    const got = read(each, String(typed), [0, 1e30]);
    assert.ok("value" in got);
    assert.equal(shown(each, got.value), String(typed));
  }
});

test("every field has readable bounds, with its unit", () => {
  assert.equal(range(field("sequence"), [1, 16777216]), "1 to 16,777,216 tokens");
  assert.equal(range(field("intra_latency"), [0, 10]), "0 to 10⁷ µs");
});
