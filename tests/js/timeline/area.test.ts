// Tests of areas and their totals.
import assert from "node:assert/strict";
import { test } from "node:test";

import { areaText, readArea, rankRanges, totals, upright } from "../../../static/js/core/timeline/area.ts";
import { kindOf } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, breadthFirst, offloaded, oneFOneB, seeded, spread, zbH1 } from "../support/helpers.ts";
import type { Schedule, Times } from "../../../static/js/core/schedule/types.ts";
import type { RankRange } from "../../../static/js/core/timeline/area.ts";

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

const FIRST_RANK = { t0: 0, t1: 0, from: { lane: "a", rank: 0 }, to: { lane: "a", rank: 0 } };

/** Every op looked at. */
function slowly(schedule: Schedule, times: Times, range: RankRange, t0: number, t1: number) {
  const time = new Float64Array(7);
  const ops = new Float64Array(7);
  let cut = 0;
  for (let i = schedule.offsets[range.first]; i < schedule.offsets[range.last + 1]; i++) {
    const inside = Math.min(t1, times.end[i]) - Math.max(t0, times.start[i]);
    if (!(times.end[i] > t0 && times.start[i] < t1)) continue;
    const kind = kindOf(schedule.codes[i], schedule.chunks);
    time[kind] += inside;
    ops[kind]++;
    if (times.start[i] < t0 || times.end[i] > t1) cut++;
  }
  return { time, ops, cut };
}

test("an area's text is read back as the same area, in either plan and across both", () => {
  const place = (lane: string, rank: number) => ({ lane, rank });
  const links = {
    "12-30@0-3": { t0: 12, t1: 30, from: place("a", 0), to: place("a", 3) },
    "0.5-1.25@b.0-3": { t0: 0.5, t1: 1.25, from: place("b", 0), to: place("b", 3) },
    "1-2@2-b.1": { t0: 1, t1: 2, from: place("a", 2), to: place("b", 1) },
    "1-2@run2.0-run3.1": { t0: 1, t1: 2, from: place("run2", 0), to: place("run3", 1) },
    "0-7@run.3-run.0": { t0: 0, t1: 7, from: place("run", 3), to: place("run", 0) },
  };
  for (const [text, area] of Object.entries(links)) assert.deepEqual(readArea(text), area);
  assert.equal(areaText(links["1-2@2-b.1"]), "1-2@2-b.1");
  assert.equal(areaText(links["0-7@run.3-run.0"]), "0-7@run.3-0");
  for (const bad of ["", "12-30", "30-12@0-3", "5-5@0-1", "-1-3@0-1", "1-2@0", "1-2@0-99999", "1e999-2@0-1", "a-b@c-d"])
    assert.equal(readArea(bad), null, bad);
});

test("random areas are read back from their link unchanged", () => {
  const random = seeded(11);
  for (let round = 0; round < 300; round++) {
    const t0 = Number((random() * 10 ** Math.floor(8 * random() - 3)).toPrecision(7));
    const t1 = Number((t0 + 10 ** Math.floor(6 * random() - 2)).toPrecision(7));
    if (!(t1 > t0)) continue;
    const pick = () => ({ lane: ["a", "b", "run"][Math.floor(3 * random())], rank: Math.floor(1024 * random()) });
    const area = { t0, t1, from: pick(), to: pick() };
    assert.deepEqual(readArea(areaText(area)), area);
  }
});

test("an area reaches over whole lane groups between its ends, whichever end comes first", () => {
  const groups = [
    { id: "a", p: 4 },
    { id: "run", p: 4 },
    { id: "b", p: 8 },
  ];
  const area = { t0: 0, t1: 1, from: { lane: "b", rank: 2 }, to: { lane: "a", rank: 3 } };
  assert.deepEqual(rankRanges(area, groups), [
    { lane: "a", first: 3, last: 3 },
    { lane: "run", first: 0, last: 3 },
    { lane: "b", first: 0, last: 2 },
  ]);
  assert.deepEqual(upright(area, groups).from, { lane: "a", rank: 3 });
  const one = { t0: 0, t1: 1, from: { lane: "a", rank: 9 }, to: { lane: "a", rank: 2 } };
  assert.deepEqual(
    rankRanges(one, groups),
    [{ lane: "a", first: 2, last: 3 }],
    "ranks that are not there any more are left out",
  );
  assert.deepEqual(rankRanges({ ...one, to: { lane: "d", rank: 0 } }, groups), []);
});

test("totals equal a scan of every op, over random areas of several schedules", () => {
  const random = seeded(12);
  const orders = [oneFOneB(4, 9), zbH1(5, 12), breadthFirst(3, 40, 4), spread(2)];
  for (const order of orders) {
    const times = simulate(order, { ...UNIT, F: 1.3, I: 0.7, W: 0.9, comm: 0.21, S: 0.3, T: 0.6 });
    const lane = { schedule: order, times, end: times.makespan };
    for (let round = 0; round < 120; round++) {
      const a = random() * times.makespan;
      const b = random() * times.makespan * 1.2;
      const [t0, t1] = [Math.min(a, b), Math.min(times.makespan, Math.max(a, b))];
      const first = Math.floor(random() * order.p);
      const range = { lane: "a", first, last: first + Math.floor(random() * (order.p - first)) };
      const sums = totals(lane, range, t0, Math.max(a, b));
      const want = slowly(order, times, range, t0, t1);
      assert.ok(
        near(
          sums.busy,
          want.time.reduce((x, y) => x + y, 0),
        ),
        `${sums.busy} of ${want.time}`,
      );
      assert.ok(near(sums.busy + sums.idle, (t1 - t0) * sums.ranks), "busy and idle fill the area");
      assert.equal(sums.cut, want.cut);
      assert.equal(
        sums.ops,
        want.ops.reduce((x, y) => x + y, 0),
      );
      for (const { kind, time, ops } of sums.kinds) {
        assert.ok(near(time, want.time[kind]));
        assert.equal(ops, want.ops[kind]);
      }
    }
  }
});

test("an area from an op's start to an op's end, as its link has it, cuts no op and has no dust of idle time", () => {
  const order = breadthFirst(4, 8, 3); // an op takes a third
  const times = simulate(order, UNIT);
  const lane = { schedule: order, times, end: times.makespan };
  for (let i = 1; i + 4 < 24; i++) {
    const { t0, t1 } = readArea(areaText({ ...FIRST_RANK, t0: times.start[i], t1: times.end[i + 3] })) ?? FIRST_RANK;
    const { ops, cut, idle, bubble } = totals(lane, { lane: "a", first: 0, last: 0 }, t0, t1);
    assert.deepEqual([ops, cut, idle, bubble], [4, 0, 0, 0], `${t0} to ${t1}`);
  }
});

test("the whole timeline's area has the schedule's own bubble", () => {
  const order = oneFOneB(4, 8);
  const times = simulate(order, UNIT);
  const sums = totals({ schedule: order, times, end: times.makespan }, { lane: "a", first: 0, last: 3 }, 0, 1e9);
  assert.equal(sums.duration, times.makespan, "time past the end is no part of it");
  assert.ok(near(sums.bubble, 9 / 33));
  assert.deepEqual(
    sums.kinds.map(({ ops }) => ops),
    [32, 32],
  );
});

test("copies are counted beside the ops, and ops of a live run that have not been reported are not counted", () => {
  const order = offloaded();
  const times = simulate(order, { ...UNIT, O: 0.5 });
  const lane = { schedule: order, times, end: times.makespan };
  const sums = totals(lane, { lane: "a", first: 0, last: 0 }, 0, times.makespan);
  assert.deepEqual(
    sums.copies.map(({ ops }) => ops),
    [2, 2],
  );
  assert.ok(sums.copies.every(({ time }) => near(time, 1)));
  const live = simulate(oneFOneB(2, 3), UNIT);
  live.start.fill(Infinity, 2, 6);
  live.end.fill(Infinity, 2, 6);
  const part = totals({ schedule: oneFOneB(2, 3), times: live, end: 9 }, { lane: "a", first: 0, last: 0 }, 0, 9);
  assert.deepEqual([part.ops, part.busy], [2, 2]);
});
