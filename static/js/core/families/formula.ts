// Laws as data: evaluates and prints formula trees, and evaluates a law at one point. ../explain/mathml.ts draws them.

import { barriersOf, timing } from "../schedule/effective_costs.ts";
import { formatNumber } from "../i18n/numbers.ts";
import type { Law, Spec, Tree, Vars } from "../schedule/types.ts";

/** Remainder with the divisor's sign, as in mathematics. */
function mod(a: number, b: number) {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

/** Of the values of its names, in the order of compile. */
export type Formula = (values: ArrayLike<number>) => number;

const BINARY: Record<string, (a: Formula, b: Formula) => Formula> = {
  "+": (a, b) => (x) => a(x) + b(x),
  "-": (a, b) => (x) => a(x) - b(x),
  "*": (a, b) => (x) => a(x) * b(x),
  "/": (a, b) => (x) => a(x) / b(x),
  mod: (a, b) => (x) => mod(a(x), b(x)),
  max: (a, b) => (x) => Math.max(a(x), b(x)),
  min: (a, b) => (x) => Math.min(a(x), b(x)),
  "<=": (a, b) => (x) => Number(a(x) <= b(x)),
  ">=": (a, b) => (x) => Number(a(x) >= b(x)),
  "==": (a, b) => (x) => Number(a(x) === b(x)),
  "<": (a, b) => (x) => Number(a(x) < b(x)),
  ">": (a, b) => (x) => Number(a(x) > b(x)),
};

const UNARY: Record<string, (a: Formula) => Formula> = {
  floor: (a) => (x) => Math.floor(a(x)),
  "-": (a) => (x) => -a(x),
};

/** A tree as a function of the values of its names; conditions give 1 or 0. */
export function compile(tree: Tree, names: string[]): Formula {
  if (typeof tree === "number") return () => tree;
  if (typeof tree === "string") {
    const at = names.indexOf(tree);
    if (at < 0) throw new Error(`the formula names ${tree}, which has no value`);
    return (x) => x[at];
  }
  const [op, ...operands] = tree;
  const parts = operands.map((each) => compile(each, names));
  const [first, second, third] = parts;
  // Lazy, because a branch that is not taken may divide by zero.
  if (op === "if") return (x) => (first(x) ? second(x) : third(x));
  if (op === "and") return (x) => Number(parts.every((part) => part(x)));
  if (op === "or") return (x) => Number(parts.some((part) => part(x)));
  if (!Object.hasOwn(parts.length === 1 ? UNARY : BINARY, op))
    throw new Error(`the formula has an operator ${op} that nobody knows`);
  return parts.length === 1 ? UNARY[op](first) : parts.reduce((left, right) => BINARY[op](left, right));
}

/** The value of a tree; conditions give 1 or 0. */
export const evaluate = (tree: Tree, names: Vars) => compile(tree, Object.keys(names))(Object.values(names));

/** How tightly operators bind. */
export const TIGHTNESS: Record<string, number> = {
  if: -1,
  or: 0,
  and: 1,
  "<=": 2,
  ">=": 2,
  "==": 2,
  "<": 2,
  ">": 2,
  "+": 3,
  "-": 3,
  "*": 4,
  "/": 4,
  mod: 4,
};
const CALLS = ["floor", "max", "min"];

/** The tree in a line of text, with its names, or with their values where names are given. */
export function text(tree: Tree, names?: Vars): string {
  if (typeof tree === "number") return formatNumber(tree);
  if (typeof tree === "string") return names ? formatNumber(names[tree]) : tree;
  const [op, ...parts] = tree;
  if (CALLS.includes(op)) return `${op}(${parts.map((part) => text(part, names)).join(", ")})`;
  if (op === "if") {
    const [test, yes, no] = parts;
    return `${operand(op, yes, names, false)} if ${text(test, names)} else ${operand(op, no, names, false)}`;
  }
  const joint = op === "*" || op === "/" ? op : ` ${op} `;
  if (parts.length === 1) return `${op}${operand(op, parts[0], names, true)}`;
  return parts.map((part, at) => operand(op, part, names, at > 0)).join(joint);
}

/** An operand, in brackets where it binds less tightly than the operator around it. */
function operand(op: string, part: Tree, names: Vars | undefined, right: boolean): string {
  const shown = text(part, names);
  if (!Array.isArray(part)) return right && shown.startsWith("-") ? `(${shown})` : shown;
  if (CALLS.includes(part[0])) return shown;
  const outer = TIGHTNESS[op] ?? -1;
  const inner = TIGHTNESS[part[0]] ?? -1;
  const needs = inner < outer || (inner === outer && right && (op === "-" || op === "/" || op === "mod"));
  return needs || part[0] === "if" ? `(${shown})` : shown;
}

/** Whether the law applies to a spec with these names. */
export const speaks = (law: Law, names: Vars) => !law.when || Boolean(evaluate(law.when, names));

/** The law at one point. exact: every condition holds; why: the sentence of the first that does not. */
export function evaluateLaw(law: Law, names: Vars): { value: number; exact: boolean; why: string | null } {
  const broken = law.where.find(([condition]) => !evaluate(condition, names));
  return { value: evaluate(law.formula, names), exact: broken === undefined, why: broken ? broken[1] : null };
}

/** A device's whole share: of a list, v times the mean of its entries. */
function whole(cost: number | number[], stages: number, v: number) {
  if (typeof cost === "number") return cost;
  return cost.every((x) => x === cost[0]) ? cost[0] * v : (v * cost.reduce((a, b) => a + b, 0)) / stages;
}

const each = (cost: number | number[], stages: number, v: number) =>
  typeof cost === "number" ? new Array(stages).fill(cost / v) : cost;

/**
 * The names that formulas use, from a spec. size: stages S and micro-batches per slot n, from the schedule where there
 * is one.
 */
export function vars(spec: Spec, size: { stages?: number; n?: number } = {}): Vars {
  const { p, m, v } = spec;
  const costs = timing(spec);
  const stages = size.stages ?? p * v;
  const [f, i, w] = [costs.F, costs.I, costs.W].map((cost) => whole(cost, stages, v));
  const perF = each(costs.F, stages, v);
  const perW = each(costs.W, stages, v);
  const perB = each(costs.I, stages, v).map((x, s) => x + perW[s]);
  const { sizes, fixed } = costs.sized ?? { sizes: null, fixed: 0 };
  const scale = sizes && sizes.map((x) => fixed + (1 - fixed) * x);
  const sum = (xs: number[]) => xs.reduce((a, b) => a + b, 0);
  const alike = [costs.F, costs.I, costs.W].every(
    (cost) => typeof cost === "number" || cost.every((x) => x === cost[0]),
  );
  return {
    p,
    m,
    v,
    g: spec.group ?? Math.floor(m / Math.max(1, Math.floor(m / p))),
    S: stages,
    n: size.n ?? m,
    f,
    i,
    w,
    b: i + w,
    c: costs.comm,
    FB: costs.FB ?? f + i + w,
    sum_f: sum(perF),
    max_f: Math.max(...perF),
    sum_b: sum(perB),
    max_b: Math.max(...perB),
    sum_x: scale ? sum(scale) : m,
    max_x: scale ? Math.max(...scale) : 1,
    sized: Number(scale !== null),
    uniform: Number(alike),
    fb_full: Number(costs.FB === null || costs.FB === f + i + w),
    s: costs.S ?? 0,
    t: costs.T ?? 0,
    barriers: barriersOf(spec),
    lead: costs.lead === undefined ? 0 : whole(costs.lead, stages, v),
    streams: Number((spec.streams ?? "none") !== "none"), // runs of earlier versions have specs without it
    lifo: Number(spec.lifo),
    forward_only: Number(spec.forward_only ?? false), // runs of earlier versions have specs without it
    frozen: Number(Boolean(spec.frozen)),
    interlaced: Number(spec.vocabulary === "interlaced"),
    copies: Number(spec.offload !== "none"),
  };
}
