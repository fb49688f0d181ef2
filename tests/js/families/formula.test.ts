// Tests of formulas as text, values and MathML.
import assert from "node:assert/strict";
import { test } from "node:test";

import { evaluate, evaluateLaw, text, vars } from "../../../static/js/core/families/formula.ts";
import { mathmlTerms } from "../../../static/js/core/explain/mathml.ts";
import { DEFAULTS, UNIT } from "../support/helpers.ts";
import type { Tree, Vars } from "../../../static/js/core/schedule/types.ts";

const mathml = (tree: Tree) => mathmlTerms(tree, null).join("");
const mathmlNumbers = (tree: Tree, names: Vars) => mathmlTerms(tree, names).join("");

const INTERLEAVED: Tree = ["/", ["*", ["-", "p", 1], ["+", "f", "b"]], "v"];
const NAMES = { p: 8, m: 32, v: 2, f: 1, b: 2, i: 1, w: 1, c: 0.25, sum_f: 9, max_f: 3 };
/** The inside of the math element, without mrow, which only groups. */
const inside = (math: string) =>
  math
    .replace(/^<math[^>]*>|<\/math>$|<\/?mrow>/g, "")
    .replaceAll("&#x2062;", "")
    .replaceAll("&#x2061;", "");
/** The marks alone, as read aloud. */
const plain = (math: string) =>
  inside(math)
    .replace(/<mfrac>/g, "{")
    .replace(/<\/mfrac>/g, "}")
    .replace(/<[^>]+>/g, "");

const values: [Tree, number][] = [
  [INTERLEAVED, 10.5],
  [["floor", ["/", 7, 2]], 3],
  [["max", 1, ["-", "i", "w"], 4], 4],
  [["min", "p", "m"], 8],
  [["mod", 7, 3], 1],
  [["mod", -1, 3], 2],
  [["and", [">=", "m", "p"], ["==", "f", "i"]], 1],
  [["or", ["<", "m", "p"], [">", "f", 5]], 0],
  [["if", ["<=", "p", 8], 1, ["/", 1, 0]], 1],
  [["+", 1, 2, 3, 4], 10],
  [["-", 5], -5],
];
for (const [tree, value] of values) test(`${text(tree)} is ${value}`, () => assert.equal(evaluate(tree, NAMES), value));

test("an unknown name or operator is refused, also a property that every object inherits", () => {
  assert.throws(() => evaluate("q", NAMES), /names q, which has no value/);
  assert.throws(() => evaluate("constructor", NAMES), /no value/);
  assert.throws(() => evaluate(["toString", 1], NAMES), /operator toString/);
});

/** Tree, with names, with numbers; {} is a fraction. */
const drawn: [Tree, string, string][] = [
  [INTERLEAVED, "{(p−1)(f+b)v}", "{(8−1)×(1+2)2}"],
  [["*", 2, "c"], "2c", "2×0.25"],
  [["*", "c", 2], "c×2", "0.25×2"],
  [
    ["*", ["*", 2, "c"], ["floor", ["/", ["*", ["-", "m", 1], ["-", "p", 1]], "p"]]],
    "2c⌊{(m−1)(p−1)p}⌋",
    "2×0.25×⌊{(32−1)×(8−1)8}⌋",
  ],
  [["*", ["-", "p", 1], ["max", "f", "i", ["-", ["+", "f", "i"], "w"]]], "(p−1)max(f,i,f+i−w)", "(8−1)×max(1,1,1+1−1)"],
  [["-", "p", ["-", "v", 1]], "p−(v−1)", "8−(2−1)"],
  [["-", ["-", "p", "v"], 1], "p−v−1", "8−2−1"],
  [["-", "p", -3], "p−(−3)", "8−(−3)"],
  [["if", ["<", "f", "b"], "f", "b"], "{fif\u00a0f&lt;bbotherwise", "{1if\u00a01&lt;22otherwise"],
  [
    ["and", [">=", "m", "p"], ["or", ["==", "f", 1], ["<=", "c", 0]]],
    "m≥p\u00a0and\u00a0(f=1\u00a0or\u00a0c≤0)",
    "32≥8\u00a0and\u00a0(1=1\u00a0or\u00a00.25≤0)",
  ],
  [["+", "sum_f", ["*", ["-", "m", 1], "max_f"]], "∑f+(m−1)maxf", "9+(32−1)×3"],
];
for (const [tree, names, numbers] of drawn) {
  test(`${text(tree)} is drawn with few brackets`, () => {
    assert.equal(plain(mathml(tree)), names);
    assert.equal(plain(mathmlNumbers(tree, NAMES)), numbers);
  });
}

test("a sum breaks between its terms, and nowhere else", () => {
  const parts = mathmlTerms(["+", ["+", "p", ["-", "m", 1]], "f"], null).map(plain);
  assert.deepEqual(parts, ["p", "+m−1", "+f"]);
  assert.equal(mathmlTerms(["*", ["+", "p", 1], "f"], null).length, 1);
});

test("a fraction is a fraction and a floor has its own brackets", () => {
  assert.equal(inside(mathml(["/", "p", 2])), "<mfrac><mi>p</mi><mn>2</mn></mfrac>");
  assert.equal(inside(mathml(["floor", "p"])), "<mo>⌊</mo><mi>p</mi><mo>⌋</mo>");
  assert.match(mathml("p"), /^<math xmlns="http:\/\/www.w3.org\/1998\/Math\/MathML"><mi>p<\/mi><\/math>$/);
});

test("a fraction always has two children, so products above and below it are grouped", () => {
  const math = mathml(INTERLEAVED);
  assert.match(math, /<mfrac><mrow>.*<\/mrow><mi>v<\/mi><\/mfrac>/);
});

test("every tag that opens is closed, in order, in all the trees", () => {
  for (const [tree] of [...drawn, ...values]) {
    const open: string[] = [];
    for (const [, slash, name] of mathml(tree).matchAll(/<(\/?)(\w+)[^>]*>/g)) {
      if (slash) assert.equal(open.pop(), name);
      else open.push(name);
    }
    assert.deepEqual(open, []);
  }
});

test("markup in names and operators is escaped", () => {
  const math = mathml(["<script>", '<img onerror="x">&', 1] as Tree);
  assert.ok(!/<script|<img/.test(math));
  assert.match(math, /&lt;img onerror=&quot;x&quot;&gt;&amp;/);
});

test("numbers show at most four decimals and infinity has its sign", () => {
  assert.equal(inside(mathmlNumbers("f", { f: 1 / 3 })), "<mn>0.3333</mn>");
  assert.equal(inside(mathmlNumbers("f", { f: -2.5 })), "<mo>−</mo><mn>2.5</mn>");
  assert.equal(inside(mathmlNumbers("f", { f: Infinity })), "<mn>∞</mn>");
});

test("a text has brackets only where they are needed", () => {
  assert.equal(text(INTERLEAVED), "(p - 1)*(f + b)/v");
  assert.equal(text(INTERLEAVED, NAMES), "(8 - 1)*(1 + 2)/2");
  assert.equal(text(["-", "a", ["+", "b", "c"]]), "a - (b + c)");
  assert.equal(text(["/", "a", ["*", "b", "c"]]), "a/(b*c)");
});

test("a law is exact where all conditions hold and otherwise names the first that does not", () => {
  const law: { formula: Tree; where: [Tree, string][] } = {
    formula: INTERLEAVED,
    where: [
      [["==", "c", 0], "hops take time"],
      [[">=", "m", "p"], "too few micro-batches"],
    ],
  };
  assert.deepEqual(evaluateLaw(law, NAMES), { value: 10.5, exact: false, why: "hops take time" });
  assert.deepEqual(evaluateLaw(law, { ...NAMES, c: 0 }), { value: 10.5, exact: true, why: null });
  assert.equal(evaluateLaw(law, { ...NAMES, c: 0, m: 4 }).why, "too few micro-batches");
});

test("a spec names sizes, costs, torch's group and whether stages are alike", () => {
  const names = vars({ ...DEFAULTS, p: 4, m: 10, v: 2, costs: { ...UNIT, F: [1, 1, 1, 1, 1, 1, 1, 3], W: 0.5 } });
  assert.deepEqual([names.g, names.S, names.f, names.b, names.uniform, names.fb_full], [5, 8, 2.5, 1.5, 0, 1]);
  assert.deepEqual([names.sum_f, names.max_f, names.sum_b, names.max_b], [10, 3, 6, 0.75]);
  assert.equal(vars({ ...DEFAULTS, m: 2 }).g, 2);
  assert.equal(vars({ ...DEFAULTS, group: 3 }).g, 3);
  assert.equal(vars({ ...DEFAULTS, costs: { ...UNIT, FB: 2 } }).fb_full, 0);
});
