// Formula trees as MathML, with names or with numbers put in.

import { t } from "../i18n/language.ts";
import { formatNumber } from "../i18n/numbers.ts";
import { TIGHTNESS } from "../families/formula.ts";
import type { Tree, Vars } from "../schedule/types.ts";

/** How names are written where it is not as they stand. */
const NAMES: Record<string, string> = {
  FB: "<mi>F&amp;B</mi>",
  sum_f: "<mrow><mo>∑</mo><mi>f</mi></mrow>",
  sum_b: "<mrow><mo>∑</mo><mi>b</mi></mrow>",
  max_f: "<mrow><mi>max</mi><mo>&#x2061;</mo><mi>f</mi></mrow>",
  max_b: "<mrow><mi>max</mi><mo>&#x2061;</mo><mi>b</mi></mrow>",
};
const SIGNS: Record<string, string> = {
  "+": "+",
  "-": "−",
  "<=": "≤",
  ">=": "≥",
  "==": "=",
  "<": "&lt;",
  ">": "&gt;",
  mod: "mod",
};
const ATOM = 9; // fractions, functions, names and numbers never need brackets

const escape = (raw: string) =>
  raw.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
const row = (inner: string) => `<mrow>${inner}</mrow>`;
const brackets = (inner: string) => row(`<mo>(</mo>${inner}<mo>)</mo>`);

function number(x: number) {
  const shown = escape(formatNumber(Math.abs(x)));
  return x < 0 ? row(`<mo>−</mo><mn>${shown}</mn>`) : `<mn>${shown}</mn>`;
}

function symbol(name: string, names: Vars | null) {
  if (names && Object.hasOwn(names, name)) return number(names[name]);
  if (name === "barriers") return `<mi>${escape(t("barriers"))}</mi>`;
  return Object.hasOwn(NAMES, name) ? NAMES[name] : `<mi>${escape(name)}</mi>`;
}

function draw(tree: Tree, names: Vars | null): string {
  if (typeof tree === "number") return number(tree);
  if (typeof tree === "string") return symbol(tree, names);
  const [op, ...parts] = tree;
  if (op === "/")
    return parts.slice(1).reduce((top, part) => `<mfrac>${top}${draw(part, names)}</mfrac>`, draw(parts[0], names));
  if (op === "floor") return row(`<mo>⌊</mo>${draw(parts[0], names)}<mo>⌋</mo>`);
  if (op === "max" || op === "min") {
    return row(`<mi>${op}</mi><mo>&#x2061;</mo>${brackets(parts.map((part) => draw(part, names)).join("<mo>,</mo>"))}`);
  }
  if (op === "if") return cases(parts, names);
  if (op === "*") return row(parts.map((part, at) => times(parts, at, names) + operand(op, part, at, names)).join(""));
  if (op === "and" || op === "or")
    return row(parts.map((part, at) => operand(op, part, at, names)).join(`<mtext>\u00a0${op}\u00a0</mtext>`));
  const sign = `<mo>${SIGNS[op] ?? escape(op)}</mo>`;
  if (parts.length === 1) return row(sign + operand(op, parts[0], 1, names));
  return row(parts.map((part, at) => operand(op, part, at, names)).join(sign));
}

/** Two cases behind a brace. parts: test, value, other value. */
function cases([test, yes, no]: Tree[], names: Vars | null) {
  const line = (value: string, when: string) => `<mtr><mtd>${value}</mtd><mtd>${when}</mtd></mtr>`;
  const first = line(draw(yes, names), `<mtext>${t("if")}\u00a0</mtext>${draw(test, names)}`);
  return row(`<mo>{</mo><mtable>${first}${line(draw(no, names), `<mtext>${t("otherwise")}</mtext>`)}</mtable>`);
}

const isNegative = (tree: Tree, names: Vars | null) =>
  typeof tree === "number" ? tree < 0 : typeof tree === "string" && names !== null && names[tree] < 0;

function operand(op: string, part: Tree, at: number, names: Vars | null) {
  const shown = draw(part, names);
  if (!Array.isArray(part)) return at > 0 && isNegative(part, names) ? brackets(shown) : shown;
  const outer = TIGHTNESS[op];
  const inner = part[0] === "/" ? ATOM : (TIGHTNESS[part[0]] ?? ATOM);
  return inner < outer || (inner === outer && at > 0 && (op === "-" || op === "mod")) ? brackets(shown) : shown;
}

/** The sign before factor at: nothing, an invisible times, or × where two digits would run together. */
function times(parts: Tree[], at: number, names: Vars | null) {
  if (at === 0) return "";
  return names || startsWithDigit(parts[at]) ? "<mo>×</mo>" : "<mo>&#x2062;</mo>";
}

const startsWithDigit = (part: Tree): boolean =>
  typeof part === "number" ||
  (Array.isArray(part) && (part[0] === "*" || part[0] === "mod") && startsWithDigit(part[1]));

/** The terms of a sum, each with its sign: a page can break a long line between them. */
function terms(tree: Tree, names: Vars | null): string[] {
  if (!Array.isArray(tree) || tree[0] !== "+" || tree.length !== 3) return [draw(tree, names)];
  return [...terms(tree[1], names), row(`<mo form="infix">+</mo>${operand("+", tree[2], 1, names)}`)];
}

const wrap = (inner: string) => `<math xmlns="http://www.w3.org/1998/Math/MathML">${inner}</math>`;

/** The formula as one math element a term of its outermost sum, with names or, where given, with numbers. */
export const mathmlTerms = (tree: Tree, names: Vars | null): string[] => terms(tree, names).map(wrap);
