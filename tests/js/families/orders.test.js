// The page's own orders and refusals are the server's, byte by byte (tests/support/page/orders.py).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { GENERATED, SHAPED_BY_COSTS, generate, isGenerated } from "../../../static/js/core/families/families.js";
import { legalNear, refusal } from "../../../static/js/core/families/legal.js";
import { fixture } from "../support/fixtures.js";
import { DEFAULTS, UNIT } from "../support/helpers.js";

/** @import {Spec} from "../../../static/js/core/schedule/types.js" */

/** @type {{families: Record<string, any>, cases: [Record<string, any>, number[], string][]}} */
const { families, cases } = fixture("orders");

/** @param {Record<string, any>} data @returns {Spec} */
const spec = (data) => ({
  ...DEFAULTS,
  v: GENERATED[data.family].v[1],
  ...data,
  costs: { ...UNIT, ...data.costs },
});

/** What an order or a refusal adds to the digest. @param {Spec} wanted */
function part(wanted) {
  const problem = refusal(wanted);
  if (problem) return Buffer.from(`${problem.field} ${problem.nearest} ${problem.message}`);
  const { p, codes, offsets, micro } = generate(wanted);
  const counts = Int32Array.from({ length: p }, (_, r) => offsets[r + 1] - offsets[r]);
  return Buffer.concat([codes, counts, ...micro].map((each) => Buffer.from(each.buffer)));
}

/** The lines of a family whose orders are not the server's. @param {string} family */
function differing(family) {
  return cases
    .filter(([data]) => data.family === family)
    .filter(([data, several, digest]) => {
      const hash = createHash("sha256");
      for (const m of several) hash.update(part(spec({ ...data, m })));
      return hash.digest("hex").slice(0, 16) !== digest;
    })
    .map(([data]) => JSON.stringify(data));
}

for (const family of Object.keys(GENERATED)) {
  test(`${family} made in the page is the server's, for each p, m, v and group of the grid`, () => {
    assert.ok(cases.some(([data]) => data.family === family));
    assert.deepEqual(differing(family), []);
  });
}

test("what the page knows of each family is what the server says", () => {
  const mine = Object.entries(GENERATED).map(([name, { title, v, placement, fields }]) => [
    name,
    { title, v, placement, fields, shaped: SHAPED_BY_COSTS.includes(name) },
  ]);
  assert.deepEqual(Object.fromEntries(mine), families);
});

test("orders that a search or an option shapes are not made in the page", () => {
  assert.ok(isGenerated(spec({ family: "1f1b", recompute: "full" })));
  for (const [name, value] of [
    ["family", "zb-auto"],
    ["family", "imported"],
    ["vocabulary", "interlaced"],
    ["vocabulary", "parallel-1"],
    ["offload", "full"],
  ])
    assert.ok(!isGenerated({ ...spec({ family: "interleaved" }), [name]: value }), `${name} ${value}`);
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
      const english = templates[code].replace(/\{(\w+)\}/g, (/** @type {string} */ _, /** @type {string} */ name) =>
        String(params[name]),
      );
      assert.equal(message, english);
      codes.add(code);
    }
  }
  assert.equal(codes.size, 11); // all but that of v, of which a spec has at most as many as a family takes
});
