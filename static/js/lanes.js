// What the timeline shows: one lane group a schedule, planned or measured, all on one time axis.
import { layoutGroups } from "./pure/layout.js";

/** @import {Costs, Schedule, Spec, Times} from "./pure/types.js" */
/** @import {Layout} from "./pure/layout.js" */
/** @import {PlanId} from "./pure/slots.js" */
/** @import {Noted} from "./pure/waits.js" */

/**
 * @typedef {object} Lane
 * @property {PlanId | MeasuredId} id
 * @property {Schedule} schedule
 * @property {Times} times
 * @property {Spec} spec      what was asked for
 * @property {Costs} costs    those that ops really have
 * @property {number} end     where its time ends, in the plan's units
 * @property {boolean} stale  what is drawn is not what was asked for
 * @property {boolean} live   ops are still arriving
 * @property {boolean} asynchronous  every backward updates the weights, so that ops have weight versions
 * @property {Noted} [noted]  what a measured run noted of its ops beside their times
 */

/** @typedef {"run" | "run2" | "run3" | "run4"} MeasuredId */
/** The lanes of measured runs, in the order of the link. @type {MeasuredId[]} */
export const MEASURED_IDS = ["run", "run2", "run3", "run4"];

/** @param {{id: string}} lane or its group */
export const isMeasured = ({ id }) => id.startsWith("run");

/** @typedef {{layout: Layout, lanes: Lane[], t0: number, t1: number, full: number}} Scene  what one frame draws; full: what
 *   the full height of a memory strip stands for, 0 without strips */

/** Time at the right edge when all is shown. @param {Lane[]} lanes */
export function totalTime(lanes) {
  let total = 0;
  for (const lane of lanes) total = Math.max(total, lane.end);
  return total > 0 ? total : 1;
}

/** @param {Lane[]} lanes @param {number} width @param {number} height @param {boolean} strips whether memory strips are drawn
 * @param {boolean} [comm] whether messages have lanes @param {Record<string, number[]>} [pins] pinned ranks by lane */
export function arrange(lanes, width, height, strips, comm = false, pins = {}) {
  const groups = lanes.map((lane) => ({ id: lane.id, p: lane.schedule.p, title: "", copies: lane.schedule.copies !== null, comm,
    pinned: pins[lane.id] }));
  const narrow = width < 520;
  const rows = lanes.reduce((sum, lane) => sum + lane.schedule.p, 0);
  return layoutGroups(groups, width, height, { titleHeight: 28, gutter: narrow ? 28 : 40, right: narrow ? 8 : 16,
    gap: gapFor(height / rows), groupGap: 12, maxLane: 104, strip: strips ? stripFor(height / rows) : 0 });
}

/** The height of a memory strip: a quarter of a row, never so thin that its steps vanish. @param {number} pitch */
const stripFor = (pitch) => Math.min(28, Math.max(5, Math.round(pitch * 0.26)));

/** Between rows: nothing where a gap would be a large part of a row. @param {number} pitch */
const gapFor = (pitch) => (pitch < 7 ? 0 : pitch < 14 ? 1 : 2);

/** @param {Lane[]} lanes @param {string} id */
export const laneOf = (lanes, id) => lanes.find((lane) => lane.id === id) ?? null;

