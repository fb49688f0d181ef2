// Tests of finding ops by text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ordinal, readQuery, search, step, type Found, type Hit } from "../../../static/js/core/timeline/find.ts";
import { find, opText } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, offloaded, oneFOneB, schedule, seeded, spread, zbH1 } from "../support/helpers.ts";
import type { Schedule } from "../../../static/js/core/schedule/types.ts";

/** Two ranks and two chunks with an overlapped pair on each; stream 1 numbers its micro-batches after stream 0. */
const paired = () =>
  schedule("bidirectional", 2, 4, [
    [0, 1, 8 + 1, 8 + 2, 6, 7],
    [0, 1, 8 + 1, 8 + 2, 6, 7],
  ]);

function texts(text: string, order: Schedule): string[] {
  const query = readQuery(text);
  assert.ok(query, text);
  const { ops, copies, count } = search(order, query);
  const found = [...ops.at, ...(copies?.at ?? [])].map((i) => opText(order, i));
  assert.equal(found.length, count);
  return found;
}

test("a query is read as stage, kind and micro-batch, any of which may be left out", () => {
  assert.deepEqual(readQuery("2F5"), { stage: 2, letter: "F", micro: 5 });
  assert.deepEqual(readQuery(" 2 f 5 "), { stage: 2, letter: "F", micro: 5 });
  assert.deepEqual(readQuery("w12"), { stage: null, letter: "W", micro: 12 });
  assert.deepEqual(readQuery("7B"), { stage: 7, letter: "B", micro: null });
  assert.deepEqual(readQuery("5"), { stage: null, letter: null, micro: 5 });
  assert.deepEqual(readQuery("(0F7;7B3)OVERLAP_F_B"), { stage: 0, letter: "F", micro: 7 });
  for (const wrong of ["", "x", "2F5F", "2-5", "F F", "stage 2", "-1"]) assert.equal(readQuery(wrong), null, wrong);
});

test("a query finds exactly the ops that it names", () => {
  const order = oneFOneB(4, 8);
  assert.deepEqual(texts("2F5", order), ["2F5"]);
  assert.deepEqual(texts("F5", order), ["0F5", "1F5", "2F5", "3F5"]);
  assert.deepEqual(texts("2F", order), ["2F0", "2F1", "2F2", "2F3", "2F4", "2F5", "2F6", "2F7"]);
  assert.equal(texts("5", order).length, 8);
  assert.equal(texts("F", order).length, 32);
  for (const none of ["9F5", "2F8", "2W5", "O1", "999"]) assert.deepEqual(texts(none, order), []);
});

test("halves of a pair, shards of the output layer and copies are found too", () => {
  const order = paired();
  const pairs = texts("F", order).filter((text) => text.includes("OVERLAP"));
  assert.ok(pairs.length > 0);
  for (const pair of pairs) {
    const [, forward, backward] = /^\((.*);(.*)\)/.exec(pair) ?? [];
    assert.ok(texts(forward, order).includes(pair) && texts(backward, order).includes(pair));
  }
  assert.equal(texts("S1", spread(2)).length, 2);
  assert.deepEqual(texts("O", offloaded()), ["0O0", "0O1"]);
  assert.deepEqual(texts("R1", offloaded()), ["0R1"]);
  assert.equal(texts("1", offloaded()).length, 4, "a micro-batch has its copies");
});

test("every op is found by its own text, in every kind of order", () => {
  for (const order of [oneFOneB(4, 9), zbH1(5, 12), breadthFirst(3, 6, 4), spread(1), paired(), offloaded()]) {
    const all = order.count + (order.copies?.count ?? 0);
    for (let i = 0; i < all; i++) {
      const query = readQuery(opText(order, i));
      assert.ok(query);
      const { ops, copies } = search(order, query);
      assert.ok([...ops.at, ...(copies?.at ?? [])].includes(find(order, opText(order, i))?.i ?? -1));
    }
  }
});

/** All hits in the order of their starts. */
const sorted = (lanes: Found[]): Hit[] =>
  lanes
    .flatMap(({ times, hits }, lane) =>
      [hits.ops, hits.copies].flatMap((rows, part) => {
        const out: Hit[] = [];
        if (rows)
          for (let rank = 0; rank + 1 < rows.offsets.length; rank++) {
            for (let n = rows.offsets[rank]; n < rows.offsets[rank + 1]; n++)
              out.push({ lane, row: 2 * rank + part, i: rows.at[n], start: times.start[rows.at[n]] });
          }
        return out;
      }),
    )
    .sort((a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row || a.i - b.i);

test("stepping visits every hit once in order of time, both ways, and wraps at the end", () => {
  const orders = [oneFOneB(4, 9), zbH1(5, 12), offloaded()];
  for (const text of ["F", "5", "2", "I3", "1F"]) {
    const query = readQuery(text);
    assert.ok(query);
    const lanes = orders.map((order, at) => ({
      id: "abc"[at],
      times: simulate(order, { ...UNIT, comm: 0.3, O: 0.4 }),
      hits: search(order, query),
    }));
    const all = sorted(lanes);
    for (const way of [1, -1] as const) {
      const want = way > 0 ? all : [...all].reverse();
      let at: Hit | null = step(
        lanes,
        way > 0 ? { lane: -1, row: -1, i: -1, start: -Infinity } : { lane: 9, row: 0, i: -1, start: 1e9 },
        way,
      );
      for (const each of want) {
        assert.deepEqual(at, each);
        assert.equal(ordinal(lanes, each), all.indexOf(each));
        at = step(lanes, each, way);
      }
      assert.deepEqual(at, want[0], "after the last comes the first");
    }
  }
});

test("from any op, hit or not, the next hit is the first that starts later", () => {
  const random = seeded(31);
  const order = zbH1(5, 12);
  const times = simulate(order, { ...UNIT, comm: 0.3 });
  const query = readQuery("W");
  assert.ok(query);
  const lanes = [{ id: "a", times, hits: search(order, query) }];
  const all = sorted(lanes);
  for (let round = 0; round < 200; round++) {
    const rank = Math.floor(random() * 5);
    const i = order.offsets[rank] + Math.floor(random() * (order.offsets[rank + 1] - order.offsets[rank]));
    const from = { lane: 0, row: 2 * rank, i, start: times.start[i] };
    const later = all.find(
      (hit) =>
        hit.start > from.start ||
        (hit.start === from.start && (hit.row > from.row || (hit.row === from.row && hit.i > i))),
    );
    assert.deepEqual(step(lanes, from, 1), later ?? all[0]);
  }
});

test("a query that finds nothing steps nowhere", () => {
  const order = oneFOneB(2, 2);
  const lanes = [
    { id: "a", times: simulate(order, UNIT), hits: search(order, { stage: 7, letter: "F", micro: null }) },
  ];
  assert.equal(step(lanes, { lane: 0, row: 0, i: 0, start: 0 }, 1), null);
});
