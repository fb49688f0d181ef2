// Tests of the narration of the moment at the playhead.
import assert from "node:assert/strict";
import { test } from "node:test";

import { firstWhere } from "../../../static/js/core/first_where.ts";
import { nextEdge } from "../../../static/js/core/timeline/edges.ts";
import { whyIdle } from "../../../static/js/core/explain/why_idle.ts";
import { follow, microsOf } from "../../../static/js/core/explain/micro_batch_path.ts";
import { arrives, inbox, messagesOf } from "../../../static/js/core/timeline/message_flow.ts";
import { copyingText, doing, doingText, momentOf, narrate } from "../../../static/js/core/explain/narrate.ts";
import { find, opText } from "../../../static/js/core/schedule/ops.ts";
import { phaseOf, phaseOfAll, phases } from "../../../static/js/core/explain/phases.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import {
  DEFAULTS,
  UNIT,
  breadthFirst,
  offloaded,
  oneFOneB,
  schedule as made,
  spread,
  zbH1,
} from "../support/helpers.ts";
import type { Costs, Schedule } from "../../../static/js/core/schedule/types.ts";

const plan = (schedule: Schedule, costs: Costs = UNIT) => ({
  schedule,
  costs,
  spec: { ...schedule.spec, costs },
  times: simulate(schedule, costs),
});

test("1F1B's phases: warm-up until a rank's first backward, cool-down from its last forward's end", () => {
  const one = plan(oneFOneB(4, 8));
  const at = phases(one.schedule, one.times);
  assert.deepEqual(Array.from(at.warm), [10, 8, 6, 4], "the first backward comes up from the last rank");
  for (let rank = 0; rank < 4; rank++) {
    const last = find(one.schedule, `${rank}F7`);
    assert.equal(at.cool[rank], one.times.end[last?.i ?? -1]);
  }
  assert.deepEqual(
    [0, 9.9, 10, 21.9].map((time) => phaseOf(at, 0, time)),
    ["warm-up", "warm-up", "steady", "steady"],
  );
  assert.deepEqual(
    [0, 10, 33].map((time) => phaseOfAll(at, time)),
    ["warm-up", "steady", "cool-down"],
  );
});

test("a rank that ends its forwards before its first backward has no steady phase", () => {
  const one = plan(breadthFirst(2, 3, 1)); // GPipe
  const at = phases(one.schedule, one.times);
  assert.deepEqual(Array.from(at.warm), Array.from(at.cool));
  assert.equal(at.cool[0], 3);
  assert.equal(phaseOf(at, 0, 3), "cool-down");
  assert.equal(phaseOfAll(at, 3.5), "turn", "rank 1 still warms up");
});

test("a forward-only schedule is steady from the first forward of all ranks to the last of the first", () => {
  const rows = Array.from({ length: 3 }, () => new Array(4).fill(0));
  const one = plan(made("looped", 1, 4, rows));
  const at = phases(one.schedule, one.times);
  assert.deepEqual(Array.from(at.warm), [0, 1, 2]);
  assert.deepEqual(Array.from(at.cool), [4, 5, 6]);
  assert.deepEqual(
    [0, 2, 4].map((time) => phaseOfAll(at, time)),
    ["warm-up", "steady", "cool-down"],
  );
  const way = follow(one.schedule, one.times, UNIT, 1);
  assert.deepEqual([way?.forwardDone, way?.backwardDone, way?.weightsDone], [4, 4, 4]);
  assert.match(
    whyIdle(one.schedule, one.times, UNIT, 2, 1)?.sentence ?? "",
    /fill: it waits for the first micro-batch/,
  );
  assert.match(whyIdle(one.schedule, one.times, UNIT, 0, 5)?.sentence ?? "", /drain: no work is left/);
});

test("the narration of a moment names what starts, which ranks work, which wait and why", () => {
  const one = plan(oneFOneB(4, 8));
  assert.equal(
    narrate(one, 0),
    "At 0, warm-up: 0F0 starts on rank 0; 1 of 4 ranks work; rank 1: waits for 0F0 until 1.",
  );
  assert.equal(
    narrate(one, 5.5),
    "At 4, warm-up: 3B0 starts on rank 3; 1 of 4 ranks work; rank 0: in-flight limit, waits for 1B0 until 10.",
  );
  assert.equal(
    narrate(one, 10),
    "At 10, steady: 0B0 starts on rank 0 after a wait of 6; 1F3 starts on rank 1; 1 more op starts; 4 of 4 ranks work.",
  );
  assert.equal(narrate(one, 33), "At 33 the step is over.");
});

test("each rank's activity is described in a few words, with the reason for idle time", () => {
  const one = plan(oneFOneB(4, 8));
  const sentences = [0, 1, 2, 3].map((rank) => doingText(one, doing(one, rank, 4)));
  assert.deepEqual(sentences, [
    "in-flight limit, waits for 1B0 until 10",
    "in-flight limit, waits for 2B0 until 8",
    "in-flight limit, waits for 3B0 until 6",
    "3B0, from 4 to 6",
  ]);
  assert.equal(doingText(one, doing(one, 3, 30)), "is done");
  assert.equal(
    doing(one, 0, 4).idle?.why,
    "The order admits at most 4 in flight here, so 0F4 may not start yet (the order's rule, not the GPU's); " +
      "it waits for 0B0's gradient, the output of 1B0 on rank 1, which ends at 10",
  );
});

test("a sentence holds until the next start or end, and playback steps over just these moments", () => {
  for (const one of [
    plan(oneFOneB(3, 5), { ...UNIT, comm: 0.3 }),
    plan(zbH1(3, 5)),
    plan(offloaded(), { ...UNIT, O: 1.5 }),
  ]) {
    const { start, end } = one.times;
    const moments = [...new Set([...start, ...end])].sort((a, b) => a - b);
    let at = -1;
    const walked: number[] = [];
    for (at = nextEdge(one.schedule, one.times, at, 1); at < Infinity; at = nextEdge(one.schedule, one.times, at, 1))
      walked.push(at);
    assert.ok(walked.every((x, k) => moments.some((y) => x === y) && (k === 0 || x > walked[k - 1])));
    assert.ok(
      moments.every((y) => walked.some((x) => Math.abs(x - y) <= 2e-9 * Math.max(1, y))),
      "no moment is left out",
    );
    assert.ok(Math.abs(nextEdge(one.schedule, one.times, walked[3], -1) - walked[2]) < 1e-8);
    assert.equal(nextEdge(one.schedule, one.times, 0, -1), -Infinity);
    moments.slice(1).forEach((x, k) => {
      if (x - moments[k] > 1e-9) assert.equal(momentOf(one, (moments[k] + x) / 2), moments[k]);
    });
  }
});

test("moments that only rounding sets apart are one: in tenths of the time as many ranks work and ops start", () => {
  /** How many ranks work and how many ops start at each moment, also at the time of it that a link has. */
  const told = (unit: number) => {
    const one = plan(oneFOneB(4, 8), { ...UNIT, F: 3 * unit, I: 3 * unit, W: 3 * unit, comm: unit });
    const lines: string[][] = [];
    for (let at = 0; at < Infinity; at = nextEdge(one.schedule, one.times, at, 1)) {
      const line = narrate(one, at);
      assert.equal(narrate(one, Number(at.toPrecision(10))), line);
      lines.push(line.match(/starts? on|\d+ more|\d of 4 ranks/g) ?? []);
    }
    return lines;
  };
  assert.deepEqual(told(0.1), told(1));
});

test("the narration includes copies, at their start and while they run", () => {
  const one = plan(offloaded(), { ...UNIT, O: 1.5 });
  assert.match(narrate(one, 1), /^At 1, warm-up: 0F1 starts on rank 0; 0O0 starts on the copy lane of rank 0;/);
  assert.equal(copyingText(one, 0, 2), "copies 0O0, from 1 to 2.5");
  assert.equal(copyingText(one, 0, 0.5), "");
});

test("a memory limit that delays a forward is named with its number", () => {
  const one = plan(oneFOneB(4, 8));
  const limited = { ...DEFAULTS, memory: 4 };
  const idle = whyIdle(one.schedule, one.times, UNIT, 0, 5, limited);
  assert.equal(idle?.kind, "cap");
  assert.match(idle?.sentence ?? "", /memory cap: it holds 4, and with 0F4 it would be above its limit of 4;/);
  const roomy = whyIdle(one.schedule, one.times, UNIT, 0, 5, { ...DEFAULTS, memory: 6 });
  assert.match(roomy?.sentence ?? "", /admits at most 4 in flight here/, "the limit is not what holds it back");
});

test("a forward that could run but comes later in the order is named as such", () => {
  const one = plan(zbH1(4, 8), { ...UNIT, F: 0.5 });
  const kinds = new Set();
  for (let rank = 0; rank < 4; rank++) {
    for (let at = 0; at < one.times.makespan; at += 0.25) {
      const idle = whyIdle(one.schedule, one.times, one.costs, rank, at);
      if (idle?.sentence.includes("could run already, but the order has")) kinds.add(idle.kind);
    }
  }
  assert.deepEqual([...kinds], ["wait"]);
});

test("a micro-batch is followed down the stages and back up, with where it waits longest", () => {
  const order = oneFOneB(4, 8);
  const times = simulate(order, UNIT);
  const way = follow(order, times, UNIT, 3);
  assert.deepEqual(
    way?.way.map((i) => opText(order, i)),
    ["0F3", "1F3", "2F3", "3F3", "3B3", "2B3", "1B3", "0B3"],
  );
  assert.deepEqual([way?.enters, way?.forwardDone, way?.backwardDone, way?.weightsDone], [3, 13, 21, 21]);
  assert.deepEqual(way?.longest, { i: find(order, "1F3")?.i, from: 4, to: 10 });
  assert.equal(follow(order, times, UNIT, 8), null);
  assert.equal(follow(order, times, UNIT, -1), null);
});

test("its weight gradients, shards and copies belong to it", () => {
  const split = zbH1(3, 5);
  const late = follow(split, simulate(split, UNIT), UNIT, 4);
  assert.equal(late?.weights.length, 3);
  assert.ok((late?.weightsDone ?? 0) > (late?.backwardDone ?? Infinity));
  assert.deepEqual(
    late?.origins.map((i) => opText(split, i)),
    ["0I4", "1I4", "2I4"],
  );
  const shards = spread(2);
  const met = follow(shards, simulate(shards, { ...UNIT, S: 1, T: 1 }), UNIT, 1);
  assert.equal(met?.shards.length, 4);
  assert.equal(met?.way.length, 2 + 2 + 2, "down, over both barriers, up");
  const copies = offloaded();
  const copied = follow(copies, simulate(copies, { ...UNIT, O: 1 }), UNIT, 1);
  assert.deepEqual(
    copied?.copies.map((i) => opText(copies, i)),
    ["0O1", "0R1"],
  );
  assert.deepEqual(microsOf(copies, copied?.copies[1] ?? -1), [1]);
});

test("every rank's messages are listed by when they are sent, and a measured one ends when it is taken", () => {
  const order = oneFOneB(3, 4);
  const costs = { ...UNIT, comm: 0.5 };
  const times = simulate(order, costs);
  const all = messagesOf(order);
  assert.equal(all.count, 2 * 2 * 4);
  assert.equal(all.offsets[1] - all.offsets[0], 4, "rank 0 sends activations only");
  const { list, offsets } = inbox(order, times);
  const received = Array.from(list.subarray(offsets[1], offsets[2]), (at) => times.end[all.giver[at]]);
  assert.deepEqual(
    received,
    [...received].sort((a, b) => a - b),
  );
  assert.equal(received.length, 8, "rank 1 gets activations from above and gradients from below");
  assert.equal(arrives(all, times, costs, 0), times.end[all.giver[0]] + 0.5);
  times.start[all.taker[0]] = times.end[all.giver[0]] + 0.2;
  assert.equal(arrives(all, times, costs, 0), times.start[all.taker[0]]);
  assert.deepEqual(
    [0, 2, 4, 9].map((time) => firstWhere(0, 5, (at) => [1, 2, 2, 5, 8][at] >= time)),
    [0, 1, 3, 5],
  );
});
