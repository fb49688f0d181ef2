// Tests of the comparison's requests to the server and of the order of its rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, comparisonUrl, inOrder, leastOf, type Column } from "../../../static/js/panels/compare/comparison.ts";
import { DEFAULTS } from "../support/helpers.ts";

type Row = import("../../../static/js/panels/compare/comparison.ts").Row;

const fixed = { v: { min: 1, default: 1, max: 1 } } as any;
const free = { v: { min: 1, default: 2, max: 64 } } as any;

const row = (title: string, makespan: number, p = 4) =>
  ({ title, makespan, spec: { ...DEFAULTS, p } }) as unknown as Row;
const makespan = columns().find((column) => column.id === "makespan") as Column;

test("v is requested only where the family on the screen has a choice of it", () => {
  assert.equal(comparisonUrl(DEFAULTS, DEFAULTS, fixed, null), "/api/compare?p=4&m=8");
  assert.equal(comparisonUrl({ ...DEFAULTS, v: 3 }, DEFAULTS, free, null), "/api/compare?p=4&m=8&v=3");
});

test("a chosen set is named, and costs that differ from the defaults are sent with it", () => {
  const spec = { ...DEFAULTS, costs: { ...DEFAULTS.costs, F: [1, 2, 3, 4] } };
  const query = new URLSearchParams(comparisonUrl(spec, DEFAULTS, fixed, ["1f1b", "zb-h1"]).split("?")[1]);
  assert.deepEqual(Object.fromEntries(query), { p: "4", m: "8", F: "1,2,3,4", families: "1f1b,zb-h1" });
});

test("rows sort by number or by name, either way, and ties keep their order", () => {
  const rows = [row("b", 3), row("c", 1), row("a", 3)];
  const titles = (id: string | null, way: 1 | -1) =>
    inOrder(rows, id, way)
      .map((each) => each.title)
      .join("");
  assert.equal(titles("makespan", 1), "cba");
  assert.equal(titles("makespan", -1), "bac");
  assert.equal(titles("schedule", 1), "abc");
  assert.equal(titles(null, 1), "bca");
});

test("the minimum is marked only among rows of the same work, and not where all are equal", () => {
  assert.equal(leastOf([row("a", 3), row("b", 5), row("c", 1, 8)], makespan, DEFAULTS), 3);
  assert.ok(Number.isNaN(leastOf([row("a", 3), row("b", 3 + 1e-9)], makespan, DEFAULTS)));
});
