// Tests of numbers by stage: typed entries, pasted lists and columns, and what is wrong with them by name.
import assert from "node:assert/strict";
import { test } from "node:test";

import { allEqual, placed, readBlock, readEntry } from "../../../static/js/core/state/stage_entries.ts";

const HEADS = [
  { name: "F", symbol: "F" },
  { name: "I", symbol: "I" },
  { name: "n", symbol: "layers", whole: true },
];
const ones = () => HEADS.map(() => [1, 1, 1, 1]);

test("an entry is a number of 0 or more, whole where it counts", () => {
  assert.deepEqual(
    ["1.5", " 2 ", "0", "1e3", ".5"].map((text) => readEntry(text)),
    [1.5, 2, 0, 1000, 0.5],
  );
  for (const text of ["", "-1", "x", "1,5", "Infinity", "0x10", "NaN"]) assert.ok(Number.isNaN(readEntry(text)), text);
  assert.ok(Number.isNaN(readEntry("1.5", true)));
});

test("one line is a list that goes down, several lines are rows of a spreadsheet", () => {
  assert.deepEqual(readBlock("1,2,3"), [["1"], ["2"], ["3"]]);
  assert.deepEqual(readBlock("1 2\t3"), [["1"], ["2"], ["3"]]);
  assert.deepEqual(readBlock("1\t2\r\n3\t4\r\n"), [
    ["1", "2"],
    ["3", "4"],
  ]);
  assert.deepEqual(readBlock("5\n6"), [["5"], ["6"]]);
  assert.deepEqual(readBlock("2*5,3"), [["5"], ["5"], ["3"]]);
});

test("a block is put over the entries from one cell on", () => {
  const list = placed(HEADS, ones(), { column: 0, stage: 1 }, readBlock("7,8,9"));
  assert.deepEqual(list, {
    columns: [
      [1, 7, 8, 9],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ],
    changed: [0],
  });
  const columns = placed(HEADS, ones(), { column: 1, stage: 0 }, readBlock("2\t3\n4\t5"));
  assert.deepEqual(columns, {
    columns: [
      [1, 1, 1, 1],
      [2, 4, 1, 1],
      [3, 5, 1, 1],
    ],
    changed: [1, 2],
  });
});

test("an error names the entry, and more numbers than stages are refused", () => {
  const wrong = placed(HEADS, ones(), { column: 0, stage: 1 }, readBlock("1,x"));
  assert.deepEqual(wrong, {
    problem: "F of stage 2 must be a number of 0 or more, not “x”",
    at: { column: 0, stage: 2 },
  });
  const half = placed(HEADS, ones(), { column: 2, stage: 0 }, [["1.5"]]);
  assert.match("problem" in half ? half.problem : "", /layers of stage 0 must be a whole number/);
  const long = placed(HEADS, ones(), { column: 0, stage: 2 }, readBlock("1,2,3"));
  assert.match("problem" in long ? long.problem : "", /3 × 1 numbers do not fit from stage 2 on: there are 4 stages/);
  const wide = placed(HEADS, ones(), { column: 2, stage: 0 }, [["1", "2"]]);
  assert.ok("problem" in wide);
});

test("all equal keeps the sum", () => {
  assert.deepEqual(allEqual([1, 2, 3, 6], false), [3, 3, 3, 3]);
  assert.deepEqual(allEqual([10, 0, 0, 0], true), [3, 3, 2, 2]);
});
