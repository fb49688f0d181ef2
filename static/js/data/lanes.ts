// What the timeline shows: one lane group a schedule, planned or measured, all on one time axis.
import { layoutGroups, type Layout, type Row } from "../core/timeline/layout.ts";
import type { Costs, Schedule, Spec, Times } from "../core/schedule/types.ts";
import type { PlanId } from "../core/state/schedules.ts";
import type { Details } from "../core/measured/run_details.ts";
import type { DeviceMemory } from "./costs/step_units.ts";
import type { Noted } from "../core/measured/waits.ts";

export type Lane = {
  id: PlanId | RunLaneId;
  kind: LaneKind;
  schedule: Schedule;
  times: Times;
  spec: Spec; // what was asked for
  family?: string; // the title of its family
  costs: Costs; // those that ops really have
  end: number; // where its time ends, in the plan's units
  stale: boolean; // what is drawn is not what was asked for
  live: boolean; // ops are still arriving
  open?: boolean; // ops are still to be placed at the ends of its rows
  asynchronous: boolean; // every backward updates the weights, so that ops have weight versions
  noted?: Noted; // what a measured run noted of its ops beside their times
  details?: Details | null; // and of bytes and messages, once they were asked for and are here
  want?: () => void; // requests them
  device?: () => DeviceMemory | null; // its memory in bytes, with a model and a machine
  hosts?: string[] | null; // by rank, of a run on a cluster
};

/** Predicted or measured. */
type LaneKind = "plan" | "run";
type RunLaneId = "run" | "run2" | "run3" | "run4";
/** The lanes of measured runs, in the order of the link. */
export const RUN_LANE_IDS: RunLaneId[] = ["run", "run2", "run3", "run4"];

/** What one frame draws. */
export type Scene = {
  layout: Layout;
  lanes: Lane[];
  t0: number;
  t1: number;
  full: number; // the memory at the full height of a memory strip, 0 without strips
  late?: number; // the end of the scale of residuals, 0 where ops are coloured by kind
};

/** Time at the right edge when all is shown. */
export function totalTime(lanes: Lane[]) {
  let total = 0;
  for (const lane of lanes) total = Math.max(total, lane.end);
  return total > 0 ? total : 1;
}

export function arrange(
  lanes: Lane[],
  width: number,
  height: number,
  strips: boolean, // whether memory strips are drawn
  comm = false, // whether messages have lanes
  pins: Record<string, number[]> = {}, // pinned ranks by lane
  planned = false, // whether measured rows show where the plan had their ops
) {
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

/** A part of a measured row, at its foot, is for the plan; none where the row is too thin. */
function withFoot(row: Row): Row {
  const foot = row.h < 9 ? 0 : Math.max(3, Math.min(10, Math.round(row.h * 0.22)));
  return foot ? { ...row, h: row.h - foot - 1, footH: foot } : row;
}

/** The height of a memory strip: a quarter of a row, never so thin that its steps vanish. */
const stripFor = (pitch: number) => Math.min(44, Math.max(5, Math.round(pitch * 0.26)));

/** Between rows: nothing where a gap would be a large part of a row. */
const gapFor = (pitch: number) => (pitch < 7 ? 0 : pitch < 14 ? 1 : 2);

export const laneOf = (lanes: Lane[], id: string) => lanes.find((lane) => lane.id === id) ?? null;
