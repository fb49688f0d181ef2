// What a link has of lanes by their ids, once one of them is removed: those behind it move up and take the id before
// theirs.

import { areaText, readArea } from "../timeline/area.js";
import { pinsText, readPins } from "./marks.js";

/**
 * @typedef {{sel: string | null, area: string | null, pin: string | null}} Named the parts of a view that name lanes
 */

const FIRST = "a"; // the lane that needs no name

/**
 * The selection, the area and the pins without a lane: references to it are removed, the others keep their lanes.
 * @param {Named} view
 * @param {readonly string[]} ids of lanes that move up, in their order
 * @param {string} removed
 * @returns {Named}
 */
export function withoutLane({ sel, area, pin }, ids, removed) {
  const at = ids.indexOf(removed);
  /** @param {string} id @returns {string | null} */
  const idAfter = (id) => (id === removed ? null : at >= 0 && ids.indexOf(id) > at ? ids[ids.indexOf(id) - 1] : id);
  return { sel: selection(sel, idAfter), area: areaOf(area, idAfter), pin: pins(pin, idAfter) };
}

/** @typedef {(id: string) => string | null} IdAfter  a lane's new id, null for the one that was removed */

/** @param {string | null} sel @param {IdAfter} idAfter */
function selection(sel, idAfter) {
  if (!sel) return null;
  const [text, lane = FIRST] = sel.split("@");
  const id = idAfter(lane);
  return id === null ? null : id === FIRST ? text : `${text}@${id}`;
}

/** @param {string | null} text @param {IdAfter} idAfter */
function areaOf(text, idAfter) {
  const area = text ? readArea(text) : null;
  if (!area) return null;
  const [from, to] = [idAfter(area.from.lane), idAfter(area.to.lane)];
  return from === null || to === null
    ? null
    : areaText({ ...area, from: { ...area.from, lane: from }, to: { ...area.to, lane: to } });
}

/** @param {string | null} text @param {IdAfter} idAfter */
function pins(text, idAfter) {
  const found = Object.entries(readPins(text) ?? {}).flatMap(([lane, ranks]) => {
    const id = idAfter(lane);
    return id === null ? [] : [/** @type {[string, number[]]} */ ([id, ranks])];
  });
  return pinsText(Object.fromEntries(found));
}
