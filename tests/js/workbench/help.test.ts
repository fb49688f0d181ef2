// Moves of many ops, recognition, score, hints, gaps, and positions as text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { canComplete } from "../../../static/js/core/workbench/completable.ts";
import { blocksWithin, goOn, patternOf, stamp } from "../../../static/js/core/workbench/continue.ts";
import { gapsOf, idleOf } from "../../../static/js/core/workbench/delays.ts";
import { complete } from "../../../static/js/core/workbench/greedy.ts";
import { hint, runUntilStrange } from "../../../static/js/core/workbench/hints.ts";
import { textOf } from "../../../static/js/core/workbench/legality.ts";
import { fromText, toText } from "../../../static/js/core/workbench/order_text.ts";
import {
  emptyPosition,
  isWhole,
  move,
  opOf,
  place,
  rewind,
  timesOf,
} from "../../../static/js/core/workbench/position.ts";
import { forkOf, recognise, references } from "../../../static/js/core/workbench/references.ts";
import { ruleLength, scoreOf } from "../../../static/js/core/workbench/score.ts";
import { DEFAULTS, UNIT, board, boards, legalNext, seeded } from "../support/helpers.ts";
import type { PlacementKind } from "../../../static/js/core/schedule/types.ts";

const [F, I, W, B] = [0, 1, 2, 3];
const SPEC = { ...DEFAULTS, family: "imported" };

/** text: of F, I, W and B, of one chunk. */
const row = (text: string) => {
  const count = [0, 0, 0, 0];
  return Int32Array.from(text.replaceAll(" ", ""), (letter) => {
    const kind = "FIWB".indexOf(letter);
    return opOf(kind, count[kind]++);
  });
};

test("1F1B and what it begins with are recognised, and another order is not", () => {
  const on = board({ p: 3, m: 4 });
  const known = references(on);
  const whole = forkOf(on, "1f1b");
  assert.deepEqual(recognise(whole, known), { exact: ["1f1b", "pipedream"], prefix: ["1f1b", "pipedream"] });
  const half = rewind(whole, timesOf(whole).times.makespan / 2);
  assert.deepEqual(recognise(half, known), { exact: [], prefix: ["1f1b", "pipedream"] });
  const begin = place(emptyPosition(on), 0, opOf(F, 0));
  assert.ok(recognise(begin, known).prefix.includes("gpipe"), "one forward is a beginning of many");
  assert.deepEqual(recognise(move(whole, 0, 3, 4), known), { exact: [], prefix: [] });
  assert.deepEqual(recognise(emptyPosition(on), known), { exact: [], prefix: [] });
});

test("every family's own order is recognised by its name", () => {
  for (const on of boards()) {
    const known = references(on);
    for (const { name, position } of known) assert.ok(recognise(position, known).exact.includes(name), name);
  }
});

test("the rule of a row is as short as its phases", () => {
  const lengths = [
    ["", 0],
    ["F", 1],
    ["FB", 2],
    ["FF", 2],
    ["FFF BBB", 4],
    ["F FB FB B", 5],
    ["FB FB FB", 3],
    ["FFF FB FB FB FB BBB", 7],
    ["FIW FIW FIW IW IW", 7],
  ] as [string, number][];
  for (const [text, length] of lengths) assert.equal(ruleLength(row(text), 1), length, text);
});

/** The definition, tried in every way. */
function shortestByTrial(codes: number[]) {
  const cost = [0];
  for (let i = 1; i <= codes.length; i++) {
    cost[i] = cost[i - 1] + 1;
    for (let q = 1; 2 * q <= i; q++)
      for (let k = 2; k * q <= i; k++) {
        const copies = codes.slice(i - k * q, i);
        if (copies.every((code, at) => code === copies[at % q])) cost[i] = Math.min(cost[i], cost[i - k * q] + q + 1);
      }
  }
  return cost[codes.length];
}

test("the shortest rule is what trying every division finds", () => {
  const next = seeded(3);
  for (let round = 0; round < 300; round++) {
    const codes = Array.from({ length: Math.floor(next() * 24) }, () => Math.floor(next() * (2 + (round % 2))));
    const text = codes.map((code) => "FBI"[code]).join("");
    assert.equal(ruleLength(row(text), 1), shortestByTrial(codes), text);
  }
});

test("the score of 1F1B is that of its formula", () => {
  const score = scoreOf(forkOf(board({ p: 4, m: 8 }), "1f1b"));
  assert.equal(score.makespan, 8 * 3 + 3 * 3);
  assert.ok(Math.abs(score.bubble - 9 / 33) < 1e-12);
  assert.deepEqual([score.peak, score.messages], [4, 2 * 3 * 8]);
  assert.equal(score.simplicity, 2 + 3 + 2 + (2 + 3 + 2) + (1 + 3 + 1) + 3);
});

test("a stamp repeats a block for the next micro-batches", () => {
  const on = board({ p: 2, m: 4 });
  const whole = forkOf(on, "1f1b");
  // both ranks' first F and B pairs
  const begun = { ...whole, rows: [whole.rows[0].slice(0, 3), whole.rows[1].slice(0, 2)], count: 5 };
  const blocks = [
    { rank: 0, from: 1, to: 3 },
    { rank: 1, from: 0, to: 2 },
  ];
  const { position, placed, stops } = stamp(begun, blocks, 2);
  assert.equal(placed, 8);
  assert.deepEqual(stops, []);
  assert.ok(recognise(position, references(on)).prefix.includes("1f1b"));
  const rest = stamp(position, blocks, 5);
  assert.ok(isWhole(rest.position), "codes without a micro-batch left are passed over");
  assert.deepEqual(recognise(rest.position, references(on)).exact, ["1f1b", "pipedream"]);
});

test("a stamp stops where its ops are not legal and says why", () => {
  const on = board({ p: 2, m: 4, memory: 2 });
  const begun = place(place(emptyPosition(on), 0, opOf(F, 0)), 0, opOf(F, 1));
  assert.deepEqual(blocksWithin(begun, { t0: 0.2, t1: 1.8, first: 0, last: 1 }), [{ rank: 0, from: 0, to: 2 }]);
  const { placed, stops } = stamp(begun, [{ rank: 0, from: 0, to: 2 }], 3);
  assert.equal(placed, 0);
  assert.deepEqual([stops[0].rank, stops[0].reason.code], [0, "workbench.over_memory"]);
});

test("the pattern of a row's end is the block that covers most of it", () => {
  const letters = (text: string) =>
    patternOf(row(text))
      .map((code) => "FIWB"[code])
      .join("");
  assert.equal(letters("FFF"), "F");
  assert.equal(letters("FFF FB FB"), "FB");
  assert.equal(letters("FF BB FF BB"), "FFBB");
  assert.equal(letters("FFI"), "");
});

test("going on by the rule ends 1F1B from its first two periods", () => {
  for (const [family, p, m, v] of [
    ["1f1b", 4, 12, 1],
    ["gpipe", 3, 6, 1],
  ] as [string, number, number, number][]) {
    const on = board({ p, m, v });
    const whole = forkOf(on, family);
    const lengths = whole.rows.map((each) => Math.ceil(each.length * 0.7));
    const rows = whole.rows.map((each, r) => each.slice(0, lengths[r]));
    const begun = { board: on, rows, count: rows.reduce((sum, each) => sum + each.length, 0) };
    const { position } = goOn(begun);
    assert.deepEqual(position.rows, whole.rows, family);
  }
});

test("hints from a reference lead to it, op by op", () => {
  const on = board({ p: 3, m: 3 });
  const whole = forkOf(on, "zb-h1");
  let now = emptyPosition(on);
  for (let left = whole.count; left > 0; left--) {
    const found = hint(now, { position: whole, title: "ZB-H1" });
    assert.ok(found);
    assert.ok(
      legalNext(now, found.rank).some(({ op }) => op === found.op),
      found.sentences[2],
    );
    now = place(now, found.rank, found.op);
  }
  assert.deepEqual(now.rows, whole.rows);
  assert.equal(hint(now, { position: whole, title: "ZB-H1" }), null);
});

test("the first hint after a departure names what came too early, and what its place is for", () => {
  const on = board({ p: 2, m: 3 });
  const way = { position: forkOf(on, "1f1b"), title: "1F1B" };
  const found = hint(move(way.position, 0, 2, 3), way);
  assert.deepEqual([found?.rank, found?.aside], [0, 2]);
  assert.deepEqual(found?.sentences, ["0F2 came too early: take it back.", "On rank 0, 1F1B has 0B0 there."]);
  const split = place(place(place(emptyPosition(on), 0, opOf(F, 0)), 1, opOf(F, 0)), 1, opOf(I, 0));
  assert.deepEqual(hint(split, way)?.sentences, ["1I0 is not in 1F1B: take it back."]);
});

test("a hint says what its op is good for: nothing needs the first stage's gradient, an I frees nothing", () => {
  const on = board({ p: 2, m: 1 });
  const uses = (family: string) => {
    const way = { position: forkOf(on, family), title: family };
    const found: Record<string, string> = {};
    for (let now = emptyPosition(on), next = hint(now, way); next; next = hint(now, way)) {
      found[textOf(on, next.rank, next.op)] = next.sentences[2].split(". ")[1];
      now = place(now, next.rank, next.op);
    }
    return found;
  };
  assert.deepEqual(uses("1f1b"), {
    "0F0": "Its input is there, and stage 1 needs its output.",
    "1F0": "Its backward can follow.",
    "1B0": "It frees memory, and stage 0 needs its gradient.",
    "0B0": "It frees memory.",
  });
  const { "1I0": last, "0I0": first, "1W0": weight } = uses("zb-h1");
  assert.equal(last, "Stage 0 needs its gradient.");
  assert.equal(first, "Its weight gradient can follow.");
  assert.equal(weight, "It frees memory, and no other op needs it.");
});

test("without a reference, hints are those of list scheduling and lead to a whole order", () => {
  const on = board({ p: 2, m: 3, memory: 2 });
  let now = emptyPosition(on);
  for (let found = hint(now, null, "split"); found; found = hint(now, null, "split"))
    now = place(now, found.rank, found.op);
  assert.ok(isWhole(now));
});

test("a run stops at what is strange, never twice at the same, and comes to the end", () => {
  const on = board({ p: 3, m: 5, memory: 3 });
  const seen = new Set<string>();
  let now = emptyPosition(on);
  const kinds = [];
  for (let stops = 0; stops < 100; stops++) {
    const stopped = runUntilStrange(now, null, seen, "full");
    now = stopped.position;
    kinds.push(stopped.kind);
    if (stopped.kind === "end") break;
    assert.match(stopped.sentence, /ank \d/);
  }
  assert.equal(kinds.at(-1), "end");
  assert.ok(isWhole(now));
  for (const kind of ["bubble", "phase"]) assert.ok(kinds.includes(kind as any), kind);
});

test("a run along a reference ends in it", () => {
  const on = board({ p: 2, m: 4 });
  const whole = forkOf(on, "1f1b");
  const seen = new Set<string>();
  let now = emptyPosition(on);
  for (let stops = 0; stops < 60 && !isWhole(now); stops++) now = runUntilStrange(now, whole, seen).position;
  assert.deepEqual(now.rows, whole.rows);
});

test("gaps are forced, or chosen where another op of the row could have run", () => {
  const on = board({ p: 2, m: 3 });
  const whole = forkOf(on, "gpipe");
  assert.deepEqual(idleOf(whole), { forced: 3, chosen: 0 }, "rank 0 waits for the first gradient");
  // rank 0 waits for the gradient of 0 while its F of 2 could run
  const late = move(forkOf(on, "1f1b"), 0, 3, 4);
  const [gap] = gapsOf(late).filter(({ instead }) => instead >= 0);
  assert.deepEqual([gap.rank, textOf(on, 0, gap.instead)], [0, "0F2"]);
});

test("a position comes back from its text, whole, half or empty", () => {
  const next = seeded(9);
  for (const kind of ["looped", "v", "bidirectional"] as PlacementKind[]) {
    const on = board({ p: 4, m: 8, v: kind === "bidirectional" ? 1 : 2 }, kind);
    for (const { position } of references(on)) {
      const half = rewind(position, timesOf(position).times.makespan * next());
      for (const each of [position, half, emptyPosition(on)]) {
        const back = fromText(toText(each), SPEC);
        assert.deepEqual(back?.rows, each.rows);
        assert.equal(back?.board.placement.kind, kind);
      }
    }
  }
});

test("micro-batches out of order come back from a text as well", () => {
  const on = board({ p: 1, m: 3 });
  let now = emptyPosition(on);
  for (const op of [opOf(F, 2), opOf(F, 0), opOf(I, 2), opOf(W, 2), opOf(B, 0)]) now = place(now, 0, op);
  assert.deepEqual(fromText(toText(now), SPEC)?.rows, now.rows);
});

test("a half-built position of p = 8, m = 16 takes few characters, however odd its order", () => {
  const next = seeded(2);
  const on = board({ p: 8, m: 16 });
  const lengths = [];
  for (let round = 0; round < 5; round++) {
    let now = emptyPosition(on);
    for (let moves = 0; moves < 300; moves++) {
      const legal = [...now.rows.keys()].flatMap((rank) => legalNext(now, rank));
      if (!legal.length) break;
      const { rank, op } = legal[Math.floor(next() * legal.length)];
      now = place(now, rank, op);
    }
    lengths.push(toText(now).length);
  }
  assert.ok(Math.max(...lengths) < 1000, lengths.join());
  assert.ok(toText(forkOf(on, "zb-h1")).length < 300);
});

test("a text that is no order, or too large a one, is refused", () => {
  const good = toText(forkOf(board({ p: 4, m: 8 }), "1f1b"));
  for (const text of [
    "",
    "l",
    "x123",
    good.slice(0, -4),
    `${good.slice(0, 9)}AAAA${good.slice(13)}`,
    "lA*",
    "l".repeat(5000),
  ])
    assert.equal(fromText(text, SPEC), null, text.slice(0, 20));
  const next = seeded(4);
  for (let round = 0; round < 300; round++) {
    const at = 1 + Math.floor(next() * (good.length - 1));
    const mutant = good.slice(0, at) + "ABCabc-_09"[Math.floor(next() * 10)] + good.slice(at + 1);
    const found = fromText(mutant, SPEC); // no exception, and nothing out of range
    if (found) assert.ok(found.rows.every((each) => each.every((op) => ((op >> 8) & 255) < found.board.n)));
  }
});

test("what a learner completes by list scheduling at uneven costs stays legal", () => {
  const on = board({ p: 3, m: 4, v: 2, costs: { ...UNIT, F: [1, 2, 1, 1, 1, 3], I: 1.5, comm: 0.25 }, memory: 3 });
  const whole = complete(emptyPosition(on), "split");
  assert.ok(isWhole(whole));
  assert.equal(canComplete(whole).answer, "yes");
  assert.ok(W !== B);
});
