// Tests of explanations in a link.
import assert from "node:assert/strict";
import { test } from "node:test";

import { format, parse } from "../../../static/js/core/state/link.ts";
import { DEFAULTS } from "../support/helpers.ts";

test("a link keeps what the timeline explains, and restores it", () => {
  const link = "?crit=1&micro=5&lane=comm&story=ranks";
  const { state, problems } = parse(link, DEFAULTS);
  assert.deepEqual(problems, []);
  assert.deepEqual([state.view.crit, state.view.micro, state.view.lane, state.view.story], ["1", 5, "comm", "ranks"]);
  assert.equal(format(state, DEFAULTS), link);
  assert.equal(parse("?micro=0", DEFAULTS).state.view.micro, 0, "the first micro-batch is one");
});

test("what it cannot explain is reported and left out", () => {
  const { state, problems } = parse("?crit=yes&micro=-1&lane=memory&story=2", DEFAULTS);
  assert.deepEqual(
    problems.map(({ field }) => field),
    ["crit", "micro", "lane", "story"],
  );
  assert.equal(format(state, DEFAULTS), "");
});
