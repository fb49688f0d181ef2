// Formula trees as MathML, with names or with numbers put in.

import { t } from "../i18n/language.js";
import { formatNumber } from "../i18n/numbers.js";

/** @import {Tree, Vars} from "../schedule/types.js" */

/** How names are written where it is not as they stand. @type {Record<string, string>} */
const NAMES = {
  FB: "<mi>F&amp;B</mi>",
  sum_f: "<mrow><mo>∑</mo><mi>f</mi></mrow>",
  sum_b: "<mrow><mo>∑</mo><mi>b</mi></mrow>",
  max_f: "<mrow><mi>max</mi><mo>&#x2061;</mo><mi>f</mi></mrow>",
  max_b: "<mrow><mi>max</mi><mo>&#x2061;</mo><mi>b</mi></mrow>",
};
/** @type {Record<string, string>} */
const SIGNS = { "+": "+", "-": "−", "<=": "≤", ">=": "≥", "==": "=", "<": "&lt;", ">": "&gt;", mod: "mod" };
/** @type {Record<string, number>} */
const TIGHTNESS = { if: -1, or: 0, and: 1, "<=": 2, ">=": 2, "==": 2, "<": 2, ">": 2, "+": 3, "-": 3, "*": 4, mod: 4 };
const ATOM = 9; // fractions, functions, names and numbers never need brackets

/** @param {string} raw */
const escape = (raw) => raw.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
/** @param {string} inner */
const row = (inner) => `<mrow>${inner}</mrow>`;
/** @param {string} inner */
const brackets = (inner) => row(`<mo>(</mo>${inner}<mo>)</mo>`);

/** @param {number} x */
function number(x) {
  const shown = escape(formatNumber(Math.abs(x)));
  return x < 0 ? row(`<mo>−</mo><mn>${shown}</mn>`) : `<mn>${shown}</mn>`;
}

/** @param {string} name @param {Vars|null} names */
function symbol(name, names) {
  if (names && Object.hasOwn(names, name)) return number(names[name]);
  if (name === "barriers") return `<mi>${escape(t("barriers"))}</mi>`;
  return Object.hasOwn(NAMES, name) ? NAMES[name] : `<mi>${escape(name)}</mi>`;
}

/** @param {Tree} tree @param {Vars|null} names @returns {string} */
function draw(tree, names) {
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

/** Two cases behind a brace. @param {Tree[]} parts test, value, other value @param {Vars|null} names */
function cases([test, yes, no], names) {
  /** @param {string} value @param {string} when */
  const line = (value, when) => `<mtr><mtd>${value}</mtd><mtd>${when}</mtd></mtr>`;
  const first = line(draw(yes, names), `<mtext>${t("if")}\u00a0</mtext>${draw(test, names)}`);
  return row(`<mo>{</mo><mtable>${first}${line(draw(no, names), `<mtext>${t("otherwise")}</mtext>`)}</mtable>`);
}

/** @param {Tree} tree @param {Vars|null} names */
const isNegative = (tree, names) =>
  typeof tree === "number" ? tree < 0 : typeof tree === "string" && names !== null && names[tree] < 0;

/** @param {string} op @param {Tree} part @param {number} at @param {Vars|null} names */
function operand(op, part, at, names) {
  const shown = draw(part, names);
  if (!Array.isArray(part)) return at > 0 && isNegative(part, names) ? brackets(shown) : shown;
  const outer = TIGHTNESS[op];
  const inner = TIGHTNESS[part[0]] ?? ATOM;
  return inner < outer || (inner === outer && at > 0 && (op === "-" || op === "mod")) ? brackets(shown) : shown;
}

/** The sign before factor at: nothing, an invisible times, or × where two digits would run together.
 * @param {Tree[]} parts @param {number} at @param {Vars|null} names */
function times(parts, at, names) {
  if (at === 0) return "";
  return names || startsWithDigit(parts[at]) ? "<mo>×</mo>" : "<mo>&#x2062;</mo>";
}

/** @param {Tree} part @returns {boolean} */
const startsWithDigit = (part) =>
  typeof part === "number" ||
  (Array.isArray(part) && (part[0] === "*" || part[0] === "mod") && startsWithDigit(part[1]));

/** The terms of a sum, each with its sign: a page can break a long line between them.
 * @param {Tree} tree @param {Vars|null} names @returns {string[]} */
function terms(tree, names) {
  if (!Array.isArray(tree) || tree[0] !== "+" || tree.length !== 3) return [draw(tree, names)];
  return [...terms(tree[1], names), row(`<mo form="infix">+</mo>${operand("+", tree[2], 1, names)}`)];
}

/** @param {string} inner */
const wrap = (inner) => `<math xmlns="http://www.w3.org/1998/Math/MathML">${inner}</math>`;

/** The formula as one math element a term of its outermost sum, with names or, where given, with numbers.
 * @param {Tree} tree @param {Vars|null} names @returns {string[]} */
export const mathmlTerms = (tree, names) => terms(tree, names).map(wrap);
