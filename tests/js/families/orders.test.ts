// The page's own orders and refusals are the server's, byte by byte (tests/support/page/orders.py).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { CONSTRUCTED, construct } from "../../../static/js/core/families/construct.ts";
import { isConstructed } from "../../../static/js/core/families/accepts.ts";
import { legalNear, refusal } from "../../../static/js/core/families/legal.ts";
import { fixture } from "../support/fixtures.ts";
import { DEFAULTS, UNIT } from "../support/helpers.ts";
import type { Spec } from "../../../static/js/core/schedule/types.ts";

const {
  cases,
  options,
}: { cases: [Record<string, any>, number[], string][]; options: [Record<string, any>, boolean][] } = fixture("orders");

const spec = (data: Record<string, any>): Spec => ({
  ...DEFAULTS,
  v: CONSTRUCTED[data.family].v.default,
  ...data,
  costs: { ...UNIT, ...data.costs },
});

/** What an order or a refusal adds to the digest. */
function part(wanted: Spec) {
  const problem = refusal(wanted);
  if (problem) return Buffer.from(`${problem.field} ${problem.nearest} ${problem.message}`);
  const { p, codes, offsets, micro } = construct(wanted);
  const counts = Int32Array.from({ length: p }, (_, r) => offsets[r + 1] - offsets[r]);
  return Buffer.concat([codes, counts, ...micro].map((each) => Buffer.from(each.buffer)));
}

/** The lines of a family whose orders are not the server's. */
function differing(family: string) {
  return cases
    .filter(([data]) => data.family === family)
    .filter(([data, several, digest]) => {
      const hash = createHash("sha256");
      for (const m of several) hash.update(part(spec({ ...data, m })));
      return hash.digest("hex").slice(0, 16) !== digest;
    })
    .map(([data]) => JSON.stringify(data));
}

for (const family of Object.keys(CONSTRUCTED)) {
  test(`${family} made in the page is the server's, for each p, m, v and group of the grid`, () => {
    assert.ok(cases.some(([data]) => data.family === family));
    assert.deepEqual(differing(family), []);
  });
}

test("orders that are searched or imported are not constructed in the page, those with options are", () => {
  assert.ok(isConstructed(spec({ family: "1f1b", recompute: "full", vocabulary: "interlaced" })));
  assert.ok(isConstructed(spec({ family: "interleaved", offload: "full" })));
  for (const family of ["zb-auto", "imported"]) assert.ok(!isConstructed({ ...spec({ family: "1f1b" }), family }));
});

test("the page constructs what the server takes, with all its options, and nothing else", () => {
  const wrong = options.filter(([data, isLegal]) => {
    const wanted = spec(data);
    return isLegal !== (isConstructed(wanted) && refusal(wanted) === null);
  });
  assert.deepEqual(wrong, []);
  const legal = options.filter(([, isLegal]) => isLegal).length;
  assert.ok(legal > 100 && legal < 0.6 * options.length, `${legal} of ${options.length}`);
});

test("the legal spec near an illegal one changes one refused field after the other", () => {
  const near = legalNear(spec({ family: "dualpipe", p: 5, m: 3, v: 4 }));
  assert.deepEqual([near?.p, near?.m, near?.v], [6, 12, 1]);
  assert.deepEqual(legalNear(spec({ family: "gis", p: 4, m: 7 }))?.m, 8);
});

test("every refusal has the code of the server's sentence", () => {
  const templates = fixture("messages");
  const codes = new Set();
  for (const [data, several] of cases) {
    for (const m of several) {
      const problem = refusal(spec({ ...data, m }));
      if (!problem) continue;
      const { code = "", params = {}, message } = problem;
      const english = templates[code].replace(/\{(\w+)\}/g, (_: string, name: string) => String(params[name]));
      assert.equal(message, english);
      codes.add(code);
    }
  }
  const rules = Object.values(CONSTRUCTED).flatMap(({ legal }) => legal.map(({ code }) => code));
  assert.deepEqual(codes, new Set([...rules, "schedule.family_takes_v_exactly"]));
});
