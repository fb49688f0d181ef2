// Helpers to write the rows of a family as in its paper: phases (a count and a pattern), and columns in turn.

/** @typedef {Uint8Array} Row  the op codes of one rank, kind * chunks + chunk (core/schedule/ops.js) */
/** @typedef {[count: number, pattern: ArrayLike<number>]} Phase */

/**
 * Build a row from its phases: each a count (none if not positive) and the pattern to repeat.
 * @param {Phase[]} steps @returns {Row}
 */
export function phases(...steps) {
  const row = new Uint8Array(steps.reduce((sum, [count, pattern]) => sum + Math.max(0, count) * pattern.length, 0));
  let at = 0;
  for (const [count, pattern] of steps) {
    for (let k = 0; k < count; k++, at += pattern.length) row.set(pattern, at);
  }
  return row;
}

/**
 * Interleave one op of each column in turn: `alternate(F, B)` is the steady phase of 1F1B.
 * @param {Row[]} columns of one length @returns {Row}
 */
export function alternate(...columns) {
  const wide = columns.length;
  const row = new Uint8Array(wide * columns[0].length);
  columns.forEach((column, c) => column.forEach((code, k) => (row[k * wide + c] = code)));
  return row;
}

/** @param {Row[]} parts @returns {Row} */
export const concatenate = (...parts) => phases(...parts.map((part) => /** @type {Phase} */ ([1, part])));

/** A value for each rank. @template T @param {number} p @param {(rank: number) => T} make */
export const eachRank = (p, make) => Array.from({ length: p }, (_, rank) => make(rank));
