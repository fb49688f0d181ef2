// One person's work on a board: what is placed, refused, taken back and undone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makespanBound } from "../../../static/js/core/workbench/bound.ts";
import { complete } from "../../../static/js/core/workbench/greedy.ts";
import { goalState, type Goal } from "../../../static/js/core/workbench/goals.ts";
import { opOfText, positionOfRows } from "../../../static/js/core/workbench/op_texts.ts";
import {
  emptyPosition,
  isWhole,
  move,
  rewind,
  scheduleOf,
  timesOf,
  wholeCount,
  type Position,
} from "../../../static/js/core/workbench/position.ts";
import { forkOf, references } from "../../../static/js/core/workbench/references.ts";
import { Session } from "../../../static/js/core/workbench/session.ts";
import { scoreOf } from "../../../static/js/core/workbench/score.ts";
import { opText } from "../../../static/js/core/schedule/ops.ts";
import { UNIT, board, boards } from "../support/helpers.ts";
import type { PlacementKind, Spec } from "../../../static/js/core/schedule/types.ts";

function begin(spec: Partial<Spec>, kind?: PlacementKind) {
  const session = new Session(emptyPosition(board(spec, kind)));
  const told: string[] = [];
  session.onChange(({ sentence }) => told.push(sentence));
  const place = (rank: number, text: string) => session.place(rank, opOfText(session.board, rank, text));
  return { session, told, place };
}

test("a legal op is placed with its times, an illegal one refused with the reason", () => {
  const { session, told, place } = begin({ p: 2, m: 2 });
  assert.ok(place(0, "0F0"));
  assert.equal(told.at(-1), "0F0 is placed on rank 0, from 0 to 1.");
  assert.ok(!place(1, "1F1"));
  assert.equal(told.at(-1), "1F1 needs 0F1 first.");
  assert.equal(session.position.count, 1);
});

test("taking an op back takes back what needs it, and one undo brings all of it again", () => {
  const { session, told, place } = begin({ p: 2, m: 1 });
  for (const [rank, text] of [
    [0, "0F0"],
    [1, "1F0"],
    [1, "1B0"],
  ] as [number, string][])
    place(rank, text);
  session.takeBack(0);
  assert.equal(told.at(-1), "0F0 is taken back, and 2 ops that need it.");
  assert.equal(session.position.count, 0);
  session.undo();
  assert.equal(session.position.count, 3);
  session.redo();
  assert.equal(session.position.count, 0);
});

test("a forward that leaves no way on under the limit is refused", () => {
  // two chunks a rank: with the first chunk of two micro-batches in memory no second chunk fits any more
  const { session, told, place } = begin({ p: 1, m: 2, v: 2, memory: 1 });
  assert.ok(place(0, "0F0"));
  assert.ok(!session.legal(0).some(({ op }) => op === opOfText(session.board, 0, "0F1")));
  assert.ok(!place(0, "0F1"));
  assert.match(told.at(-1) ?? "", /^After 0F1 the rest could not be completed/);
  assert.ok(place(0, "1F0"));
});

test("in free mode the same forward may be placed", () => {
  const { session, place } = begin({ p: 1, m: 2, v: 2, memory: 1 });
  session.setFree(true);
  assert.ok(place(0, "0F0") && place(0, "0F1"));
});

test("an edit that breaks the order is refused, and made in free mode", () => {
  const whole = forkOf(board({ p: 2, m: 3 }), "1f1b");
  const session = new Session(whole);
  assert.ok(!session.edit(move(whole, 1, 1, 0), 1, "moved"));
  assert.equal(session.position, whole);
  session.setFree(true);
  assert.ok(session.edit(move(whole, 1, 1, 0), 1, "moved"));
});

test("the palette goes through what may come next, and choosing a kind again takes its next chunk", () => {
  const { session, place } = begin({ p: 1, m: 2, v: 2 });
  session.chooseKind("F");
  assert.equal(session.pick, "F0");
  place(0, "0F0");
  session.chooseKind("F");
  assert.equal(session.pick, "F1");
  session.chooseBy(1);
  assert.equal(session.pick, "B0");
  place(0, "0F1");
  session.choose("F0");
  place(0, "1F0");
  assert.notEqual(
    session.options().find(({ id }) => id === session.pick)?.op,
    -1,
    "what is used up is not kept chosen",
  );
});

test("what cannot come next does not stay chosen, after a placement or on another rank", () => {
  const { session, place } = begin({ p: 2, m: 2 });
  place(0, "0F0");
  place(1, "1F0");
  session.setRank(1);
  assert.equal(session.pick, "B0", "1F1 needs 0F1, and 1B0 can come next");
  session.setRank(0);
  assert.equal(session.pick, "F0");
  session.setFree(true);
  session.choose("B0");
  session.setRank(1);
  session.setRank(0);
  assert.equal(session.pick, "B0", "in free mode anything may be placed");
});

test("the number of ops to place does not change with the first backward", () => {
  const { session, place } = begin({ p: 1, m: 2 });
  const count = () => wholeCount(session.position, session.backward);
  assert.equal(count(), null, "backwards may be whole or split");
  const aim = { goals: [], kinds: "FB", par: session.position, name: null, least: 0 };
  session.beginTask(session.position, aim, false, "");
  const counts = [count()];
  for (const op of ["0F0", "0B0", "0F1"]) counts.push((place(0, op), count()));
  assert.deepEqual(counts, [4, 4, 4, 4]);
  assert.equal(wholeCount(forkOf(board({ p: 4, m: 8 }), "zb-h1"), null), 96);
});

test("goals are open, met, missed, or lost where nothing that is left can meet them", () => {
  const on = board({ p: 2, m: 3 });
  const whole = forkOf(on, "1f1b");
  const known: Goal = { metric: "recognised", as: ["1f1b"] };
  const goals: Goal[] = [known, { metric: "peak", at_most: 2 }, { metric: "makespan", at_most: 12 }];
  const states = (position: Position) => goals.map((goal) => goalState(goal, position, "FB"));
  assert.deepEqual(states(emptyPosition(on)), ["open", "open", "open"]);
  assert.deepEqual(states(whole), ["met", "met", "met"]);
  assert.deepEqual(states(positionOfRows(on, ["0F0 0F1 0F2", ""])), ["lost", "lost", "open"]);
  assert.deepEqual(states(positionOfRows(on, ["0F0 0B0 0F1 0B1", "1F0 1B0 1F1 1B1"])), ["lost", "open", "lost"]);
  assert.deepEqual(states(forkOf(on, "gpipe")), ["missed", "missed", "met"]);
});

test("the bound of a position is never above what completes it", () => {
  for (const name of ["1f1b", "gpipe", "zb-h1"]) {
    const whole = forkOf(board({ p: 3, m: 4, costs: { ...UNIT, F: 1.5, comm: 0.25 } }), name);
    const { makespan } = timesOf(whole).times;
    for (let moment = 0; moment <= makespan + 1; moment++)
      assert.ok(makespanBound(rewind(whole, moment), name !== "zb-h1") <= makespan + 1e-9, `${name} at ${moment}`);
    assert.ok(Math.abs(makespanBound(whole, name !== "zb-h1") - makespan) < 1e-9);
  }
});

test("a task keeps its first ops and allows only its kinds", () => {
  const start = positionOfRows(board({ p: 2, m: 2 }), ["0F0", ""]);
  const session = new Session(emptyPosition(board({ p: 1, m: 1 })));
  session.beginTask(start, { goals: [], kinds: "FB", par: start, name: null, least: 0 }, true, "task");
  assert.equal(session.rank, 0);
  assert.deepEqual([...new Set(session.options().map(({ kind }) => kind))], [0, 3]);
  assert.ok(!session.takeBack(0));
  assert.equal(session.position, start);
  assert.ok(session.placePick(0));
  assert.ok(session.takeBack(0));
  const pairs = () => session.options().some(({ id }) => id.startsWith("P"));
  const folded = emptyPosition(board({ p: 2, m: 2, v: 2 }, "v"));
  session.begin(folded, "");
  assert.ok(pairs());
  session.beginTask(folded, { goals: [], kinds: "FB", par: folded, name: null, least: 0 }, false, "");
  assert.ok(!pairs(), "the server takes no pairs in a task");
  session.setRank(1);
  session.begin(emptyPosition(board({ p: 2, m: 2 })), "");
  assert.equal(session.rank, 0, "rank 1 cannot begin");
});

test("rows of texts are the position, and an op that a rank does not have is an error", () => {
  const on = board({ p: 2, m: 4 }, "bidirectional");
  const whole = forkOf(board({ p: 2, m: 4 }, "bidirectional"), "dualpipe");
  const schedule = scheduleOf(whole);
  const rows = whole.rows.map((row, r) =>
    Array.from(row, (_, k) => opText(schedule, schedule.offsets[r] + k)).join(" "),
  );
  assert.deepEqual(positionOfRows(on, rows).rows, whole.rows);
  assert.throws(() => positionOfRows(board({ p: 2, m: 2 }), ["1F0", ""]), /rank 0 has no stage 1/);
  assert.throws(() => positionOfRows(board({ p: 2, m: 2 }), ["0X0", ""]), /no op/);
});

test("no family is faster than the bound, and the best reach it", () => {
  for (const costs of [UNIT, { ...UNIT, F: 1.5, W: 0.5, comm: 0.25 }, { ...UNIT, comm: 2 }]) {
    for (const on of [...boards(costs), board({ p: 3, m: 7, v: 2, costs }, "v")]) {
      const bound = makespanBound(emptyPosition(on));
      for (const { name, position } of references(on)) {
        assert.ok(
          timesOf(position).times.makespan >= bound - 1e-9,
          `${name} ${on.placement.kind} ${JSON.stringify(costs)}`,
        );
      }
      const made = complete(emptyPosition(on), "split");
      assert.ok(isWhole(made) && scoreOf(made).makespan >= bound - 1e-9);
    }
  }
  const unit = board({ p: 4, m: 8 });
  assert.equal(makespanBound(emptyPosition(unit)), scoreOf(forkOf(unit, "zb-h1")).makespan);
});
