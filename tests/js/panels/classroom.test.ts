// Tests of what a leader's desk works out: the numbers of tallies, columns and order of students, snapshots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, itemsOf, titleOf } from "../../../static/js/panels/classroom/items.ts";
import { snapshotQuery } from "../../../static/js/data/classroom/snapshot_query.ts";
import { built, histogram, percent, places, positions } from "../../../static/js/panels/classroom/tally_numbers.ts";
import { parse } from "../../../static/js/core/state/link.ts";
import { specsOf } from "../../../static/js/core/state/schedules.ts";
import { DEFAULTS } from "../support/helpers.ts";

type Count = import("../../../static/js/data/classroom/classroom.ts").Count;
type Student = import("../../../static/js/data/classroom/classroom.ts").Student;

const NATURAL = { gpipe: 1, "1f1b": 1, interleaved: 2, "zb-h1": 1 };

const student = (number: number, items: Student["items"]): Student => ({
  ...{ number, name: null, here: true, view: null, items },
});

test("numbers are drawn in bins around nice values, the right one's among them", () => {
  const { step, bins, outside } = histogram([["27.3", 5] as Count, ["25", 2], ["30", 3]], 27.3);
  assert.equal(step, 0.5);
  assert.deepEqual([bins[0].at, bins[bins.length - 1].at], [25, 30]);
  assert.deepEqual(
    bins.filter(({ count }) => count).map(({ at, count }) => [at, count]),
    [
      [25, 2],
      [27.5, 5],
      [30, 3],
    ],
  );
  assert.deepEqual(outside, []);
  assert.equal(histogram([["7", 4]], 9).bins.length, 3, "whole numbers stay whole");
  assert.deepEqual(histogram([], 9).bins, []);
});

test("one slip far away is named and not drawn; what several answer is drawn however far it is", () => {
  const near = [20, 21, 22, 23].map((value) => [String(value), 10] as Count);
  assert.deepEqual(histogram([...near, ["1000000", 1]], null).outside, [["1000000", 1]]);
  assert.deepEqual(histogram([...near, ["80", 9]], null).outside, []);
  assert.ok(histogram([...near, ["80", 9]], null).bins.length < 30);
});

test("orders are counted by op and position, in the order that most gave", () => {
  const counts: Count[] = [
    ["0F0 0F1 0B0", 3],
    ["0F0 0B0 0F1", 1],
  ];
  assert.deepEqual(positions(counts, ["0B0", "0F0", "0F1"]), {
    ops: ["0F0", "0F1", "0B0"],
    of: [
      [4, 0, 0],
      [0, 3, 1],
      [0, 1, 3],
    ],
  });
});

test("moments in the right wait are one place, others are put together where they are near", () => {
  const counts: Count[] = [
    ["1F0", 2],
    ["2@7.5", 2],
    ["2@6.01", 2],
    ["2@12.1", 1],
    ["2@12.3", 1],
    ["3@7", 1],
  ];
  assert.deepEqual(
    places(counts, "2@6-9").map(({ text, count, right }) => [text, count, right]),
    [
      ["2@6-9", 4, true],
      ["1F0", 2, false],
      ["2@12", 2, false],
      ["3@7", 1, false],
    ],
  );
});

test("boards are counted by stars, and the shortest of those with stars are named", () => {
  const counts: Count[] = [
    ["3@26", 2],
    ["0@40", 5],
    ["1@33", 1],
  ];
  assert.deepEqual(built(counts), { stars: [5, 1, 0, 2], best: [["26", 2] as Count, ["33", 1]] });
  assert.deepEqual([percent(1, 3), percent(0, 0)], [33, 0]);
});

test("columns are questions by number, then tasks, then lessons; students stand by need, ties by number", () => {
  const all = [
    student(1, { q10: "done", "learn/bubble/2": "wrong" }),
    student(2, { "build/gpipe-from-nothing": "stuck", q2: "done" }),
    student(3, { q2: "done", q10: "done" }),
  ];
  assert.deepEqual(itemsOf(all, 11), ["q2", "q10", "q11", "build/gpipe-from-nothing", "learn/bubble/2"]);
  assert.deepEqual(
    ["q2", "build/gpipe-from-nothing", "learn/bubble/2"].map((item) => titleOf(item).short),
    ["Q2", "gpipe from nothing", "bubble 2"],
  );
  const numbers = (order: "number" | "help" | "done") => inOrder([...all].reverse(), order).map(({ number }) => number);
  assert.deepEqual(
    [numbers("number"), numbers("help"), numbers("done")],
    [
      [1, 2, 3],
      [2, 1, 3],
      [3, 1, 2],
    ],
  );
});

test("the query of a snapshot names each schedule as its student had it, with its own costs", () => {
  const queries = ["?family=zb-h1&p=8&m=6", "?family=1f1b&p=4&m=8&F=2", "?family=interleaved&p=4&m=12", "?family=1f1b"];
  const specs = queries.map((query) => parse(query, DEFAULTS, NATURAL).state.spec);
  const query = snapshotQuery(
    specs.map((spec) => ({ spec, preset: null })),
    DEFAULTS,
    NATURAL,
  );
  assert.deepEqual(specsOf(parse(query, DEFAULTS, NATURAL).state), specs);
  assert.match(snapshotQuery([{ spec: DEFAULTS, preset: null }], DEFAULTS, NATURAL), /^\?family=/, "no first visit");
});
