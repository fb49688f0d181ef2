// Tests of what is drawn unseen while the page is idle, before a drag.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { createRehearsal } from "../../../static/js/data/rehearsal.ts";
import { DEFAULTS } from "../support/helpers.ts";
import type { Plan } from "../../../static/js/data/plan.ts";
import type { Spec } from "../../../static/js/core/schedule/types.ts";

const STOPS = Array.from({ length: 64 }, (_, k) => k + 1);
let tasks: ((idle: { timeRemaining: () => number }) => void)[] = [];

beforeEach(() => {
  tasks = [];
  const ask = (task: (typeof tasks)[number]) => tasks.push(task);
  Object.assign(globalThis, { window: { requestIdleCallback: ask }, requestIdleCallback: ask });
});

/** The page is idle for this long. cost: of each look at the clock. */
function idle(ms: number = Infinity, cost = 0) {
  let left = ms;
  for (const task of tasks.splice(0)) task({ timeRemaining: () => (left -= cost) });
}

const planOf = (changes: Partial<Spec> = {}): Plan => ({ id: "a", asked: { ...DEFAULTS, ...changes } }) as any;

/** A rehearsal of m, and the values that it draws. here: whether there is an order. */
function rehearsal(here: (m: number) => boolean = () => true) {
  const drawn: number[] = [];
  const made = createRehearsal(
    (_plan, { m }) => (here(m) ? [m as any] : null),
    ([lane]) => drawn.push(lane as any),
  );
  const begin = (plan = planOf(), field = "m") =>
    made.begin(plan, field, (m) => ({ ...plan.asked, m }), STOPS, plan.asked.m);
  return { drawn, begin, end: made.end };
}

test("the nearest stops are drawn first, then some over the whole slider, never the present one", () => {
  const { drawn, begin } = rehearsal();
  begin(planOf({ m: 8 }));
  idle();
  assert.deepEqual(drawn.slice(0, 6), [7, 9, 6, 10, 5, 11]);
  assert.ok(Math.min(...drawn) <= 3 && Math.max(...drawn) >= 62);
  assert.equal(new Set(drawn).size, drawn.length);
  assert.ok(drawn.length <= 24 && !drawn.includes(8));
});

test("a field is rehearsed once, and again for another family", () => {
  const { drawn, begin } = rehearsal();
  for (const family of ["1f1b", "1f1b", "gpipe"]) {
    begin(planOf({ family }));
    idle();
  }
  assert.equal(drawn.length % 2, 0);
  assert.deepEqual(drawn.slice(drawn.length / 2), drawn.slice(0, drawn.length / 2));
});

test("a drag ends it", () => {
  const { drawn, begin, end } = rehearsal();
  begin();
  end();
  idle();
  assert.deepEqual(drawn, []);
  assert.equal(tasks.length, 0);
});

test("no drawing begins where the browser has no time for it, and the rest follows when it has", () => {
  const { drawn, begin } = rehearsal();
  begin();
  idle(10, 2);
  assert.equal(drawn.length, 2); // with 8 and 6 ms left, but not with 4
  idle();
  assert.ok(drawn.length > 10);
  assert.equal(tasks.length, 0);
});

test("a stop without an order is left out", () => {
  const { drawn, begin } = rehearsal((m) => m !== 6);
  begin(planOf({ m: 8 }));
  idle();
  assert.deepEqual(drawn.slice(0, 3), [7, 9, 10]);
});

test("no large order is drawn ahead, of a small one either", () => {
  const { drawn, begin } = rehearsal();
  begin(planOf({ p: 64, m: 1024 }));
  assert.equal(tasks.length, 0);
  begin(planOf({ p: 1024, m: 8 }));
  idle();
  assert.ok(drawn.length > 8 && Math.max(...drawn) <= 32, `${drawn}`); // 3 * 1024 * 32 are 98,304 ops
});
