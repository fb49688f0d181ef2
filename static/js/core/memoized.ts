// Results kept beside the objects that they were computed from, for as long as those live.

/** The function that computes once for each object; its results must never be undefined. */
export function memoized<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, V>();
  return (key) => {
    let found = results.get(key);
    if (found === undefined) results.set(key, (found = compute(key)));
    return found;
  };
}
