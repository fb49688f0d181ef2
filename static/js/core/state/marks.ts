// Marks in time and pinned ranks, as the link has them.
//
// "3,10.5" are marks at these times. "0,7,b.3" pins ranks 0 and 7 of the first plan and rank 3 of plan b.

export const MOST_MARKS = 8; // with seven digits each, so that a link with all of them stays short
export const MOST_PINS = 8;

const FIRST = "a";
const TIMES = /^\d+(\.\d+)?(e[+-]?\d+)?(,\d+(\.\d+)?(e[+-]?\d+)?)*$/i;
const PINS = /^([a-z]+\d?\.)?\d{1,4}(,([a-z]+\d?\.)?\d{1,4})*$/;

/** Returns ascending, each once; null for any other text. */
export function readMarks(text: string | null): number[] | null {
  if (!text) return [];
  const marks = TIMES.test(text) ? [...new Set(text.split(",").map(Number))].sort((a, b) => a - b) : [];
  return marks.length && marks.length <= MOST_MARKS && marks.every(Number.isFinite) ? marks : null;
}

export const marksText = (marks: number[]): string | null =>
  marks.length ? marks.map((t) => String(Number(t.toPrecision(7)))).join(",") : null;

/**
 * Add a mark at t; or, where there is one within tolerance, remove that. Returns more than MOST_MARKS of them where
 * there is no room.
 */
export function toggleMark(marks: number[], t: number, tolerance: number): number[] {
  const near = marks
    .filter((mark) => Math.abs(mark - t) <= tolerance)
    .sort((a, b) => Math.abs(a - t) - Math.abs(b - t))[0];
  return near === undefined ? [...marks, t].sort((a, b) => a - b) : marks.filter((mark) => mark !== near);
}

/** Returns by lane, ascending; null for another text. */
export function readPins(text: string | null): Record<string, number[]> | null {
  const pins: Record<string, number[]> = {};
  if (!text) return pins;
  const each = PINS.test(text) ? text.split(",") : [];
  if (!each.length || each.length > MOST_PINS) return null;
  for (const one of each) {
    const [lane, rank] = one.includes(".") ? one.split(".") : [FIRST, one];
    pins[lane] = [...new Set([...(pins[lane] ?? []), Number(rank)])].sort((a, b) => a - b);
  }
  return pins;
}

export function pinsText(pins: Record<string, number[]>): string | null {
  const each = Object.entries(pins).flatMap(([lane, ranks]) =>
    ranks.map((rank) => (lane === FIRST ? `${rank}` : `${lane}.${rank}`)),
  );
  return each.length ? each.join(",") : null;
}

export function togglePin(pins: Record<string, number[]>, lane: string, rank: number): Record<string, number[]> {
  const now = pins[lane] ?? [];
  return {
    ...pins,
    [lane]: now.includes(rank) ? now.filter((each) => each !== rank) : [...now, rank].sort((a, b) => a - b),
  };
}
