// What a link has of lanes by their ids, once one of them is removed: those behind it move up and take the id before
// theirs.

import { areaText, readArea } from "../timeline/area.ts";
import { pinsText, readPins } from "./marks.ts";

/** The parts of a view that name lanes. */
export type Named = { sel: string | null; area: string | null; pin: string | null };

const FIRST = "a"; // the lane that needs no name

/**
 * The selection, the area and the pins without a lane: references to it are removed, the others keep their lanes. ids:
 * of lanes that move up, in their order.
 */
export function withoutLane({ sel, area, pin }: Named, ids: readonly string[], removed: string): Named {
  const at = ids.indexOf(removed);
  const idAfter = (id: string): string | null =>
    id === removed ? null : at >= 0 && ids.indexOf(id) > at ? ids[ids.indexOf(id) - 1] : id;
  return { sel: selection(sel, idAfter), area: areaOf(area, idAfter), pin: pins(pin, idAfter) };
}

/** A lane's new id, null for the one that was removed. */
type IdAfter = (id: string) => string | null;

function selection(sel: string | null, idAfter: IdAfter) {
  if (!sel) return null;
  const [text, lane = FIRST] = sel.split("@");
  const id = idAfter(lane);
  return id === null ? null : id === FIRST ? text : `${text}@${id}`;
}

function areaOf(text: string | null, idAfter: IdAfter) {
  const area = text ? readArea(text) : null;
  if (!area) return null;
  const [from, to] = [idAfter(area.from.lane), idAfter(area.to.lane)];
  return from === null || to === null
    ? null
    : areaText({ ...area, from: { ...area.from, lane: from }, to: { ...area.to, lane: to } });
}

function pins(text: string | null, idAfter: IdAfter) {
  const found = Object.entries(readPins(text) ?? {}).flatMap(([lane, ranks]) => {
    const id = idAfter(lane);
    return id === null ? [] : [[id, ranks] as [string, number[]]];
  });
  return pinsText(Object.fromEntries(found));
}
