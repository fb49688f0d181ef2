// The positions of numbers in ascending order, equal ones as they stand, as numpy's argsort(kind="stable").

/**
 * Sorts by merging what already ascends or descends: numbers that are a few such lists one after the other, as the
 * deadlines of a rank's chunks are, take a few passes. length: how many of them; order: the positions are written into
 * this one or the next; spare: as long; returns the one of the two with the positions.
 */
export function argsort(keys: Float64Array, length: number, order: Int32Array, spare: Int32Array): Int32Array {
  for (let i = 0; i < length; i++) order[i] = i;
  let bounds = runs(keys, length, order);
  while (bounds.length > 2) {
    const merged = [0];
    for (let i = 0; i + 1 < bounds.length; i += 2) {
      const end = bounds[Math.min(i + 2, bounds.length - 1)];
      merge(keys, order, bounds[i], bounds[i + 1], end, spare);
      merged.push(end);
    }
    bounds = merged;
    [order, spare] = [spare, order];
  }
  return order;
}

/** Where each ascending run begins, and the end; strictly descending runs are turned around. */
function runs(keys: Float64Array, length: number, order: Int32Array) {
  const bounds = [0];
  for (let i = 0; i < length;) {
    const from = i++;
    if (i < length && keys[i] < keys[from]) {
      while (i < length && keys[i] < keys[i - 1]) i++;
      order.subarray(from, i).reverse();
    } else while (i < length && keys[i] >= keys[i - 1]) i++;
    bounds.push(i);
  }
  return bounds;
}

/** Merges order[from, middle) and order[middle, end). */
function merge(keys: Float64Array, order: Int32Array, from: number, middle: number, end: number, into: Int32Array) {
  let [a, b] = [from, middle];
  for (let at = from; at < end; at++) {
    const left = b >= end || (a < middle && keys[order[a]] <= keys[order[b]]);
    into[at] = order[left ? a++ : b++];
  }
}

/**
 * The same for whole numbers below `at.length - 1`, by counting. length: how many of them; order: the positions are
 * written into it; at: room for where the next of each number goes.
 */
export function argsortWhole(keys: Int32Array, length: number, order: Int32Array, at: Int32Array) {
  at.fill(0);
  for (let i = 0; i < length; i++) at[keys[i] + 1]++;
  for (let key = 1; key < at.length; key++) at[key] += at[key - 1];
  for (let i = 0; i < length; i++) order[at[keys[i]]++] = i;
}
