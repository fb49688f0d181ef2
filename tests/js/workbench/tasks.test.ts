// A task as a game: stars, what a solution has achieved, what leads away from the goals and the way back, what a move
// costs, and the stars that a browser keeps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { keepStars, forgetStars, nextTask, starsKept } from "../../../static/js/data/workbench/progress.ts";
import { openSpec } from "../../../static/js/data/workbench/address.ts";
import { moveCost } from "../../../static/js/core/workbench/bound.ts";
import {
  achieved,
  goalState,
  isOpen,
  lastOpen,
  starsOf,
  wayTo,
  type Aim,
  type Named,
} from "../../../static/js/core/workbench/goals.ts";
import { departure } from "../../../static/js/core/workbench/hints.ts";
import { opOfText, positionOfRows } from "../../../static/js/core/workbench/op_texts.ts";
import { emptyPosition } from "../../../static/js/core/workbench/position.ts";
import { forkOf, references } from "../../../static/js/core/workbench/references.ts";
import { scoreOf } from "../../../static/js/core/workbench/score.ts";
import { Session } from "../../../static/js/core/workbench/session.ts";
import { DEFAULTS, board } from "../support/helpers.ts";

const aimOf = (more: Partial<Aim> & Pick<Aim, "par">): Aim => ({
  goals: [{ metric: "makespan", at_most: scoreOf(more.par).makespan }],
  ...{ kinds: "FIW", name: null, least: 0 },
  ...more,
});

const named = (on: ReturnType<typeof board>, within: string[]): Named[] =>
  references(on).map(({ name, title, position }) => ({
    ...{ family: name, title, score: scoreOf(position), within: within.includes(name) },
  }));

test("a solution has a star for the goals, two for the time of par, three for a time that no order beats", () => {
  const on = board({ p: 3, m: 5 });
  const par = forkOf(on, "zb-h1");
  const goals: Aim["goals"] = [{ metric: "makespan", below: 21, than: "1f1b" }];
  assert.equal(starsOf(aimOf({ par, goals, kinds: "FBIW" }), forkOf(on, "1f1b")), 0, "as long is not shorter");
  assert.equal(starsOf(aimOf({ par, goals }), par), 2);
  assert.equal(starsOf(aimOf({ par, goals, least: 17 }), par), 3);
  const any: Aim["goals"] = [{ metric: "makespan", at_most: 100 }];
  assert.equal(starsOf(aimOf({ par, goals: any, least: 17, kinds: "FB" }), forkOf(on, "1f1b")), 1);
  assert.equal(starsOf(aimOf({ par, goals }), emptyPosition(on)), 0);
});

test("what was achieved is the strongest of what can be said", () => {
  const on = board({ p: 3, m: 5, memory: 3 });
  const [zb, flush, gpipe] = ["zb-h1", "1f1b", "gpipe"].map((name) => forkOf(on, name));
  const all = named(on, ["zb-h1"]);
  const wins = aimOf({ par: zb, least: 17 });
  assert.equal(achieved(wins, zb, all, false), "1F1B beaten within its own memory, proved optimal");
  assert.equal(achieved(wins, zb, all, true), "1F1B beaten within its own memory, proved optimal, executed");
  const known: Aim["goals"] = [{ metric: "recognised", as: ["1f1b"] }];
  assert.equal(achieved(aimOf({ par: flush, goals: known, kinds: "FB" }), flush, all, false), "Built op by op: 1F1B");
  const plain = aimOf({ par: flush, kinds: "FB" });
  assert.equal(achieved(plain, flush, all, false), "As short as GPipe, with less memory");
  const alone = all.filter(({ family }) => family === "gpipe");
  assert.equal(achieved(plain, gpipe, alone, false), "A step of 21 with a peak memory of 5");
});

test("where a goal can no longer be met, the way back leads to the last step at which it could", () => {
  const start = emptyPosition(board({ p: 2, m: 3 }));
  const aim = aimOf({ par: forkOf(start.board, "1f1b"), goals: [{ metric: "peak", at_most: 2 }], kinds: "FB" });
  const session = new Session(start);
  session.beginTask(start, aim, false, "");
  for (const text of ["0F0", "0F1", "0F2"]) {
    assert.ok(isOpen(aim, session.position));
    session.place(0, opOfText(session.board, 0, text));
  }
  session.place(1, opOfText(session.board, 1, "1F0"));
  const lost = session.position;
  assert.ok(!isOpen(aim, lost));
  session.goBack();
  assert.deepEqual(
    session.position.rows.map((row) => row.length),
    [2, 0],
  );
  session.undo();
  assert.equal(session.position, lost, "it is one step");
  assert.equal(goalState(aim.goals[0], lost, "FB"), "lost");
  const linked = lastOpen(aim, lost, []);
  assert.deepEqual(
    linked?.rows.map((row) => row.length),
    [2, 1],
    "without steps before, what begins first is kept",
  );
  const gpipe = lastOpen(aim, forkOf(start.board, "gpipe"), []);
  assert.deepEqual(gpipe?.rows[0].length, 2, "a complete order that misses a goal has a way back, too");
});

test("the way back passes what no goal rules out yet, where no way to the goals is known", () => {
  const start = emptyPosition(board({ p: 3, m: 6, memory: 2 }));
  const par = positionOfRows(start.board, [
    "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0F4 0B3 0F5 0B4 0B5",
    "1F0 1F1 1B0 1B1 1F2 1F3 1B2 1B3 1F4 1F5 1B4 1B5",
    "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3 2F4 2B4 2F5 2B5",
  ]);
  const aim = aimOf({ par, kinds: "FB" });
  const session = new Session(start);
  session.beginTask(start, aim, false, "");
  const one = "0F0 1F0 2F0 2B0 1B0 0B0 0F1 1F1 2F1 2B1 1B1 0B1 0F2 1F2 2F2 2B2 1B2 0B2".split(" ");
  for (const text of one)
    if (isOpen(aim, session.position)) session.place(+text[0], opOfText(session.board, +text[0], text));
  assert.ok(!isOpen(aim, session.position));
  session.goBack();
  assert.ok(wayTo(aim, session.position), "a solution begins like this");
});

test("what leaves the order of a task is named at once, unless a way to the goals is known with it", () => {
  const on = board({ p: 2, m: 3 });
  const par = forkOf(on, "1f1b");
  const exact = aimOf({ par, goals: [{ metric: "recognised", as: ["1f1b"] }], kinds: "FB", name: "1f1b" });
  const early = positionOfRows(on, ["0F0 0F1 0F2", ""]);
  assert.equal(departure(exact, positionOfRows(on, ["0F0 0F1", "1F0"])), null);
  assert.equal(departure(exact, early)?.sentences[0], "0F2 came too early: take it back.");
  const short = aimOf({ par, kinds: "FB", name: "1f1b" });
  assert.equal(departure(short, early), null, "GPipe is as short");
  assert.equal(departure({ ...exact, name: null }, early), null, "a searched par is not given away");
});

test("what a move costs is when it runs, the idle time before it, the bound of the step, and memory", () => {
  const on = board({ p: 2, m: 3 });
  const position = positionOfRows(on, ["0F0 0F1", "1F0 1B0"]);
  const back = moveCost(position, 0, opOfText(on, 0, "0B0"), true);
  assert.deepEqual(back, {
    rank: 0,
    op: opOfText(on, 0, "0B0"),
    from: 4,
    to: 6,
    idle: 2,
    before: 12,
    after: 12,
    held: 2,
  });
  const late = moveCost(position, 1, opOfText(on, 1, "1F1"), true);
  assert.deepEqual([late?.from, late?.idle, late?.held], [4, 0, 1]);
  const idle = moveCost(positionOfRows(on, ["0F0 0F1 0F2", "1F0 1F1 1F2"]), 0, opOfText(on, 0, "0B0"), true);
  assert.equal(idle, null, "1B0 is not placed");
  assert.equal(moveCost(emptyPosition(on), 1, opOfText(on, 1, "1F0"), true), null, "it would wait for its input");
});

test("stars are kept by task, never fall, and are forgotten on request; the next task is the first without", () => {
  const stored = new Map<string, string>();
  const storage = { getItem: (key: string) => stored.get(key) ?? null, setItem: stored.set.bind(stored) };
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  const listed = ["a", "b", "c"].map((slug, at) => ({
    ...{ slug, number: at + 1, idea: "one", level: 1, title: { en: slug, zh: slug } },
  }));
  assert.equal(nextTask(listed)?.slug, "a");
  keepStars("a", 3);
  keepStars("a", 1);
  keepStars("b", 2);
  assert.deepEqual([starsKept("a"), starsKept("b"), starsKept("c")], [3, 2, 0]);
  assert.deepEqual([...stored.keys()], ["bubbleline.task.a", "bubbleline.task.b"], "two tabs write two entries");
  assert.equal(nextTask(listed)?.slug, "c");
  assert.equal(nextTask(listed, "c")?.slug, "a", "all others are solved");
  keepStars("c", 1);
  assert.equal(nextTask(listed), null);
  stored.set("bubbleline.task.a", "many");
  assert.equal(starsKept("a"), 0);
  forgetStars(listed);
  assert.deepEqual(
    listed.map(({ slug }) => starsKept(slug)),
    [0, 0, 0],
  );
});

test("a link of an imported order without the order is an empty board of its sizes, and no mistake", async () => {
  const spec = { ...DEFAULTS, family: "imported", p: 3, m: 5, order: null };
  const { position, problem } = await openSpec(spec, DEFAULTS);
  assert.deepEqual([position.board.p, position.board.m, position.count, problem], [3, 5, 0, ""]);
  assert.notEqual((await openSpec({ ...spec, order: "lX" }, DEFAULTS)).problem, "");
});
