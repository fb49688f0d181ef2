// What stays as it is in every language, and what a Chinese letter is.

export const HAN = /[\u4e00-\u9fff\u3001\u3002\uff08-\uff1f]/; // with its punctuation

/** Names, and terms that Chinese papers keep in English. */
export const KEPT = new Set([
  "400 Gb/s InfiniBand", "A100 80GB SXM", "H100 80GB SXM", "H200 141GB SXM", "B200 180GB HGX", "Zero Bubble 1.5B", "Zero Bubble 6.2B",
  "rank", "rank {1}",
]);

/** Holes that hold English grammar only, a plural. */
export const GRAMMAR = new Set(["{1} ops of {2} rank{3} were found {3}"]);
