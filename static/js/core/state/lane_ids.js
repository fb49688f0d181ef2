// What a link says of lanes by their ids, once one of them is gone: those behind it move up and take the id before
// theirs.

import { areaText, readArea } from "../timeline/area.js";
import { pinsText, readPins } from "./marks.js";

/**
 * @typedef {{sel: string | null, area: string | null, pin: string | null}} Named the parts of a view that name lanes
 */

const FIRST = "a"; // the lane that needs no name

/**
 * The selection, the area and the pins without a lane: what was said of it goes, what was said of others stays theirs.
 * @param {Named} view
 * @param {readonly string[]} ids of lanes that move up, in their order
 * @param {string} gone
 * @returns {Named}
 */
export function withoutLane({ sel, area, pin }, ids, gone) {
  const at = ids.indexOf(gone);
  /** @param {string} id @returns {string | null} */
  const now = (id) => (id === gone ? null : at >= 0 && ids.indexOf(id) > at ? ids[ids.indexOf(id) - 1] : id);
  return { sel: selection(sel, now), area: areaOf(area, now), pin: pins(pin, now) };
}

/** @typedef {(id: string) => string | null} Now  the id that a lane has now, null for the one that is gone */

/** @param {string | null} sel @param {Now} now */
function selection(sel, now) {
  if (!sel) return null;
  const [text, lane = FIRST] = sel.split("@");
  const id = now(lane);
  return id === null ? null : id === FIRST ? text : `${text}@${id}`;
}

/** @param {string | null} text @param {Now} now */
function areaOf(text, now) {
  const area = text ? readArea(text) : null;
  if (!area) return null;
  const [from, to] = [now(area.from.lane), now(area.to.lane)];
  return from === null || to === null
    ? null
    : areaText({ ...area, from: { ...area.from, lane: from }, to: { ...area.to, lane: to } });
}

/** @param {string | null} text @param {Now} now */
function pins(text, now) {
  const found = Object.entries(readPins(text) ?? {}).flatMap(([lane, ranks]) => {
    const id = now(lane);
    return id === null ? [] : [/** @type {[string, number[]]} */ ([id, ranks])];
  });
  return pinsText(Object.fromEntries(found));
}
