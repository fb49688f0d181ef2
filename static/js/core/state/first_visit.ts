// The address without a view: a first visit shows GPipe above 1F1B, so that no reader begins with a choice. Every link
// names its schedule, so that it opens the same wherever it is opened.
import { APPEARANCE, isLinkKey } from "./link.ts";

/** The query of the first visit's schedules. */
export const FIRST_VISIT = "?family=gpipe&b.family=1f1b";

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

/** The shortest query that the page's own address needs. query: an explicit one. */
export function shortest(query: string) {
  if (query !== FIRST_VISIT && !query.startsWith(`${FIRST_VISIT}&`)) return query;
  const rest = partsOf(query.slice(FIRST_VISIT.length));
  return onlyAppearance(rest) ? joined(rest) : query;
}
