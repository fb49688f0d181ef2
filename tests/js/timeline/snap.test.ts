// Tests of snapping to the ends of ops.
import assert from "node:assert/strict";
import { test } from "node:test";

import { dragged, gripAt } from "../../../static/js/core/timeline/viewport.ts";
import { edgeOfRow, since } from "../../../static/js/core/timeline/edges.ts";
import { nearestEdge } from "../../../static/js/core/timeline/snap.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, oneFOneB, seeded, zbH1 } from "../support/helpers.ts";

const costs = { ...UNIT, F: 1.3, I: 0.7, comm: 0.21 };
const lanesOf = () =>
  [oneFOneB(4, 9), zbH1(5, 12)].map((schedule, at) => ({ id: "ab"[at], schedule, times: simulate(schedule, costs) }));

const edgesOf = ({ schedule, times }: ReturnType<typeof lanesOf>[number], rank: number) =>
  [
    ...times.start.subarray(schedule.offsets[rank], schedule.offsets[rank + 1]),
    ...times.end.subarray(schedule.offsets[rank], schedule.offsets[rank + 1]),
  ].sort((a, b) => a - b);

test("the nearest edge equals the one found by a scan of every op, within the snapping distance", () => {
  const lanes = lanesOf();
  const random = seeded(21);
  for (let round = 0; round < 400; round++) {
    const t = random() * 40 - 2;
    const reach = random() * 0.6;
    const only = round % 2 ? [{ lane: "b", first: 1, last: 2 }] : undefined;
    const among = only
      ? [1, 2].flatMap((rank) => edgesOf(lanes[1], rank))
      : lanes.flatMap((lane) => Array.from({ length: lane.schedule.p }, (_, rank) => edgesOf(lane, rank)).flat());
    const least = Math.min(...among.map((edge) => Math.abs(edge - t)));
    const found = nearestEdge(lanes, t, reach, only);
    if (least > reach) assert.equal(found, null);
    else {
      assert.equal(Math.abs((found?.t ?? NaN) - t), least);
      const lane = lanes.find(({ id }) => id === found?.lane);
      assert.ok(
        lane && edgesOf(lane, found?.rank ?? -1).includes(found?.t ?? NaN),
        "it is an edge of the rank it names",
      );
    }
  }
});

test("stepping from edge to edge visits every edge of a row, forwards and back", () => {
  for (const lane of lanesOf()) {
    for (let rank = 0; rank < lane.schedule.p; rank++) {
      const all = edgesOf(lane, rank).filter((t, at, each) => at === 0 || t - each[at - 1] > 1e-9);
      for (const way of [1, -1] as const) {
        const next = (t: number) => edgeOfRow(lane.schedule.offsets, lane.times, rank, t, way);
        const walked = [];
        for (let t = next(way > 0 ? -1 : 1e6); Number.isFinite(t); t = next(t)) walked.push(t);
        assert.equal(walked.length, all.length);
        walked.forEach((t, at) => assert.ok(Math.abs(t - all.at(way > 0 ? at : -1 - at)!) < 1e-9));
      }
    }
  }
});

test("a press takes an edge of the minimap's window, its inside or the space outside", () => {
  assert.deepEqual(
    [98, 103, 150, 197, 204, 60, 300].map((x) => gripAt(x, 100, 200, 6)),
    ["start", "start", "window", "end", "end", "outside", "outside"],
  );
  assert.deepEqual(
    [99, 102, 103.5, 105].map((x) => gripAt(x, 100, 106, 6)),
    ["start", "start", "window", "end"],
    "a narrow window keeps a middle",
  );
});

test("dragging the window keeps its width within the whole; dragging an edge past the other swaps them", () => {
  const random = seeded(22);
  for (let round = 0; round < 300; round++) {
    const t0 = random() * 80;
    const view = { t0, t1: t0 + 0.5 + random() * (99 - t0) };
    const dt = random() * 300 - 150;
    const moved = dragged(view, "window", dt, 100, 0.1);
    assert.ok(moved.t0 >= 0 && moved.t1 <= 100 && Math.abs(moved.t1 - moved.t0 - (view.t1 - view.t0)) < 1e-9);
    for (const grip of ["start", "end"] as const) {
      const next = dragged(view, grip, dt, 100, 0.1);
      const fixed = grip === "start" ? view.t1 : view.t0;
      assert.ok(next.t0 >= -1e-9 && next.t1 <= 100 + 1e-9 && next.t1 - next.t0 >= 0.1 - 1e-9);
      assert.ok(Math.min(Math.abs(next.t0 - fixed), Math.abs(next.t1 - fixed)) <= 0.1, "the other edge stays");
    }
  }
});

test("between moments that only rounding sets apart no time passes", () => {
  assert.equal(since(1.15, 0.1 + 0.2 + 0.85), 0);
  assert.equal(since(0.1 + 0.2, 0.3), 0);
  assert.equal(since(2, 2.5), 0.5);
});
