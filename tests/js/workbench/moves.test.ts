// Positions, moves and the rules of what may come next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { violations, waiting } from "../../../static/js/core/workbench/violations.ts";
import { canComplete } from "../../../static/js/core/workbench/completable.ts";
import { complete } from "../../../static/js/core/workbench/greedy.ts";
import {
  candidate,
  candidates,
  pairCandidate,
  reasonAgainst,
  textOf,
} from "../../../static/js/core/workbench/legality.ts";
import {
  cut,
  emptyPosition,
  isWhole,
  move,
  onBoard,
  opOf,
  place,
  rewind,
  scheduleOf,
  timesOf,
  type Position,
} from "../../../static/js/core/workbench/position.ts";
import { forkOf, references } from "../../../static/js/core/workbench/references.ts";
import { scoreOf } from "../../../static/js/core/workbench/score.ts";
import { simulate } from "../../../static/js/core/schedule/simulate.ts";
import { UNIT, board, boards, legalNext, seeded } from "../support/helpers.ts";
import type { PlacementKind } from "../../../static/js/core/schedule/types.ts";

const [F, , W, B] = [0, 1, 2, 3];

/** Place ops by kind and rank, each for the next micro-batch of chunk 0. text: such as "F0 F1 B1". */
const played = (position: Position, text: string): Position =>
  text.split(" ").reduce((now, each) => {
    const found = candidate(now, Number(each[1]), "FIWB".indexOf(each[0]), Number(each[2] ?? 0));
    assert.equal(found.reason, null, `${each}: ${found.reason?.text}`);
    return place(now, found.rank, found.op);
  }, position);

test("times follow each move", () => {
  const position = played(emptyPosition(board({ p: 2, m: 2, costs: { ...UNIT, comm: 0.5 } })), "F0 F1 B1 F0 B0");
  const { times } = timesOf(position);
  assert.deepEqual(Array.from(times.start.subarray(0, 5)), [0, 1, 5, 1.5, 2.5]);
  assert.equal(times.makespan, 7);
});

test("a move leaves the position before it as it was", () => {
  const first = played(emptyPosition(board({ p: 2, m: 2 })), "F0");
  const second = played(first, "F1");
  assert.deepEqual([first.count, second.count, first.rows[1].length], [1, 2, 0]);
  assert.equal(second.rows[0], first.rows[0], "the row of the other rank is shared");
  assert.deepEqual(cut(second, 1, 0).rows[1], first.rows[1]);
});

test("what may not come next is refused in the checker's words", () => {
  const start = emptyPosition(board({ p: 2, m: 2 }));
  const reason = (now: Position, rank: number, op: number) => reasonAgainst(now, rank, op)?.text;
  assert.equal(reason(start, 1, opOf(F, 0)), "rank 1 cannot do 1F0 yet: its input 0F0 on rank 0 is not placed");
  assert.equal(reason(start, 0, opOf(W, 0)), "rank 0 does 0W0 before 0I0, which it needs");
  assert.equal(reason(start, 1, opOf(B, 0)), "rank 1 does 1B0 before 1F0, which it needs");
  const later = played(start, "F0 F1 I1");
  assert.equal(reason(later, 0, opOf(F, 0)), "rank 0 does 0F0 twice");
  assert.equal(reason(later, 1, opOf(B, 0)), "rank 1 does 1B0 after 1I0, which has taken that gradient already");
  assert.equal(reason(later, 0, opOf(F, 1)), undefined);
  assert.equal(reason(start, 0, opOf(B, 5)), "rank 0 does 0B5, but stage 0 there has micro-batches 0 to 1");
});

test("a forward that memory has no room for is refused, and a gradient makes room", () => {
  const start = emptyPosition(board({ p: 2, m: 3, memory: 1 }));
  const full = played(start, "F0");
  assert.equal(
    candidate(full, 0, F, 0).reason?.text,
    "rank 0 cannot do 0F1: 2 micro-batches would be in memory, the limit is 1",
  );
  const free = played(full, "F1 B1 B0");
  assert.equal(candidate(free, 0, F, 0).reason, null);
});

test("a kind with no micro-batch left says so", () => {
  const end = played(emptyPosition(board({ p: 1, m: 1 })), "F0");
  assert.equal(candidate(end, 0, F, 0).reason?.code, "workbench.none_left");
  assert.equal(candidate(end, 0, W, 0).reason?.code, "workbench.none_left");
});

test("a pair needs what both of its halves need", () => {
  const start = emptyPosition(board({ p: 2, m: 4, v: 1 }, "bidirectional"));
  assert.equal(pairCandidate(start, 0, 0, 1).reason?.code, "schedule.op_before_its_input");
  // stream 1 begins on rank 1 with chunk 1 and ends on rank 0
  let now = place(place(start, 1, opOf(1, 0)), 0, opOf(1, 0));
  assert.equal(pairCandidate(now, 0, 0, 1).reason, null);
  now = place(now, 0, pairCandidate(now, 0, 0, 1).op);
  assert.deepEqual(textOf(now.board, 0, now.rows[0][1]), "(0F0;1B2)OVERLAP_F_B");
  assert.equal(timesOf(now).times.makespan, 5);
});

test("a fork of every family is whole, legal and as fast as the family", () => {
  for (const on of boards()) {
    const known = references(on);
    assert.ok(known.length > 0, on.placement.kind);
    for (const { name, position } of known) {
      assert.deepEqual(violations(position), [], name);
      assert.ok(isWhole(position), name);
      const schedule = scheduleOf(position);
      assert.equal(timesOf(position).times.makespan, simulate(schedule, on.costs).makespan, name);
      const half = rewind(position, timesOf(position).times.makespan / 2);
      assert.ok(half.count < position.count && !violations(half).length, name);
      assert.equal(canComplete(half).answer, "yes", name);
    }
  }
});

test("a walk of legal moves always reaches a whole order, which the simulator runs", () => {
  const next = seeded(11);
  for (let round = 0; round < 60; round++) {
    const kind = ["looped", "v", "bidirectional"][round % 3] as PlacementKind;
    const p = kind === "bidirectional" ? 2 + 2 * Math.floor(next() * 2) : 1 + Math.floor(next() * 4);
    const v = kind === "bidirectional" ? 1 : 1 + Math.floor(next() * 2);
    const m = kind === "bidirectional" ? 4 : 1 + Math.floor(next() * 4);
    let now = emptyPosition(board({ p, m, v }, kind));
    while (!isWhole(now)) {
      const moves = [...now.rows.keys()].flatMap((rank) => legalNext(now, rank));
      assert.ok(moves.length, `${kind} p ${p} m ${m} v ${v}: nothing is legal after ${now.count} ops`);
      const { rank, op } = moves[Math.floor(next() * moves.length)];
      now = place(now, rank, op);
    }
    assert.deepEqual(violations(now), []);
    simulate(scheduleOf(now), now.board.costs);
  }
});

test("under a memory limit, each legal move that is not proved dead leads on to a whole order", () => {
  const next = seeded(5);
  for (let round = 0; round < 40; round++) {
    const v = 1 + (round % 2);
    const on = board({ p: 2 + (round % 3), m: 4, v, memory: [1, 1.5, 2][round % 3] }, round % 4 < 2 ? "looped" : "v");
    let now = emptyPosition(on);
    if (canComplete(now).answer !== "yes") continue;
    while (!isWhole(now)) {
      const alive = [...now.rows.keys()]
        .flatMap((rank) => legalNext(now, rank))
        .map(({ rank, op }) => place(now, rank, op))
        .filter((each) => canComplete(each).answer !== "no");
      assert.ok(alive.length, "a position that can be completed has a move to one that can");
      now = alive[Math.floor(next() * alive.length)];
    }
    assert.ok(scoreOf(now).peak <= (on.limit ?? 0) + 1e-9);
  }
});

/** Whether any sequence of legal moves completes a position. */
function bruteForce(position: Position, seen: Map<string, boolean> = new Map()): boolean {
  const key = position.rows.map((row) => Array.from(row).sort().join()).join("|");
  const known = seen.get(key);
  if (known !== undefined) return known;
  const moves = [...position.rows.keys()].flatMap((rank) => candidates(position, rank)).filter(({ reason }) => !reason);
  const answer = isWhole(position) || moves.some(({ rank, op }) => bruteForce(place(position, rank, op), seen));
  seen.set(key, answer);
  return answer;
}

test("what is said of completing under a limit is what trying everything finds", () => {
  const next = seeded(23);
  const tally = { yes: 0, no: 0, unknown: 0 };
  const modes = ["none", "none", ["full", "none"], ["none", "selective"]];
  for (let round = 0; round < 80; round++) {
    const kind = round % 2 ? "v" : "looped";
    const recompute = modes[(round >> 1) % modes.length];
    const limits = recompute === "none" ? [1, 1.5, 2] : [0.8, 1.1, 1.4];
    const on = board({ p: 2, m: 2, v: 2, memory: limits[round % 3], recompute }, kind);
    let now = emptyPosition(on);
    for (let moves = Math.floor(next() * 7); moves > 0; moves--) {
      const legal = [0, 1].flatMap((rank) => legalNext(now, rank)).filter(({ kind: each }) => each === F || each === B);
      if (!legal.length) break;
      const { rank, op } = legal[Math.floor(next() * legal.length)];
      now = place(now, rank, op);
    }
    const { answer } = canComplete(now);
    tally[answer]++;
    assert.equal(answer, bruteForce(now) ? "yes" : "no");
  }
  assert.ok(tally.yes > 10 && tally.no > 3, JSON.stringify(tally));
});

test("list scheduling completes any position, within the limit", () => {
  for (const memory of [null, 2, 4]) {
    const whole = complete(emptyPosition(board({ p: 4, m: 6, memory })), "full");
    assert.ok(isWhole(whole));
    assert.deepEqual(violations(whole), []);
    if (memory) assert.ok(scoreOf(whole).peak <= memory);
  }
});

test("in free mode every violation is listed with its rank and op", () => {
  let now = emptyPosition(board({ p: 2, m: 2, memory: 1 }));
  for (const [rank, op] of [
    [0, opOf(B, 0)],
    [0, opOf(F, 0)],
    [0, opOf(F, 0)],
    [0, opOf(F, 1)],
  ])
    now = place(now, rank, op);
  const found = violations(now).map(({ rank, index, op, reason }) => [
    rank,
    index,
    textOf(now.board, rank, op),
    reason.code,
  ]);
  assert.deepEqual(found, [
    [0, 0, "0B0", "schedule.op_before_its_input"],
    [0, 2, "0F0", "schedule.op_twice"],
    [0, 3, "0F1", "workbench.over_memory"],
  ]);
  assert.deepEqual(canComplete(now), { answer: "no", why: "violations" });
});

test("an op whose input is not placed yet waits and is no violation; ranks that wait in a circle are", () => {
  const on = board({ p: 2, m: 2 });
  const early = place(emptyPosition(on), 1, opOf(F, 0));
  assert.deepEqual(violations(early), []);
  assert.equal(waiting(early)[1].reason?.text, "rank 1 cannot do 1F0 yet: its input 0F0 on rank 0 is not placed");
  assert.equal(timesOf(early).times.end[0], Infinity);
  assert.equal(canComplete(early).answer, "yes");
  let circle = place(place(emptyPosition(on), 0, opOf(F, 0)), 0, opOf(B, 0));
  circle = place(circle, 0, opOf(F, 1));
  for (const op of [opOf(F, 0), opOf(F, 1), opOf(B, 0)]) circle = place(circle, 1, op);
  const found = violations(circle);
  assert.deepEqual(
    found.map(({ rank, reason }) => [rank, reason.code]),
    [
      [0, "schedule.deadlock"],
      [1, "schedule.deadlock"],
    ],
  );
});

test("ops that wait for one another's rest cannot be completed", () => {
  const on = board({ p: 2, m: 2 });
  // rank 0 comes to its B of 0 before its F of 1, rank 1 to its F of 1 before its B of 0: nobody can place what is open
  let now = place(place(emptyPosition(on), 0, opOf(F, 0)), 0, opOf(B, 0));
  now = place(place(now, 1, opOf(F, 0)), 1, opOf(F, 1));
  assert.deepEqual(violations(now), []);
  assert.deepEqual(canComplete(now), { answer: "no", why: "deadlock" });
});

test("an op can be moved within its row, and a worse place is refused by its violations", () => {
  const whole = forkOf(board({ p: 2, m: 3 }), "1f1b");
  const worse = move(whole, 1, 1, 0);
  assert.deepEqual(
    violations(worse).map(({ rank }) => rank),
    [1],
  );
  assert.deepEqual(move(worse, 1, 0, 1).rows[1], whole.rows[1]);
});

test("other costs change times and nothing else", () => {
  const whole = forkOf(board({ p: 3, m: 4 }), "1f1b");
  const slower = onBoard(whole, board({ p: 3, m: 4, costs: { ...UNIT, F: 2 } }));
  assert.equal(slower.rows, whole.rows);
  assert.ok(timesOf(slower).times.makespan > timesOf(whole).times.makespan);
});
