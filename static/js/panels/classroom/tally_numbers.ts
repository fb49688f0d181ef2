// The numbers of a tally: what a chart of a class's answers shows, from the answers with their counts.
import type { Count } from "../../data/classroom/classroom.ts";

type Bin = { at: number; count: number };
/** bins: a step apart, each around `at`; outside: answers that are too far away to be drawn. */
export type Histogram = { step: number; bins: Bin[]; outside: Count[]; most: number };
/** of: answers by op and position; ops in the order that most gave. */
export type Positions = { ops: string[]; of: number[][] };
export type Row = { text: string; count: number; right: boolean };
export type Built = { stars: number[]; best: Count[] };

const MOST_BINS = 24;
const FAR = 3; // interquartile ranges from the quartiles
const FEW = 0.04; // of the answers: what more give is no slip, however far it is

export const answeredIn = (counts: Count[]) => counts.reduce((sum, [, count]) => sum + count, 0);

/** count of all, in whole percent. */
export const percent = (count: number, all: number) => (all ? Math.round((100 * count) / all) : 0);

/** 1, 2 or 5 times a power of ten: the least of them with at most so many steps in the range. */
function niceStep(range: number, most: number) {
  const least = range / most;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * (1 - 1e-9)) ?? 10 * power;
}

/** The value below which a share of the answers are. values: ascending. */
function quantile(values: [number, number][], share: number) {
  const all = values.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [value, count] of values) {
    seen += count;
    if (seen >= share * all) return value;
  }
  return values[values.length - 1][0];
}

/** Numbers in bins. A few that are far from all others would leave no room for these: they are named instead. */
export function histogram(counts: Count[], right: number | null): Histogram {
  const values = counts
    .map(([text, count]) => [Number(text), count] as [number, number])
    .filter(([value]) => Number.isFinite(value))
    .sort((a, b) => a[0] - b[0]);
  if (!values.length) return { step: 1, bins: [], outside: [], most: 0 };
  const [q1, q2, q3] = [0.25, 0.5, 0.75].map((share) => quantile(values, share));
  const reach = q3 > q1 ? FAR * (q3 - q1) : Math.max(1, Math.abs(q2));
  const few = Math.max(1, FEW * answeredIn(counts));
  const near = ([value, count]: [number, number]) => count > few || (value >= q1 - reach && value <= q3 + reach);
  const shown = values.filter(near);
  const ends = [...shown.map(([value]) => value), ...(right === null ? [] : [right])];
  const [least, largest] = [Math.min(...ends), Math.max(...ends)];
  const whole = shown.every(([value]) => Number.isInteger(value));
  const wanted = largest > least ? niceStep(largest - least, MOST_BINS - 1) : 1;
  const step = whole ? Math.max(1, wanted) : wanted;
  const first = Math.round(least / step);
  const bins = Array.from({ length: Math.round(largest / step) - first + 1 }, (_, k) => ({
    at: Number(((first + k) * step).toPrecision(12)),
    count: 0,
  }));
  for (const [value, count] of shown) bins[Math.round(value / step) - first].count += count;
  const outside = values.filter((each) => !near(each)).map(([value, count]) => [String(value), count] as Count);
  return { step, bins, outside, most: Math.max(...bins.map(({ count }) => count)) };
}

/** How often each op of an order was put into each position. ops: of the question. */
export function positions(counts: Count[], ops: string[]): Positions {
  const first = counts[0]?.[0].split(" ") ?? ops;
  const of = first.map((op) =>
    first.map((_, at) => counts.reduce((sum, [text, count]) => sum + (text.split(" ")[at] === op ? count : 0), 0)),
  );
  return { ops: first, of };
}

const MOMENT = /^(\d+)@([\d.]+)$/;
const WAIT = /^(\d+)@([\d.]+)-([\d.]+)$/;

/**
 * Places on the timeline: ops as they are, moments of a rank to two digits, and those in the wait that is right as one.
 * text: an answer, or "2@6-9" for that wait.
 */
export function places(counts: Count[], right: string | null): Row[] {
  const wait = WAIT.exec(right ?? "");
  const found = new Map<string, Row>();
  for (const [text, count] of counts) {
    const moment = MOMENT.exec(text);
    const inside =
      wait !== null &&
      moment !== null &&
      moment[1] === wait[1] &&
      Number(moment[2]) >= Number(wait[2]) &&
      Number(moment[2]) <= Number(wait[3]);
    const key = inside ? (right as string) : moment ? `${moment[1]}@${Number(Number(moment[2]).toPrecision(2))}` : text;
    const row = found.get(key) ?? { text: key, count: 0, right: inside || text === right };
    row.count += count;
    found.set(key, row);
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}

/** Boards of a task: how many have how many stars, and the shortest orders that meet its goals. */
export function built(counts: Count[]): Built {
  const stars = [0, 0, 0, 0];
  const best = new Map<number, number>();
  for (const [text, count] of counts) {
    const [earned, makespan] = text.split("@").map(Number);
    stars[Math.min(3, earned || 0)] += count;
    if (earned > 0) best.set(makespan, (best.get(makespan) ?? 0) + count);
  }
  const ascending = [...best].sort((a, b) => a[0] - b[0]);
  return { stars, best: ascending.map(([makespan, count]) => [String(makespan), count]) };
}
