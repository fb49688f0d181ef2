// Tests of marked moments and pinned ranks in a link.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MOST_MARKS,
  MOST_PINS,
  marksText,
  pinsText,
  readMarks,
  readPins,
  toggleMark,
  togglePin,
} from "../../../static/js/core/state/marks.ts";
import { format, parse } from "../../../static/js/core/state/link.ts";
import { DEFAULTS, seeded } from "../support/helpers.ts";

test("marks read back as they were written, ascending and each once", () => {
  assert.deepEqual(readMarks("10.5,3,3"), [3, 10.5]);
  assert.equal(marksText([3, 10.5]), "3,10.5");
  assert.deepEqual([readMarks(null), marksText([])], [[], null]);
  for (const bad of ["x", "1,,2", "-1", "1,", "1e999", Array.from({ length: MOST_MARKS + 1 }, (_, i) => i).join()])
    assert.equal(readMarks(bad), null, bad);
  const random = seeded(41);
  for (let round = 0; round < 200; round++) {
    const marks = [
      ...new Set(
        Array.from({ length: 1 + Math.floor(random() * MOST_MARKS) }, () =>
          Number((random() * 10 ** Math.floor(9 * random() - 4)).toPrecision(7)),
        ),
      ),
    ].sort((a, b) => a - b);
    assert.deepEqual(readMarks(marksText(marks)), marks);
  }
});

test("a mark is set where none is near, and the nearest is removed where one is", () => {
  assert.deepEqual(toggleMark([3, 10], 5, 0.5), [3, 5, 10]);
  assert.deepEqual(toggleMark([3, 4, 10], 3.9, 1), [3, 10]);
  assert.deepEqual(toggleMark([3], 3, 0), []);
});

test("pins read back as they were written, by lane", () => {
  assert.deepEqual(readPins("7,0,b.3,b.3"), { a: [0, 7], b: [3] });
  assert.equal(pinsText({ a: [0, 7], b: [3], c: [] }), "0,7,b.3");
  assert.equal(pinsText({ a: [] }), null);
  for (const bad of [
    "x",
    "1,,2",
    "1.2",
    "b.",
    "0".repeat(5),
    Array.from({ length: MOST_PINS + 1 }, (_, i) => i).join(),
  ])
    assert.equal(readPins(bad), null, bad);
});

test("pinning twice changes nothing", () => {
  const once = togglePin({ a: [2] }, "b", 5);
  assert.deepEqual(once, { a: [2], b: [5] });
  assert.equal(pinsText(togglePin(once, "b", 5)), pinsText({ a: [2] }));
});

test("area, marks and pins travel in the link as they are read, and a bad one is reported", () => {
  const link = "?p=16&area=12-30@b.0-3&marks=3,10.5&pin=0,7,b.3";
  const { state, problems } = parse(link, DEFAULTS);
  assert.deepEqual(problems, []);
  assert.deepEqual([state.view.area, state.view.marks, state.view.pin], ["12-30@b.0-3", "3,10.5", "0,7,b.3"]);
  assert.equal(format(state, DEFAULTS), link);
  const bad = parse("?area=30-12@0-3&marks=x&pin=1.2", DEFAULTS);
  assert.deepEqual(
    bad.problems.map(({ field }) => field),
    ["area", "marks", "pin"],
  );
  assert.ok(bad.problems.every(({ message }) => message.includes("such as")));
  assert.deepEqual([bad.state.view.area, bad.state.view.marks, bad.state.view.pin], [null, null, null]);
});
