// Tests of the barriers of a sharded output layer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { barriersAt, openings } from "../../../static/js/core/timeline/barriers.ts";
import { find, opText } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, oneFOneB, spread } from "../support/helpers.ts";
import type { Schedule } from "../../../static/js/core/schedule/types.ts";

const flat = (order: Schedule, text: string) => find(order, text)?.i ?? -1;

test("a barrier opens when the last rank's S, or T, of its micro-batch has ended", () => {
  const order = spread(2);
  const times = simulate(order, { ...UNIT, S: 0.25, T: 0.5 });
  const lists = openings(order, times);
  assert.equal(lists.length, 2);
  ["S", "T"].forEach((letter, which) => {
    for (let k = 0; k < order.m; k++) {
      const ends = [0, 1].map((stage) => times.end[flat(order, `${stage}${letter}${k}`)]);
      assert.equal(lists[which][k], Math.max(...ends), `${letter}${k}`);
    }
    assert.deepEqual(
      [...lists[which]],
      [...lists[which]].sort((a, b) => a - b),
    );
  });
});

test("S meets at C1, T waits for C1 and meets at C2, the last stage's backward waits for C2", () => {
  const order = spread(2);
  const times = simulate(order, { ...UNIT, S: 0.25, T: 0.5 });
  const at = (text: string) => {
    const { waits, meets } = barriersAt(order, times, flat(order, text));
    return [waits?.name ?? null, meets?.name ?? null];
  };
  assert.deepEqual(at("0S1"), [null, "C1"]);
  assert.deepEqual(at("1T0"), ["C1", "C2"]);
  assert.deepEqual(at("1B1"), ["C2", null]);
  assert.deepEqual(at("0B1"), [null, null]);
  assert.deepEqual(at("1F1"), [null, null]);
  const { waits } = barriersAt(order, times, flat(order, "1B1"));
  assert.deepEqual(
    waits?.ops.map((i) => opText(order, i)),
    ["0T1", "1T1"],
  );
  assert.equal(waits?.opens, times.end[waits?.last ?? -1]);
});

test("with one barrier T waits for no rank, and without barriers nothing opens", () => {
  const order = spread(1);
  const times = simulate(order, { ...UNIT, S: 0.25, T: 0.5 });
  assert.equal(openings(order, times).length, 1);
  assert.equal(barriersAt(order, times, flat(order, "0T1")).meets, null);
  assert.equal(barriersAt(order, times, flat(order, "1B1")).waits?.name, "C1");
  const plain = oneFOneB(2, 2);
  assert.deepEqual(openings(plain, simulate(plain, UNIT)), []);
  assert.deepEqual(barriersAt(plain, simulate(plain, UNIT), 0), { waits: null, meets: null });
});
