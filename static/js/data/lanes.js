// What the timeline shows: one lane group a schedule, planned or measured, all on one time axis.
import { layoutGroups } from "../core/timeline/layout.js";

/** @import {Costs, Schedule, Spec, Times} from "../core/schedule/types.js" */
/** @import {Layout, Row} from "../core/timeline/layout.js" */
/** @import {PlanId} from "../core/state/schedules.js" */
/** @import {Details} from "../core/measured/run_details.js" */
/** @import {DeviceMemory} from "./costs/step_units.js" */
/** @import {Noted} from "../core/measured/waits.js" */

/**
 * @typedef {object} Lane
 * @property {PlanId | RunLaneId} id
 * @property {LaneKind} kind
 * @property {Schedule} schedule
 * @property {Times} times
 * @property {Spec} spec      what was asked for
 * @property {string} [family]  the title of its family
 * @property {Costs} costs    those that ops really have
 * @property {number} end     where its time ends, in the plan's units
 * @property {boolean} stale  what is drawn is not what was asked for
 * @property {boolean} live   ops are still arriving
 * @property {boolean} [open]    ops are still to be placed at the ends of its rows
 * @property {boolean} asynchronous  every backward updates the weights, so that ops have weight versions
 * @property {Noted} [noted]  what a measured run noted of its ops beside their times
 * @property {Details | null} [details]  and of bytes and messages, once they were asked for and are here
 * @property {() => void} [want]  requests them
 * @property {() => DeviceMemory | null} [device]  its memory in bytes, with a model and a machine
 * @property {string[] | null} [hosts]  by rank, of a run on a cluster
 */

/** @typedef {"plan" | "run"} LaneKind  predicted or measured */
/** @typedef {"run" | "run2" | "run3" | "run4"} RunLaneId */
/** The lanes of measured runs, in the order of the link. @type {RunLaneId[]} */
export const RUN_LANE_IDS = ["run", "run2", "run3", "run4"];

/**
 * @typedef {{layout: Layout, lanes: Lane[], t0: number, t1: number, full: number, late?: number}} Scene what one frame
 *   draws; full: the memory at the full height of a memory strip, 0 without strips; late: the end of the scale of
 *   residuals, 0 where ops are coloured by kind
 */

/** Time at the right edge when all is shown. @param {Lane[]} lanes */
export function totalTime(lanes) {
  let total = 0;
  for (const lane of lanes) total = Math.max(total, lane.end);
  return total > 0 ? total : 1;
}

/**
 * @param {Lane[]} lanes
 * @param {number} width
 * @param {number} height
 * @param {boolean} strips whether memory strips are drawn
 * @param {boolean} [comm] whether messages have lanes
 * @param {Record<string, number[]>} [pins] pinned ranks by lane
 * @param {boolean} [planned] whether measured rows show where the plan had their ops
 */
export function arrange(lanes, width, height, strips, comm = false, pins = {}, planned = false) {
  const groups = lanes.map((lane) => ({
    id: lane.id,
    p: lane.schedule.p,
    title: "",
    copies: lane.schedule.copies !== null,
    comm,
    pinned: pins[lane.id],
  }));
  const narrow = width < 520;
  const rows = lanes.reduce((sum, lane) => sum + lane.schedule.p, 0);
  const layout = layoutGroups(groups, width, height, {
    titleHeight: 28,
    gutter: narrow ? 28 : 40,
    right: narrow ? 8 : 16,
    gap: gapFor(height / rows),
    groupGap: 12,
    maxLane: strips ? 128 : 160,
    strip: strips ? stripFor(height / rows) : 0,
  });
  return planned
    ? {
        ...layout,
        groups: layout.groups.map((group, k) =>
          lanes[k].kind === "run" ? { ...group, rows: group.rows.map(withFoot) } : group,
        ),
      }
    : layout;
}

/**
 * A part of a measured row, at its foot, is for the plan; none where the row is too thin.
 * @param {Row} row
 * @returns {Row}
 */
function withFoot(row) {
  const foot = row.h < 9 ? 0 : Math.max(3, Math.min(10, Math.round(row.h * 0.22)));
  return foot ? { ...row, h: row.h - foot - 1, footH: foot } : row;
}

/** The height of a memory strip: a quarter of a row, never so thin that its steps vanish. @param {number} pitch */
const stripFor = (pitch) => Math.min(44, Math.max(5, Math.round(pitch * 0.26)));

/** Between rows: nothing where a gap would be a large part of a row. @param {number} pitch */
const gapFor = (pitch) => (pitch < 7 ? 0 : pitch < 14 ? 1 : 2);

/** @param {Lane[]} lanes @param {string} id */
export const laneOf = (lanes, id) => lanes.find((lane) => lane.id === id) ?? null;
