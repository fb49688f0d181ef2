// Tests of the rows of the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  DEFAULTS,
  hit,
  lanes,
  layoutGroups,
  nearestRow,
  opAt,
  opsInWindow,
  rankOrder,
  scrolled,
} from "../../../static/js/core/timeline/layout.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, oneFOneB, seeded } from "../support/helpers.ts";

const two = [
  { id: "a", p: 8, title: "ZB-H1" },
  { id: "b", p: 4, title: "1F1B" },
];

test("rows are stacked with their strips above, pinned ranks first", () => {
  const rows = lanes({ p: 4, top: 10, laneHeight: 20, gap: 1, strip: 6, pinned: [2, 2, 9] });
  assert.deepEqual(
    rows.map(({ rank }) => rank),
    [2, 0, 1, 3],
  );
  assert.deepEqual(rows[1], { rank: 0, y: 43, h: 20, stripY: 37, stripH: 6, copyY: 63, copyH: 0, commY: 63, commH: 0 });
});

test("all groups share one lane height and one plot, and fill the height", () => {
  const layout = layoutGroups(two, 1000, 400);
  assert.ok(layout.groups.every(({ rows }) => rows.every(({ h }) => h === layout.laneHeight)));
  assert.ok(layout.contentHeight <= 400 && layout.contentHeight > 400 - 12);
  assert.equal(layout.plotLeft + layout.plotWidth, 1000 - DEFAULTS.right);
});

test("rows never overlap and never leave their group", () => {
  const layout = layoutGroups(two, 800, 600, { strip: 10 });
  let bottom = layout.axisY + layout.axisHeight;
  for (const group of layout.groups) {
    assert.ok(group.top >= bottom);
    bottom = group.top;
    for (const { y, h, stripY } of group.rows) {
      assert.ok(stripY >= bottom && y >= stripY);
      bottom = y + h;
    }
    assert.ok(bottom <= group.top + group.height);
  }
});

test("copy lanes are under the rows of the groups that have them, a third as tall, and everything still fits", () => {
  const [first, second] = two;
  for (const height of [240, 400, 620, 900]) {
    const layout = layoutGroups([{ ...first, copies: true }, second], 900, height, { strip: 4 });
    const [copying, plain] = layout.groups;
    assert.ok(layout.contentHeight <= height);
    assert.equal(new Set(layout.groups.flatMap(({ rows }) => rows.map(({ h }) => h))).size, 1, "equal ranks line up");
    assert.ok(plain.rows.every(({ copyH }) => copyH === 0));
    for (const [at, { copyY, copyH, y, h }] of copying.rows.entries()) {
      assert.equal(copyY, y + h);
      assert.ok(h < 11 ? copyH === (h < 5 ? 0 : 2) : copyH >= 4 && Math.abs(copyH - h / 3) <= 0.5);
      if (at > 0) assert.equal(copying.rows[at - 1].copyY + copyH + DEFAULTS.gap, copying.rows[at].stripY);
    }
  }
});

test("a point is resolved to the strip, the ops or the copies", () => {
  const layout = layoutGroups([{ id: "a", p: 3, title: "", copies: true }], 900, 400, { strip: 10 });
  for (const { rank, stripY, y, h, copyY, copyH } of layout.groups[0].rows) {
    const parts = [stripY + 2, y + h / 2, copyY + copyH / 2].map((at) => hit(layout, 500, at));
    assert.deepEqual(
      parts.map((part) => part?.part),
      ["strip", "ops", "copies"],
    );
    assert.ok(parts.every((part) => part?.rank === rank));
  }
});

test("messages have a lane under the copies, which fits too and is found", () => {
  for (const height of [200, 330, 700]) {
    const layout = layoutGroups([{ id: "a", p: 6, title: "", copies: true, comm: true }, two[1]], 900, height, {
      strip: 4,
    });
    const { rows } = layout.groups[0];
    assert.ok(layout.contentHeight <= height);
    for (const [at, { rank, copyY, copyH, commY, commH }] of rows.entries()) {
      assert.equal(commY, copyY + copyH);
      if (at > 0) assert.equal(rows[at - 1].commY + commH + DEFAULTS.gap, rows[at].stripY);
      if (commH)
        assert.deepEqual(hit(layout, 500, commY + commH / 2), { group: "a", rank, inPlot: true, part: "comm" });
    }
    assert.ok(layout.groups[1].rows.every(({ commH }) => commH === 0));
  }
});

test("with too many ranks for the height, lanes stay visible and the content grows", () => {
  const layout = layoutGroups([{ id: "a", p: 512, title: "" }], 300, 200);
  assert.equal(layout.laneHeight, DEFAULTS.minLane);
  assert.ok(layout.contentHeight > 512 * DEFAULTS.minLane);
});

test("several schedules get thinner lanes where that shows all at once, a single one does not", () => {
  const four = ["a", "b", "c", "d"].map((id) => ({ id, p: 64, title: "" }));
  const thin = layoutGroups(four, 900, 600, { gap: 0 });
  assert.equal(thin.laneHeight, 1);
  assert.ok(thin.contentHeight <= 600);
  assert.equal(layoutGroups(four, 900, 800, { gap: 0 }).laneHeight, 2);
  assert.equal(
    layoutGroups(four, 900, 300, { gap: 0 }).laneHeight,
    DEFAULTS.minLane,
    "they do not fit anyhow, so they stay readable",
  );
  assert.equal(layoutGroups([{ id: "a", p: 256, title: "" }], 900, 600, { gap: 0 }).laneHeight, DEFAULTS.minLane);
});

test("a point gives its row, and nothing between titles", () => {
  const layout = layoutGroups(two, 1000, 400);
  for (const { id, rows } of layout.groups) {
    for (const { rank, y, h } of rows)
      assert.deepEqual(hit(layout, 500, y + h / 2), { group: id, rank, inPlot: true, part: "ops" });
  }
  assert.equal(hit(layout, 10, layout.groups[0].rows[0].y)?.inPlot, false);
  assert.equal(hit(layout, 500, layout.groups[1].titleY + 2), null);
  assert.equal(hit(layout, 500, 5), null);
  assert.equal(hit(layout, 500, 5000), null);
  assert.equal(layoutGroups([], 100, 100).groups.length, 0);
});

test("the op at a time equals the one found by a scan of the whole row", () => {
  const order = oneFOneB(4, 9);
  const times = simulate(order, { ...UNIT, F: 1.5, comm: 0.3 });
  const random = seeded(2);
  for (let round = 0; round < 400; round++) {
    const rank = Math.floor(random() * 4);
    const t = random() * (times.makespan + 4) - 2;
    const from = order.offsets[rank];
    const at = times.start
      .subarray(from, order.offsets[rank + 1])
      .findIndex((s, x) => s <= t && t < times.end[from + x]);
    assert.equal(opAt(order, times, rank, t), at < 0 ? -1 : from + at);
  }
});

test("the ops in a window are those that overlap it", () => {
  const order = oneFOneB(4, 9);
  const times = simulate(order, { ...UNIT, comm: 0.3 });
  const random = seeded(4);
  for (let round = 0; round < 300; round++) {
    const rank = Math.floor(random() * 4);
    const t0 = random() * times.makespan - 1;
    const t1 = t0 + random() * 8;
    const [lo, hi] = opsInWindow(order, times, rank, t0, t1);
    for (let i = order.offsets[rank]; i < order.offsets[rank + 1]; i++) {
      assert.equal(i >= lo && i < hi, times.end[i] > t0 && times.start[i] < t1);
    }
  }
});

test("ops of a live run that have not been reported are not found", () => {
  const order = oneFOneB(2, 3);
  const times = simulate(order, UNIT);
  times.start.fill(Infinity, 2, 6);
  times.end.fill(Infinity, 2, 6);
  assert.deepEqual(opsInWindow(order, times, 0, 0, 1e9), [0, 2]);
  assert.equal(opAt(order, times, 0, 1e6), -1);
});

test("scrolled, a group's title and pinned ranks stay under the axis and cover what passes beneath", () => {
  const groups = [
    { id: "a", p: 200, title: "", pinned: [150, 3] },
    { id: "b", p: 200, title: "" },
  ];
  const still = layoutGroups(groups, 900, 300);
  const random = seeded(51);
  assert.equal(scrolled(still, 0), still);
  for (let round = 0; round < 200; round++) {
    const layout = scrolled(still, random() * (still.contentHeight - 300));
    let foot = -Infinity;
    for (const { rows, titleY, top, height, pinned } of layout.groups) {
      assert.ok(titleY >= foot - 0.01, "titles never cover rows of the group above");
      if (top + height <= layout.axisHeight || top >= layout.axisHeight) continue;
      assert.ok(titleY <= layout.axisHeight && titleY >= top);
      for (const [at, row] of rows.entries()) {
        assert.ok(row.y + row.h <= top + height + 0.01);
        if (at > 0)
          assert.ok(row.stripY >= rows[at - 1].y + rows[at - 1].h - 0.01 || at === rows.length - 1, "no rows overlap");
      }
      assert.deepEqual(
        rows.slice(0, pinned).map(({ rank }) => rank),
        layout.groups[0] && pinned ? [150, 3] : [],
      );
      foot = top + height;
    }
  }
});

test("in a scrolled layout a point still finds the row that is drawn there", () => {
  const still = layoutGroups([{ id: "a", p: 300, title: "", pinned: [7] }], 900, 300, { strip: 4 });
  const layout = scrolled(still, 333);
  for (const { rank, y, h } of layout.groups[0].rows) assert.equal(hit(layout, 500, y + h / 2)?.rank, rank);
  assert.equal(hit(layout, 500, layout.groups[0].titleY + 3), null, "the title is no row");
});

test("the nearest row is the one under a point, or else the closest", () => {
  const layout = layoutGroups(two, 1000, 400);
  const [a, b] = layout.groups;
  assert.deepEqual(nearestRow(layout, a.rows[3].y + 1), { lane: "a", rank: 3 });
  assert.deepEqual(nearestRow(layout, -50), { lane: "a", rank: 0 });
  assert.deepEqual(nearestRow(layout, 5000), { lane: "b", rank: 3 });
  assert.deepEqual(nearestRow(layout, b.rows[0].y - 2), { lane: "b", rank: 0 });
  assert.equal(nearestRow(layoutGroups([], 100, 100), 5), null);
});

test("pinning keeps every rank once and moves no other out of its order", () => {
  const random = seeded(52);
  for (let round = 0; round < 100; round++) {
    const p = 1 + Math.floor(random() * 40);
    const pinned = Array.from({ length: Math.floor(random() * 6) }, () => Math.floor(random() * 50));
    const order = rankOrder(p, pinned);
    assert.deepEqual(
      [...order].sort((x, y) => x - y),
      Array.from({ length: p }, (_, r) => r),
    );
    const rest = order.filter((rank) => !pinned.includes(rank));
    assert.deepEqual(
      rest,
      [...rest].sort((x, y) => x - y),
    );
    assert.deepEqual(
      order.slice(0, order.length - rest.length).every((rank) => pinned.includes(rank)),
      true,
    );
  }
});

test("pinned ranks stay readable where the others are thin, and everything fits while anything can", () => {
  for (const [p, height] of [
    [64, 700],
    [100, 500],
    [8, 700],
    [300, 600],
  ]) {
    const plain = layoutGroups([{ id: "a", p, title: "", copies: true }], 900, height);
    const layout = layoutGroups([{ id: "a", p, title: "", copies: true, pinned: [p - 1, 1] }], 900, height);
    const [first, second, third] = layout.groups[0].rows;
    assert.equal(first.h, second.h);
    assert.ok(first.h >= 20 && first.h >= third.h);
    if (plain.laneHeight >= 20)
      assert.deepEqual(
        [first.h, third.h],
        [plain.laneHeight, plain.laneHeight],
        "nothing else changes where rows are tall",
      );
    if (plain.laneHeight > DEFAULTS.minLane) assert.ok(layout.contentHeight <= height);
    assert.ok(third.stripY >= second.copyY + second.copyH);
  }
});
