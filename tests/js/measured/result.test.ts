// Tests of the sentence that leads the result of a run, and of the limit of ranks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fewerRanks } from "../../../static/js/core/measured/devices.ts";
import { resultText } from "../../../static/js/core/measured/result.ts";

const figures = (makespan: number, bubble: number) => ({ makespan, bubble: { global: { of_total: bubble } } });
const RUN = {
  status: "finished",
  mode: "paced",
  verified: true,
  unit_ms: 100,
  predicted: figures(43.956, 0.273),
  measured: figures(44, 0.276),
};

test("verdict, step time against the plan and bubble against the prediction are one sentence", () => {
  assert.equal(resultText(RUN), "Verified. 4.40 s, 0.1 % over plan; bubble 27.6 %, predicted 27.3 %.");
  assert.equal(
    resultText({ ...RUN, over_plan: -0.02 }),
    "Verified. 4.40 s, 2.0 % under plan; bubble 27.6 %, predicted 27.3 %.",
  );
  assert.equal(
    resultText({ ...RUN, over_plan: 0.0001 }),
    "Verified. 4.40 s, as planned; bubble 27.6 %, predicted 27.3 %.",
  );
});

test("a free run has no plan to be over, an imported one was not verified, and a wrong one says so", () => {
  assert.equal(resultText({ ...RUN, mode: "free", unit_ms: 1 }), "Verified. 44 ms; bubble 27.6 %, predicted 27.3 %.");
  assert.match(resultText({ ...RUN, mode: "imported", verified: null }), /^Imported\. /);
  assert.match(resultText({ ...RUN, verified: false }), /^NOT verified\. /);
  assert.equal(resultText({ ...RUN, measured: null }), "Verified.");
  assert.equal(resultText({ ...RUN, status: "running" }), "");
});

test("a schedule is refused only where the runner has said how many ranks a run has at most", () => {
  const known = { state: "ready", why: "", devices: [], choices: [{ from: 1, to: 64, device: "cpu", mode: "paced" }] };
  assert.equal(fewerRanks(known, 80), 64);
  assert.equal(fewerRanks(known, 64), null);
  assert.equal(fewerRanks({ ...known, state: "starting" }, 80), null);
  assert.equal(fewerRanks({ ...known, choices: [] }, 80), null);
  assert.equal(fewerRanks(null, 80), null);
});
