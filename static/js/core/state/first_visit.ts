// The address without a view: the first screen, with one schedule. Every link names its schedule, so that it opens the
// whole instrument, and the same wherever it is opened.
import { APPEARANCE, isLinkKey } from "./link.ts";

/** The query of the first screen's schedule, without the memory strips, which it does not explain. */
export const FIRST_VISIT = "?family=gpipe&mem=0";

/** search: "?..." or "". */
const partsOf = (search: string) => search.replace(/^\?/, "").split("&").filter(Boolean);

const joined = (parts: string[]) => (parts.length ? `?${parts.join("&")}` : "");

/** The key of a part "key=text"; a malformed escape is a key of its own. */
function keyOf(part: string) {
  const [key] = part.split("=");
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Whether parts say how the page looks and nothing of what it shows. */
const onlyAppearance = (parts: string[]) =>
  parts.every((part) => APPEARANCE.includes(keyOf(part)) || !isLinkKey(keyOf(part)));

/** Whether an address asks for no schedule and no part of a view. */
export const isFirstVisit = (search: string) => onlyAppearance(partsOf(search));

/** The query that an address stands for. */
export const queryOf = (search: string) =>
  isFirstVisit(search) ? joined([FIRST_VISIT.slice(1), ...partsOf(search)]) : search;

/** A view's query, which names its schedule even where that is the default. family: the default one. */
export function explicit(query: string, family: string) {
  const parts = partsOf(query);
  return onlyAppearance(parts) ? joined([`family=${family}`, ...parts]) : query;
}

/** A query with the look of another one in place of its own. */
export function withLookOf(query: string, look: string) {
  const own = partsOf(query).filter((part) => !APPEARANCE.includes(keyOf(part)));
  return joined([...own, ...partsOf(lookOf(look))]);
}

/** The part of a query that says how the page looks. */
export const lookOf = (query: string) => joined(partsOf(query).filter((part) => APPEARANCE.includes(keyOf(part))));
