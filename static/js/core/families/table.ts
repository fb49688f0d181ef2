// Builds the rows of a family from its table, the one that the server builds them from: phases of ops, each a count
// and a pattern to repeat, or a slot for every op. backend/schedule/families/table.py says what a table has.
import { memoized } from "../memoized.ts";
import { compile, type Formula } from "./formula.ts";
import { KIND_F, KIND_I, KIND_PAIR, KIND_W, LETTERS } from "../schedule/ops.ts";
import { repeat, type Phase } from "../schedule/periodic.ts";
import type { Placement, Spec, Table, Tree } from "../schedule/types.ts";

/** The op codes of one rank, kind * chunks + chunk (core/schedule/ops.ts). */
export type Row = Uint8Array;
/** chunk: -1 for the next of the rank's chunk sequence; back: of a pair, the chunk of its backward. */
type Token = { kind: number; chunk: number; back: number };
type Step = { count: Formula; tokens: Token[] };
type Compiled = {
  names: string[];
  given: Formula[]; // what is let, after the names of SIZES
  steps: Step[];
  forwards: Step[];
  slots: [Token, Formula][];
  group: Formula;
  mirrored: Formula;
  lastFirst: Formula;
};
/**
 * A step for a number of chunks. codes: its pattern, with chunk 0 where it names none, as is and mirrored; moving: the
 * tokens that name none, each with its sequence, of forwards, backwards or W; taken: how many of each sequence.
 */
type Pattern = { codes: [Row, Row]; moving: [token: number, sequence: number][]; taken: number[] };
type Shape = {
  chunks: number;
  n: number;
  group: number;
  sequence: Uint8Array;
  patterns: Pattern[];
  counts: Int32Array[]; // repetitions by step and rank
};

const LEAST_OPS = 2 ** 15; // of an order whose steady state is worth knowing
const MOST_PHASES = 8; // of a row: shorter ones are not worth being skipped
const SIZES = ["p", "m", "v", "group", "g", "memory", "lifo"];
const OF_RANK = [...SIZES, "r", "i"];
const [RANK, MICRO] = [SIZES.length, SIZES.length + 1];
const FREE = 255; // no op

/**
 * The values of the names that the formulas of rules use, and those of tables begin with; 0 for a field that is not
 * given.
 */
const sizes = ({ p, m, v, group, memory, lifo }: Spec) => {
  const g = group ?? Math.floor(m / Math.max(1, Math.floor(m / p))); // torch's rule: as many as whole groups of p
  return [p, m, v, group ?? 0, g, memory ?? 0, Number(lifo)];
};

/** A formula in the sizes of a spec. */
export function ofSizes(tree: Tree): (spec: Spec) => number {
  const formula = compile(tree, SIZES);
  return (spec) => formula(sizes(spec));
}

const compiledOf = memoized(compileTable);

function compileTable({ rows, slots, let: given, group, mirrored, last_first }: Table): Compiled {
  const names = [...OF_RANK, ...given.map(([name]) => name)];
  const formula = (tree: Tree) => compile(tree, names);
  const steps = rows.map(([count, pattern]) => ({ count: formula(count), tokens: pattern.split(" ").map(tokenOf) }));
  return {
    ...{ names, steps, forwards: forwardsOf(steps), given: given.map(([, tree]) => formula(tree)) },
    slots: slots.map(([token, slot]) => [tokenOf(token), formula(slot)]),
    ...{ group: formula(group), mirrored: formula(mirrored), lastFirst: formula(last_first) },
  };
}

/** text: such as F, I1 or F0&B1. */
function tokenOf(text: string): Token {
  const [own, partner] = text.split("&");
  const chunkIn = (op: string) => (op.length > 1 ? Number(op.slice(1)) : -1);
  return partner
    ? { kind: KIND_PAIR, chunk: chunkIn(own), back: chunkIn(partner) }
    : { kind: LETTERS.indexOf(own[0]), chunk: chunkIn(own), back: 0 };
}

/** The forwards of a row alone, those that follow each other as one step. */
function forwardsOf(steps: Step[]): Step[] {
  const out: Step[] = [];
  for (const { count, tokens } of steps) {
    const forwards = tokens.filter(({ kind }) => kind === KIND_F);
    const last = out[out.length - 1];
    if (last && JSON.stringify(last.tokens) === JSON.stringify(forwards)) {
      const before = last.count;
      last.count = (values) => Math.max(0, before(values)) + Math.max(0, count(values));
    } else if (forwards.length) out.push({ count, tokens: forwards });
  }
  return out;
}

/** Whether each chunk's full backwards run from the last micro-batch to the first. */
export const isLastFirst = (table: Table, spec: Spec) => compiledOf(table).lastFirst([...sizes(spec), 0, 0]) !== 0;

/** The rows of a legal spec, with implied micro-batches, and their steady states where the order is large. */
export function rowsOf(table: Table, spec: Spec, { p, chunks, streams }: Placement): { rows: Row[]; phases: Phase[] } {
  const { names, given, steps, forwards, slots, group, mirrored } = compiledOf(table);
  const own = spec.forward_only ? forwards : steps;
  const values = new Float64Array(names.length);
  values.set(sizes(spec));
  const size = group(values);
  const shape: Shape = {
    ...{ chunks, n: spec.m / streams, group: size, sequence: chunkSequence(spec.m, size, chunks) },
    patterns: own.map(({ tokens }) => patternOf(tokens, chunks)),
    counts: own.map(() => new Int32Array(p)),
  };
  const letAll = () => given.forEach((formula, k) => (values[OF_RANK.length + k] = formula(values)));
  const rows = Array.from({ length: p }, (_, r) => {
    values[RANK] = r;
    if (slots.length) return bySlots(slots, letAll, values, shape);
    letAll();
    own.forEach(({ count }, k) => (shape.counts[k][r] = Math.max(0, count(values))));
    return byPhases(shape, r, mirrored(values));
  });
  return { rows, phases: phasesOf(shape, rows) };
}

/** The chunk of each of the m*v forwards: chunk 0 for the micro-batches of a group, then chunk 1 for the same, ... */
function chunkSequence(m: number, group: number, chunks: number) {
  const sequence = new Uint8Array(m * chunks);
  for (let at = 0, left = m; chunks > 1 && left > 0; left -= group) {
    const size = Math.min(group, left);
    for (let chunk = 0; chunk < chunks; chunk++, at += size) sequence.fill(chunk, at, at + size);
  }
  return sequence;
}

function patternOf(tokens: Token[], chunks: number): Pattern {
  const moving: Pattern["moving"] = tokens.flatMap(({ kind, chunk }, t) =>
    chunk < 0 && chunks > 1 ? [[t, kind === KIND_F ? 0 : kind === KIND_W ? 2 : 1]] : [],
  );
  const taken = [0, 0, 0];
  for (const [, which] of moving) taken[which]++;
  const codes = (mirror: number) => Uint8Array.from(tokens, (each) => codeOf(each, chunks, mirror));
  return { codes: [codes(0), codes(1)], moving, taken };
}

/** 1: chunks 0 and 1 are exchanged. */
function codeOf({ kind, chunk, back }: Token, chunks: number, mirror: number) {
  const own = chunk < 0 ? 0 : chunk ^ mirror;
  return kind === KIND_PAIR ? (KIND_PAIR + own) * chunks + (back ^ mirror) : kind * chunks + own;
}

function byPhases({ patterns, counts, chunks, n, sequence }: Shape, r: number, mirror: number): Row {
  const row = new Uint8Array(patterns.reduce((sum, { codes }, k) => sum + counts[k][r] * codes[0].length, 0));
  const next = [0, 0, 0]; // of each sequence
  let at = 0;
  patterns.forEach(({ codes, moving, taken }, k) => {
    const pattern = codes[mirror];
    const [count, begin, wide] = [counts[k][r], at, pattern.length];
    if (count === 0) return;
    at += count * wide;
    row.set(pattern, begin);
    repeat(row, begin, begin + wide, at);
    const from = next.slice();
    for (const [t, which] of moving) {
      if (which === 2) continue; // below
      for (let x = begin + t, i = from[which]++; x < at; x += wide, i += taken[which])
        row[x] += which === 0 ? sequence[i] : chunks - 1 - sequence[i];
    }
    taken.forEach((ops, which) => (next[which] += count * ops));
  });
  if (next[2] > 0) chooseWeights(row, chunks);
  return chunks > 1 && next[0] === 0 ? onlyFirst(row, n) : row;
}

/** Give each W the chunk of the oldest I whose W is still to come. */
function chooseWeights(row: Row, chunks: number) {
  const [begin, end] = [KIND_W * chunks, (KIND_W + 1) * chunks];
  for (let at = 0, from = 0; at < row.length; at++) {
    if (row[at] < begin || row[at] >= end) continue;
    while (row[from] < KIND_I * chunks || row[from] >= begin) from++;
    row[at] = row[from++] + (KIND_W - KIND_I) * chunks;
  }
}

/** A row without micro-batches from n on: as every code takes its micro-batches in order, the first n of each. */
function onlyFirst(row: Row, n: number) {
  const count = new Int32Array(FREE + 1);
  for (let at = 0; at < row.length; at++) count[row[at]]++;
  if (count.every((ops) => ops <= n)) return row;
  count.fill(0);
  return row.filter((code) => count[code]++ < n);
}

function bySlots(slots: [Token, Formula][], letAll: () => void, values: Float64Array, { chunks, n }: Shape): Row {
  const at = slots.map(() => new Int32Array(n));
  for (let i = 0; i < n; i++) {
    values[MICRO] = i;
    letAll();
    for (let k = 0; k < slots.length; k++) at[k][i] = slots[k][1](values);
  }
  const last = at.reduce((most, each) => each.reduce((a, b) => Math.max(a, b), most), -1);
  const ops = new Uint8Array(last + 1).fill(FREE); // no two ops of a rank have the same slot
  slots.forEach(([token], k) => {
    const code = codeOf(token, chunks, 0);
    for (const slot of at[k]) ops[slot] = code;
  });
  return ops.filter((code) => code !== FREE);
}

/**
 * The steady states of a large order: the steps that are long on every rank. A step that follows the chunk sequence
 * repeats with the groups, until the last one where that is smaller.
 */
function phasesOf({ patterns, counts, chunks, n, group, sequence }: Shape, rows: Row[]): Phase[] {
  if (rows.reduce((sum, row) => sum + row.length, 0) < LEAST_OPS) return [];
  const whole = sequence.length - (n % group) * chunks; // of each sequence, without the last group
  const begin = new Int32Array(rows.length);
  const next = [0, 1, 2].map(() => new Int32Array(rows.length));
  const phases = patterns.map(({ codes, moving, taken }, k) => {
    const wide = codes[0].length;
    const period = wide * (moving.length ? group * chunks : 1);
    const phase = { period, begin: Array.from(begin), end: Array.from(begin) };
    for (let r = 0; r < rows.length; r++) {
      const count = counts[k][r];
      const within = taken.map((ops, which) => (ops ? Math.floor((whole - next[which][r]) / ops) : count));
      phase.end[r] += wide * Math.max(0, Math.min(count, ...within));
      begin[r] += wide * count;
      taken.forEach((ops, which) => (next[which][r] += ops * count));
    }
    return phase;
  });
  return phases.filter(({ period, begin: from, end }) =>
    rows.every(({ length }, r) => end[r] - from[r] >= Math.max(2 * period, length / MOST_PHASES)),
  );
}
