// A chart's points as data: keyboard order, points put on the timeline, and the exported table.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beside,
  byMemory,
  cellText,
  csv,
  front,
  putOver,
  rank,
  rowsCsv,
  spoken,
  type Point,
} from "../../../static/js/core/drawing/chart_points.ts";
import { DEFAULTS } from "../support/helpers.ts";

const point = (label: string, memory: number, throughput: number, more: Partial<Point> = {}): Point => ({
  family: "1f1b",
  title: label,
  label,
  group: "classic",
  limit: null,
  memory,
  of_p: memory / 4,
  throughput,
  bubble: { span: { of_total: 1 - throughput, of_ideal: 0 }, global: { of_total: 0.5, of_ideal: 1 } },
  weights: 1,
  dominated_by: null,
  adjusted: null,
  moved: false,
  spec: DEFAULTS,
  ...more,
});
const points = [
  point("slow", 4, 0.5, { dominated_by: 1 }),
  point("fast", 4, 0.9),
  point("lean, small", 2, 0.4),
  point("other", 3, 0.7, { moved: true, spec: { ...DEFAULTS, p: 6 } }),
];

test("points are stepped through from the least memory to the most, slow before fast", () => {
  assert.deepEqual(byMemory(points), [2, 3, 0, 1]);
  assert.equal(
    beside(byMemory(points), () => true, null, 1),
    2,
  );
  assert.equal(
    beside(byMemory(points), () => true, null, -1),
    1,
  );
  assert.equal(
    beside(byMemory(points), () => true, 3, 1),
    0,
  );
  assert.equal(
    beside(byMemory(points), () => true, 1, 1),
    1,
    "the last one stays",
  );
});

test("points that are not drawn are skipped", () => {
  assert.equal(
    beside(byMemory(points), (at) => at !== 3, 2, 1),
    0,
  );
  assert.equal(
    beside(byMemory(points), () => false, null, 1),
    null,
  );
});

test("a point's text names the points that dominate it, or says that its size differs", () => {
  assert.deepEqual(
    points.map((each) => rank(points, each)),
    ["fast", "on the line", "on the line", "at p 6, m 8"],
  );
  assert.match(
    spoken(points, points[0]),
    /^slow: memory 4 micro-batches, throughput 50\.0 %, bubble 50\.0 % of the step; fast is better\.$/,
  );
  assert.match(spoken(points, points[3]), /drawn at p 6, m 8, not ranked\.$/);
});

test("of points at one position the family is selected, not the searched order", () => {
  const both = [point("ZB-auto within 4", 4, 0.9, { limit: 4 }), points[1]];
  assert.equal(front(both, 0), 1);
  assert.equal(front(both, 1), 1);
  assert.equal(front([both[0], points[0]], 0), 0);
});

test("a point put on the timeline keeps the settings that the server does not know", () => {
  const own = { ...DEFAULTS, family: "zb-auto", memory: 3 };
  const put = putOver(point("ZB-auto within 3", 3, 0.8, { spec: own }).spec, { ...DEFAULTS, later: 1 } as any);
  assert.equal(put.family, "zb-auto");
  assert.equal(put.memory, 3);
  assert.equal((put as any).later, 1);
});

test("the table is CSV whose cells may hold commas", () => {
  const lines = csv(points).split("\r\n");
  assert.equal(lines.length, points.length + 2);
  assert.equal(lines[0].split(",")[6], "memory");
  assert.ok(lines[3].startsWith('"lean, small",1f1b,4,8,1,,2,0.5,0.4,0.6,'));
});

test("a click may change only a part of the costs", () => {
  const put = putOver({ p: 6, costs: { O: 2 } }, DEFAULTS);
  assert.deepEqual([put.p, put.m, put.costs.O, put.costs.F], [6, DEFAULTS.m, 2, DEFAULTS.costs.F]);
});

test("rows become CSV with units in the header and empty cells where there is no number", () => {
  const text = rowsCsv({
    columns: [
      ["p", ""],
      ["bubble", "%"],
    ],
    rows: [
      { cells: [4, 12.5], lines: [], change: null, mark: "" },
      { cells: [8, null], lines: [], change: null, mark: "" },
    ],
    notes: [],
  });
  assert.equal(text, "p,bubble (%)\r\n4,12.5\r\n8,\r\n");
});

test("numbers in a table have four digits, integers all of their digits", () => {
  assert.deepEqual([12.34567, 128000, null, "F"].map(cellText), ["12.35", "128000", "", "F"]);
});
