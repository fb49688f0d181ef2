// Results kept beside the objects that they were computed from, for as long as those live.

/**
 * The function that computes once for each object, its first argument; the others must follow from that. Its results
 * must never be undefined. Calls marked PURE are left out of bundles that do not use what they make.
 */
export function memoized<K extends object, Rest extends unknown[], V>(
  compute: (key: K, ...rest: Rest) => V,
): (key: K, ...rest: Rest) => V {
  const results = new WeakMap<K, V>();
  return (key, ...rest) => {
    let found = results.get(key);
    if (found === undefined) results.set(key, (found = compute(key, ...rest)));
    return found;
  };
}
