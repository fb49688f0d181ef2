// Results kept beside the objects that they were computed from, for as long as those live.

/**
 * The function that computes once for each object; its results must never be undefined.
 * @template {object} K @template V @param {(key: K) => V} compute @returns {(key: K) => V}
 */
export function memoized(compute) {
  /** @type {WeakMap<K, V>} */
  const results = new WeakMap();
  return (key) => {
    let found = results.get(key);
    if (found === undefined) results.set(key, (found = compute(key)));
    return found;
  };
}
