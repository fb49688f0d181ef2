// The address without a view: a first visit shows GPipe above 1F1B, so that no reader begins with a choice. Every link
// names its schedule, so that it opens the same wherever it is opened.
import { APPEARANCE, isLinkKey } from "./link.js";

/** The query of the first visit's schedules. */
export const FIRST_VISIT = "?family=gpipe&b.family=1f1b";

/** @param {string} search "?..." or "" */
const partsOf = (search) => search.replace(/^\?/, "").split("&").filter(Boolean);

/** @param {string[]} parts */
const joined = (parts) => (parts.length ? `?${parts.join("&")}` : "");

/** The key of a part "key=text"; a malformed escape is a key of its own. @param {string} part */
function keyOf(part) {
  const [key] = part.split("=");
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Whether parts say how the page looks and nothing of what it shows. @param {string[]} parts */
const onlyAppearance = (parts) => parts.every((part) => APPEARANCE.includes(keyOf(part)) || !isLinkKey(keyOf(part)));

/** Whether an address asks for no schedule and no part of a view. @param {string} search */
export const isFirstVisit = (search) => onlyAppearance(partsOf(search));

/** The query that an address stands for. @param {string} search */
export const queryOf = (search) => (isFirstVisit(search) ? joined([FIRST_VISIT.slice(1), ...partsOf(search)]) : search);

/**
 * A view's query, which names its schedule even where that is the default.
 * @param {string} query @param {string} family the default one
 */
export function explicit(query, family) {
  const parts = partsOf(query);
  return onlyAppearance(parts) ? joined([`family=${family}`, ...parts]) : query;
}

/** The shortest query that the page's own address needs. @param {string} query an explicit one */
export function shortest(query) {
  if (query !== FIRST_VISIT && !query.startsWith(`${FIRST_VISIT}&`)) return query;
  const rest = partsOf(query.slice(FIRST_VISIT.length));
  return onlyAppearance(rest) ? joined(rest) : query;
}
