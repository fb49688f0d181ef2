// Long links: a query that would be too long to share is packed under one key, z. Shorter links stay readable as
// they are. Keys beside z override the keys packed in it.

import { pack, unpack } from "./pack.ts";

export const LONGEST = 300; // characters of a query that is left to be read
const KEY = "z";
const ORDER = /^([a-z]\.)?order=/;

/** query: "?..."; Returns the same, or packed where it is long and that is shorter. */
export function shortened(query: string): string {
  if (query.length < LONGEST) return query;
  const parts = query.slice(1).split("&");
  const orders = parts.filter((part) => ORDER.test(part)); // packed already
  const rest = parts.filter((part) => !ORDER.test(part)).join("&");
  const packed = orders.length && rest.length < LONGEST ? null : pack(rest);
  return packed !== null && packed.length + KEY.length + 1 < rest.length
    ? `?${[`${KEY}=${packed}`, ...orders].join("&")}`
    : query;
}

/**
 * Keys and values of a query as they stand, and those that are packed in it. Returns broken: a z that cannot be read.
 */
export function pairsOf(search: string): {
  plain: [string, string][];
  packed: [string, string][];
  broken: string | null;
} {
  const all = [...new URLSearchParams(search)];
  const code = all.find(([key]) => key === KEY)?.[1];
  const plain = all.filter(([key]) => key !== KEY);
  if (code === undefined) return { plain, packed: [], broken: null };
  const text = unpack(code);
  return text === null
    ? { plain, packed: [], broken: code }
    : { plain, packed: [...new URLSearchParams(text)], broken: null };
}
