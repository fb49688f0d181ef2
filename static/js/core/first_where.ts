// Binary search.

/** The first place from lo on at which a condition holds that then holds up to hi; hi where it never does. */
export function firstWhere(lo: number, hi: number, holds: (place: number) => boolean) {
  while (lo < hi) {
    const middle = (lo + hi) >>> 1;
    if (holds(middle)) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}
