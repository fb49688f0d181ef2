// What stays as it is in Chinese: names, and a term that Chinese papers keep in English.

/** @type {import("../language.js").Catalogue} */
export const NAMES = Object.fromEntries(
  [
    "Interleaved 1F1B",
    "Interleaved zero bubble",
    "Looped breadth-first",
    "rank",
    "rank {1}",
    "{1} GiB",
    "{1} of {2} {3}",
    "A100 80GB SXM",
    "H100 80GB SXM",
    "H200 141GB SXM",
    "B200 180GB HGX",
    "Zero Bubble 1.5B",
    "Zero Bubble 6.2B",
  ].map((name) => [name, name]),
);
