// Tests of Megatron-LM's layout of layers in links and fields; tests/schedule/interop/test_megatron_layout.py has the
// same cases.
import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../../../static/js/core/state/link.ts";
import { plainPreset } from "../../../static/js/core/state/link_preset.ts";
import { countsOf, furtherOf, readLayout, type StageLayout } from "../../../static/js/core/state/megatron_layout.ts";
import { DEFAULTS } from "../support/helpers.ts";

const DEEPSEEK = "Et*3|(tt|)*29,m|L";
const right = (text: string) => readLayout(text) as StageLayout;

test("the layout of Megatron-LM's documentation has its stages", () => {
  const layout = right(DEEPSEEK);
  assert.deepEqual(layout.layers, [3, ...new Array(29).fill(2), 0, 0]);
  assert.deepEqual(furtherOf(layout), { mtp: 1, mtp_stage: 30 });
  assert.deepEqual(countsOf(layout).slice(-2), [1, 0]);
});

for (const [text, layers] of [
  ["EtL", [1]],
  ["E|(tt|)*3,tttm|L", [0, 2, 2, 2, 3, 0]],
  ["Ett||tmmL", [2, 0, 1]],
  ["E(t|)*2(tt|t)*2L", [1, 1, 2, 3, 1]],
  ["Et|*3tL", [1, 0, 0, 1]],
] as [string, number[]][])
  test(`${text} is written out`, () => assert.deepEqual(right(text).layers, layers));

const wrong: Record<string, number> = {
  ...{ "Et*3|x|L": 6, "tt|L": 1, "Et|t": 4, "EtL|": 4, "EtL|t": 5, "Et|m|tL": 6, "Etm|mL": 5, "Et|(tt|L": 8 },
  ...{ "Et|(t(t|)*2L": 6, "Et)*2L": 3, "Et|(tt)|L": 7, "Et*0|L": 4, "(t|)*99999999|L": 13, "E|L": 3, "EEt|L": 2 },
  ...{ "Et*|L": 3, "|EtL": 2, "Et |L": 3, "et|L": 1, "Et*9999999999|L": 12 },
};
for (const [text, at] of Object.entries(wrong))
  test(`${text} is wrong at position ${at}`, () => {
    const { wanted } = readLayout(text) as { wanted: string };
    assert.match(wanted, new RegExp(`such as Et\\*3.* at position ${at} \\(`));
  });

test("a link takes a layout for the spec, or for the model that it names, and says what is wrong with one", () => {
  const plain = parse("?p=4&layers=Ett%7Cttt%7Cttm%7CL", DEFAULTS);
  assert.deepEqual([plain.problems, plain.state.spec.layers], [[], [2, 3, 3, 0]]);
  for (const key of ["layers", "m.layers"]) {
    const { state, problems } = parse(`?p=4&${key}=Ett%7Cttt%7Cttm%7CL&m.model=deepseek-v3`, DEFAULTS);
    assert.deepEqual(problems, []);
    assert.equal(state.spec.layers, null);
    const own = { mtp: 1, mtp_stage: 2 };
    assert.deepEqual(state.preset, { ...plainPreset("deepseek-v3"), layers: [2, 3, 2, 0], own });
  }
  const { problems } = parse("?layers=Ett%7Cx", DEFAULTS);
  assert.match(problems[0].message, /layers must be a layout such as .*; at position 5 \(x\)/);
});
