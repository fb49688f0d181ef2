// A schedule in space: every op is a box at its place and time, and nearer boxes are painted last.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MOST_OPS,
  PLAIN,
  covers,
  cubeOf,
  dotAt,
  microNumber,
  paintOrder,
  planeAt,
  projection,
  roomFor,
  sidesOf,
  turned,
  type Box,
  type View,
} from "../../../static/js/core/drawing/cube.ts";
import { withMessages } from "../../../static/js/core/options/streams.ts";
import { opText } from "../../../static/js/core/schedule/ops.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, oneFOneB, schedule } from "../support/helpers.ts";
import type { Schedule, Times } from "../../../static/js/core/schedule/types.ts";

const order = oneFOneB(4, 6);
const times = simulate(order, { ...UNIT, comm: 0.5 });
const cube = cubeOf(order, times, 0.5);

const boxesAt = (of: Schedule, at: Times, stage: number, micro: number) =>
  cubeOf(of, at, 0).boxes.filter((box) => box.stage === stage && box.micro === micro);

test("every op is a box at its stage, its micro-batch and its times", () => {
  assert.equal(cube.boxes.length, order.count);
  for (const box of cube.boxes) {
    const text = opText(order, box.i);
    assert.equal(text, `${box.stage}${"FIWB"[box.kind]}${microNumber(order, box)}`);
    assert.deepEqual([box.start, box.end], [times.start[box.i], times.end[box.i]]);
  }
  assert.deepEqual([cube.stages, cube.micros, cube.all, cube.total], [4, 6, 6, times.makespan]);
});

test("idle time is on the floor, and with the work it fills every stage's time", () => {
  for (let stage = 0; stage < cube.stages; stage++) {
    const mine = [...cube.idle, ...cube.boxes].filter((each) => each.stage === stage);
    const filled = mine.reduce((sum, { start, end }) => sum + end - start, 0);
    assert.ok(Math.abs(filled - times.makespan) < 1e-9);
  }
  assert.ok(cube.idle.length > 4);
});

test("every message is a dot that leaves when its op ends and goes one stage on or back", () => {
  assert.equal(cube.dots.length, 2 * 3 * 6);
  for (const dot of cube.dots) {
    assert.equal(Math.abs(dot.goal - dot.stage), 1);
    assert.equal(dot.due - dot.sent, 0.5);
    assert.ok(cube.boxes.some((box) => box.stage === dot.stage && box.micro === dot.micro && box.end === dot.sent));
  }
});

test("a message that waits for its stream is there when its receiver can use it, not a hop after its op", () => {
  const costs = { ...UNIT, comm: 0.5, wire: 0.5 };
  const inLine = withMessages(oneFOneB(3, 4), costs, "rank", "torch");
  const timed = simulate(inLine, costs);
  const late = cubeOf(inLine, timed, 0.5).dots.filter(({ sent, due }) => due - sent > 1);
  assert.ok(late.length > 0, "some wait");
  for (const { goal, micro, due } of cubeOf(inLine, timed, 0.5).dots)
    assert.ok(boxesAt(inLine, timed, goal, micro).some(({ start }) => start >= due - 1e-9));
  assert.ok(
    late.some(({ goal, micro, due }) => boxesAt(inLine, timed, goal, micro).some(({ start }) => start === due)),
  );
});

test("a schedule with too many ops to distinguish is drawn with its first micro-batches only", () => {
  const large = oneFOneB(8, 400);
  const part = cubeOf(large, simulate(large, UNIT), 0);
  assert.equal(roomFor(large), MOST_OPS / 16);
  assert.equal(part.micros, MOST_OPS / 16);
  assert.equal(part.all, 400);
  assert.ok(part.boxes.length <= MOST_OPS);
  assert.ok(part.boxes.every((box) => box.micro < part.micros));
});

test("an overlapped pair is two boxes at one time, the second direction on top of the first", () => {
  const [F, B] = [0, 3];
  const paired = schedule("v", 2, 2, [[0, 1, 0, 8 + 3, 6, 7, 6]]); // one rank: 0F0 1F0 0F1 (1F1;1B0) 0B0 1B1 0B1
  const halves = cubeOf(paired, simulate(paired, UNIT), 0).boxes.filter(({ i }) => i === 3);
  assert.deepEqual(
    halves.map(({ kind, stage, micro }) => [kind, stage, micro]),
    [
      [F, 1, 1],
      [B, 1, 0],
    ],
  );
  assert.deepEqual([halves[0].start, halves[0].end], [halves[1].start, halves[1].end]);
  const both = schedule("bidirectional", 2, 2, [
    [2 * F, 2 * F + 1, 2 * B + 1, 2 * B],
    [2 * F + 1, 2 * F, 2 * B, 2 * B + 1],
  ]);
  const made = cubeOf(both, simulate(both, UNIT), 0);
  assert.deepEqual([...new Set(made.boxes.map(({ micro }) => micro))].sort(), [0, 1]);
  assert.equal(made.micros, 2);
});

test("nearer boxes are painted later", () => {
  const boxesIn = (view: View) => paintOrder(cube, view).filter((item) => !("goal" in item)) as Box[];
  const spots = boxesIn(PLAIN);
  for (let k = 1; k < spots.length; k++) {
    const [a, b] = [spots[k - 1], spots[k]];
    assert.ok(
      a.stage < b.stage || (a.stage === b.stage && (a.micro < b.micro || (a.micro === b.micro && a.start <= b.start))),
    );
  }
  const left = boxesIn({ turn: -0.5, tilt: 0.5 });
  assert.ok(
    left.every(
      (item, k) =>
        !k || item.stage !== left[k - 1].stage || item.micro !== left[k - 1].micro || item.start <= left[k - 1].start,
    ),
  );
});

test("the whole cube is within the picture, whichever way it is turned", () => {
  for (const turn of [-1.35, -0.4, 0, 0.7, 1.35]) {
    for (const tilt of [0.08, 0.5, 1.4]) {
      const project = projection(cube, { turn, tilt }, 600, 400, 20);
      for (const box of cube.boxes) {
        for (const { points } of sidesOf(project, { turn, tilt }, box, Infinity)) {
          for (const [x, y] of points) assert.ok(x >= 19 && x <= 581 && y >= 19 && y <= 381, `${x} ${y}`);
        }
      }
    }
  }
});

test("the three sides of a box cover its middle but nothing outside it", () => {
  const project = projection(cube, PLAIN, 600, 400, 20);
  const sides = sidesOf(project, PLAIN, cube.boxes[0], Infinity);
  const box = cube.boxes[0];
  const [x, y] = project((box.start + box.end) / 2, box.stage + 0.5, box.micro + 0.5);
  assert.ok(sides.some((side) => covers(side, x, y)));
  assert.ok(!sides.some((side) => covers(side, 1, 1)));
});

test("a box grows with the playhead, and the plane is at the playhead", () => {
  const project = projection(cube, { turn: 0.001, tilt: 0.08 }, 600, 400, 20);
  const box = cube.boxes[0];
  const front = sidesOf(project, { turn: 0.001, tilt: 0.08 }, box, box.start + 0.5)[2].points;
  assert.ok(Math.abs(front[1][0] - project(box.start + 0.5, box.stage + 0.91, box.micro)[0]) < 1e-9);
  assert.deepEqual(planeAt(project, cube, 3)[0], project(3, 0, 0));
});

test("a message is seen only while it is on its way, at least for a moment", () => {
  const project = projection(cube, PLAIN, 600, 400, 20);
  const dot = { ...cube.dots[0], due: cube.dots[0].sent };
  assert.equal(dotAt(project, dot, dot.sent - 0.1, 0.2), null);
  assert.ok(dotAt(project, dot, dot.sent + 0.1, 0.2));
  assert.equal(dotAt(project, dot, dot.sent + 0.3, 0.2), null);
  assert.deepEqual(
    dotAt(project, cube.dots[0], null, 0),
    project(cube.dots[0].sent + 0.25, (cube.dots[0].stage + cube.dots[0].goal) / 2 + 0.5, cube.dots[0].micro + 0.5),
  );
});

test("turning stops before a side would vanish", () => {
  assert.deepEqual(turned(PLAIN, 9, 9), { turn: 1.35, tilt: 1.4 });
  assert.deepEqual(turned(PLAIN, -9, -9), { turn: -1.35, tilt: 0.08 });
});
