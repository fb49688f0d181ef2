// The positions of numbers in ascending order, equal ones as they stand: numpy's argsort(kind="stable"). A merge of the
// runs that are there already, because what is sorted here is a few ascending lists one after the other.

/** @typedef {Float64Array | Int32Array} Numbers */

/** @param {Numbers} keys @returns {Int32Array} */
export function argsort(keys) {
  let order = Int32Array.from(keys, (_, i) => i);
  let bounds = runs(keys);
  let spare = new Int32Array(keys.length);
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

/** Where each ascending run begins, and the end. @param {Numbers} keys */
function runs(keys) {
  const bounds = [0];
  for (let i = 1; i < keys.length; i++) if (keys[i] < keys[i - 1]) bounds.push(i);
  bounds.push(keys.length);
  return bounds;
}

/** @param {Numbers} keys @param {Int32Array} order @param {number} a @param {number} b @param {number} end
 * @param {Int32Array} into */
function merge(keys, order, a, b, end, into) {
  const middle = b;
  for (let at = a; at < end; at++) {
    const left = b >= end || (a < middle && keys[order[a]] <= keys[order[b]]);
    into[at] = order[left ? a++ : b++];
  }
}
