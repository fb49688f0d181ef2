// Training plans: which is on the screen, the file, and the figure of time over memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { GROUPS, planFigure, ticks } from "../../../static/js/core/drawing/plan_figure.ts";
import {
  areLaidOut,
  layoutText,
  longer,
  placeOf,
  plansCsv,
  signedPercent,
} from "../../../static/js/core/drawing/training_plans.ts";
import { DEFAULTS } from "../support/helpers.ts";
import type { TrainingPlan } from "../../../static/js/core/drawing/training_plans.ts";

const GB = 1e9;
const LIMIT = 80 * GB;

const plan = (
  seconds: number,
  gigabytes: number,
  spec: Partial<TrainingPlan["spec"]>,
  frontier = false,
): TrainingPlan => ({
  spec: { ...DEFAULTS, ...spec },
  sizes: { p: 4, v: spec.v ?? 1, tp: 8, context: 1, expert: 1, data: 2, micro_batch: 1, m: 8 },
  preset: {},
  frameworks: ["torch", "megatron"],
  place: 1,
  tied: false,
  units: {
    seconds: seconds - 0.5,
    tail: 0.5,
    tokens: 1000,
    devices: 64,
    tokens_per_second: 1000 / seconds,
    span: { tokens_per_second: 2000 / seconds },
    mfu: 0.4,
    memory: { most: gigabytes * GB, rank: 0, limit: LIMIT, fits: gigabytes <= 80, activations: [] },
  },
  best: true,
  frontier,
});

const PLANS = [
  plan(4, 70, { family: "v-auto", v: 2, memory: 8, offload: ["none", "full"] }, true),
  plan(4.2, 40, { family: "gis", v: 2 }, true),
  plan(5, 60, { family: "1f1b", recompute: "full" }),
  plan(3.9, 100, { family: "gpipe" }, true),
];

const PAINT: any = { accent: "a", bad: "b", groups: Object.fromEntries(GROUPS.map((group) => [group, group])) };
const SHOWN = {
  plans: PLANS,
  now: { seconds: 9, memory: 30 * GB },
  limit: LIMIT,
  name: (at: number) => PLANS[at].spec.family,
  lines: (at: number) => [PLANS[at].spec.family, "more"],
  group: (at: number) => ["V", "memory", "classic", "classic"][at],
  groupName: (group: string) => group,
};
const SIZE = { width: 600, height: 400 };

test("a schedule is a plan where all but its costs and its effort is the same", () => {
  const costs = { ...DEFAULTS.costs, F: 7 };
  const { sizes } = PLANS[0];
  assert.equal(placeOf(PLANS, { ...PLANS[0].spec, costs, w_share: 0.5, effort: 40 }, sizes), 0);
  assert.equal(placeOf(PLANS, { ...PLANS[0].spec, offload: "full" }, sizes), -1);
  assert.equal(placeOf(PLANS, { ...PLANS[2].spec, m: PLANS[2].spec.m + 1 }, PLANS[2].sizes), -1);
  assert.equal(placeOf(PLANS, PLANS[0].spec, { ...sizes, tp: 4 }), -1);
});

test("a layout is told by its sizes, and plans are of several only where these differ", () => {
  assert.equal(layoutText(PLANS[0].sizes), "PP 4 · VP 2 · TP 8 · DP 2 · b 1 · m 8");
  assert.equal(areLaidOut(PLANS), false);
  assert.equal(areLaidOut([...PLANS, { ...PLANS[0], sizes: { ...PLANS[0].sizes, tp: 4, data: 4 } }]), true);
});

test("a difference is a percentage with its sign, and none has no sign", () => {
  assert.equal(signedPercent(longer(4, 5)), "−20.0 %");
  assert.equal(signedPercent(longer(5, 4)), "+25.0 %");
  assert.equal(signedPercent(-0.0001), "0.0 %");
});

test("the file has a row for each plan, with chunks' options as the command line reads them", () => {
  const [head, first, second] = plansCsv(PLANS).split("\r\n");
  const names = head.split(",");
  assert.equal(
    first,
    'v-auto,4,8,2,8,1,1,2,1,8,none,"none,full",4,250,500,0.4,70000000000,80000000000,true,true,torch megatron',
  );
  assert.equal(names.length, second.split(",").length);
  assert.equal(second.split(",")[names.indexOf("memory_limit_micro_batches")], "");
});

test("the frontier is drawn as steps from the least memory to the right edge, beside the limit and the groups", () => {
  const { data, layout } = planFigure(SHOWN, SIZE, PAINT);
  const [limit, front, ...groups] = data;
  assert.deepEqual(limit.x, [80, 80]);
  assert.deepEqual(limit.y, layout.yaxis.range);
  assert.deepEqual(front.y, [4.2, 4, 3.9, 3.9]);
  assert.deepEqual(front.x.slice(0, 3), [40, 70, 100]);
  assert.equal(Math.log10(front.x[3]), layout.xaxis.range[1]);
  assert.deepEqual(
    groups.map(({ name, customdata }) => [name, customdata]),
    [
      ["classic", [2, 3]],
      ["V", [0]],
      ["memory", [1]],
      ["A", undefined],
    ],
  );
});

test("plans that do not fit are hollow, and the schedule on the screen is in the plot however slow it is", () => {
  const { data, layout } = planFigure(SHOWN, SIZE, PAINT);
  const classic = data.find(({ name }) => name === "classic");
  assert.deepEqual(classic.marker.color, ["classic", "rgba(0,0,0,0)"]);
  const ring = data.find(({ name }) => name === "A");
  assert.deepEqual([ring.x, ring.y], [[30], [9]]);
  assert.ok(layout.yaxis.range[1] > 9);
  assert.ok(planFigure({ ...SHOWN, now: null }, SIZE, PAINT).layout.yaxis.range[1] < 6);
});

test("a limit that is far from every plan is not drawn", () => {
  const { data, layout } = planFigure({ ...SHOWN, limit: 1000 * GB }, SIZE, PAINT);
  assert.ok(data.every(({ name }) => !name?.startsWith("limit")));
  assert.ok(10 ** layout.xaxis.range[1] < 200);
});

test("ticks are round, in range, and apart", () => {
  const found = ticks([9, 130], 400);
  assert.ok(found.includes(10) && found.includes(100));
  assert.ok(found.every((tick) => tick >= 9 && tick <= 130));
  const px = 400 / Math.log(130 / 9);
  for (let k = 1; k < found.length; k++) assert.ok(Math.log(found[k] / found[k - 1]) * px >= 40);
});
