// The rows' positions on the screen, and the ops at a time or in a window.

import type { Schedule, Times } from "../schedule/types.ts";

export type Row = {
  rank: number;
  y: number; // y, h: the lane of ops
  h: number;
  stripY: number; // stripY, stripH: the memory strip above it (height 0 when off)
  stripH: number;
  copyY: number; // copyY, copyH: the copy lane under it (height 0 where there is none, or no room)
  copyH: number;
  commY: number; // commY, commH: the lane of messages under that, in the same way
  commH: number;
  footH?: number; // a thin row right under the ops, which is a part of their lane
};
/** Pinned ranks come first. */
type GroupSpec = {
  id: string;
  p: number;
  title: string;
  pinned?: number[];
  copies?: boolean; // its ranks have copy lanes
  comm?: boolean; // their messages are shown
};
/** Of a row. */
export type Part = "ops" | "copies" | "comm" | "strip";
/** What places ops in time, of compute or of copies. */
export type Rows = Pick<Schedule, "codes" | "offsets" | "chunks">;
type Group = {
  id: string;
  title: string;
  top: number;
  height: number;
  titleY: number;
  rows: Row[];
  pinned: number; // how many of its rows, the first, are pinned ranks
};
export type Layout = {
  groups: Group[];
  axisY: number;
  axisHeight: number;
  plotLeft: number;
  plotWidth: number;
  laneHeight: number;
  contentHeight: number;
};

/** Sizes in CSS pixels. */
export const DEFAULTS = {
  axisHeight: 24, // at the top, once for all groups: they share one time axis
  titleHeight: 22,
  gutter: 34, // rank labels, left of the plot
  right: 8,
  gap: 1,
  groupGap: 12,
  strip: 0, // height of the memory strip of each rank
  minLane: 3,
  leastLane: 1, // of several schedules, where that shows them all at once
  maxLane: 34,
};

const LEAST_COPIES = 4; // px that a copy lane of blocks needs; under a thinner row it is a line
const LINE = 2;
const ROOM_FOR_BLOCKS = 11; // px of a row that leave room for such blocks, and for a line
const ROOM_FOR_LINE = 5;
const READABLE = 20; // px of a pinned row, where the others are thinner and there is room for it

/** How tall the copy lane under a row of ops is: a third of it. */
function copyHeight(lane: number) {
  if (lane < ROOM_FOR_LINE) return 0;
  return lane < ROOM_FOR_BLOCKS ? LINE : Math.max(LEAST_COPIES, Math.round(lane / 3));
}

/** How tall the lane of messages under a row is: one half for those sent, one for those received. */
function commHeight(lane: number) {
  if (lane < ROOM_FOR_LINE) return 0;
  return lane < ROOM_FOR_BLOCKS ? 2 * LINE : Math.max(8, Math.min(16, 2 * Math.round(lane / 6)));
}

/** The pinned ranks that there are, each once. */
const pinnedOf = (p: number, pinned: number[] = []) =>
  pinned.filter((r, at) => r >= 0 && r < p && pinned.indexOf(r) === at);

/** Ranks from top to bottom: the pinned ones, then the others. */
export function rankOrder(p: number, pinned?: number[]) {
  const front = pinnedOf(p, pinned);
  const isFront = new Set(front);
  return [...front, ...Array.from({ length: p }, (_, r) => r).filter((r) => !isFront.has(r))];
}

/** Of a row's parts. */
type Heights = { laneHeight: number; copy?: number; comm?: number };

/** The rows of one schedule. front: the heights of pinned rows, where they differ. */
export function lanes({
  p,
  top,
  gap,
  pinned,
  strip = 0,
  front,
  ...plain
}: Heights & { p: number; top: number; gap: number; pinned?: number[]; strip?: number; front?: Heights }): Row[] {
  const tall = pinnedOf(p, pinned).length;
  let stripY = top;
  return rankOrder(p, pinned).map((rank, at) => {
    const { laneHeight: h, copy = 0, comm = 0 } = at < tall && front ? front : plain;
    const y = stripY + strip;
    const row = { rank, y, h, stripY, stripH: strip, copyY: y + h, copyH: copy, commY: y + h + copy, commH: comm };
    stripY = row.commY + comm + gap;
    return row;
  });
}

/**
 * Stacks groups under one axis with one lane height for all, so that equal times and equal ranks line up; pinned ranks
 * stay readable where the others are thin. When lanes would get thinner than minLane the content grows beyond height
 * (the caller scrolls), except for several schedules that thinner lanes show at once, so that they can be compared.
 */
export function layoutGroups(
  groups: GroupSpec[],
  width: number,
  height: number,
  opts: Partial<typeof DEFAULTS> = {},
): Layout {
  const o = { ...DEFAULTS, ...opts };
  const rows = groups.reduce((sum, g) => sum + g.p, 0);
  const fixed =
    o.axisHeight +
    groups.length * o.titleHeight +
    Math.max(0, groups.length - 1) * o.groupGap +
    rows * (o.gap + o.strip);
  const front = groups.reduce((sum, g) => sum + pinnedOf(g.p, g.pinned).length, 0);
  const tallest = Math.min(READABLE, Math.floor((height - fixed) / 2 / Math.max(1, front)));
  const tall = (lane: number) => Math.max(lane, tallest);
  const content = (lane: number) =>
    groups.reduce((sum, g) => {
      const pinned = pinnedOf(g.p, g.pinned).length;
      return sum + (g.p - pinned) * (lane + underneath(g, lane)) + pinned * (tall(lane) + underneath(g, tall(lane)));
    }, 0);
  const laneHeight = fitLane(height - fixed, rows, content, groups.length > 1 ? o.leastLane : o.minLane, o);
  let top = o.axisHeight;
  const placed = groups.map((g) => {
    const at = top;
    const inGroup = lanes({
      p: g.p,
      top: at + o.titleHeight,
      gap: o.gap,
      pinned: g.pinned,
      strip: o.strip,
      ...heights(g, laneHeight),
      front: heights(g, tall(laneHeight)),
    });
    const last = inGroup[inGroup.length - 1];
    const foot = last ? last.commY + last.commH + o.gap : at + o.titleHeight;
    top = foot + o.groupGap;
    return {
      id: g.id,
      title: g.title,
      top: at,
      titleY: at,
      height: foot - at,
      pinned: pinnedOf(g.p, g.pinned).length,
      rows: inGroup,
    };
  });
  return {
    groups: placed,
    axisY: 0,
    axisHeight: o.axisHeight,
    plotLeft: o.gutter,
    plotWidth: Math.max(1, width - o.gutter - o.right),
    laneHeight,
    contentHeight: top - (groups.length ? o.groupGap : 0),
  };
}

/** What a row of a group consists of. */
const heights = ({ copies, comm }: GroupSpec, lane: number): Heights => ({
  laneHeight: lane,
  copy: copies ? copyHeight(lane) : 0,
  comm: comm ? commHeight(lane) : 0,
});

/** The height under a row: its copies, its messages. */
const underneath = ({ copies, comm }: GroupSpec, lane: number) =>
  (copies ? copyHeight(lane) : 0) + (comm ? commHeight(lane) : 0);

/** The tallest lane with which all rows, and the lanes under them, fit. content: the height of all rows. */
function fitLane(room: number, rows: number, content: (lane: number) => number, least: number, o: typeof DEFAULTS) {
  if (rows === 0) return o.maxLane;
  let lane = Math.min(o.maxLane, Math.max(least, Math.floor(room / rows)));
  while (lane > least && content(lane) > room) lane--;
  return lane < o.minLane && content(lane) > room ? o.minLane : lane;
}

/** A row moved down. */
const moved = (row: Row, dy: number): Row => ({
  ...row,
  y: row.y + dy,
  stripY: row.stripY + dy,
  copyY: row.copyY + dy,
  commY: row.commY + dy,
});

/**
 * A layout that is scrolled. While a group is in sight its title and its pinned ranks stay on top, under the axis, and
 * the other ranks pass under them: those that are covered are left out, so that nothing is drawn twice in one place.
 */
export function scrolled(layout: Layout, scroll: number): Layout {
  if (!(scroll > 0)) return layout;
  return { ...layout, groups: layout.groups.map((group) => stuck(group, scroll, layout.axisHeight)) };
}

function stuck(group: Group, scroll: number, ceiling: number): Group {
  const top = group.top - scroll;
  const { rows, pinned, height } = group;
  if (top >= ceiling || top + height <= ceiling || !rows.length) {
    return { ...group, top, titleY: group.titleY - scroll, rows: rows.map((row) => moved(row, -scroll)) };
  }
  const free = pinned < rows.length ? rows[pinned].stripY : group.top + height;
  const head = free - group.top; // the title and the pinned rows
  // the last row pushes them out
  const last = pinned < rows.length ? group.top + height - rows[rows.length - 1].stripY : 0;
  const titleY = Math.max(top, Math.min(ceiling, top + height - head - last));
  const others = rows
    .slice(pinned)
    .map((row) => moved(row, -scroll))
    .filter((row, at, all) => row.stripY >= titleY + head - 0.5 || at === all.length - 1);
  return {
    ...group,
    top,
    titleY,
    rows: [...rows.slice(0, pinned).map((row) => moved(row, titleY - group.top)), ...others],
  };
}

/** The last row that begins at y or above it; the first where none does. */
function rowAt(rows: Row[], y: number) {
  let lo = 0;
  let hi = rows.length;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (rows[mid].stripY <= y) lo = mid;
    else hi = mid;
  }
  return rows[lo];
}

/** The row under a point; its strip, the lanes under it and the gap below belong to it. */
export function hit(
  layout: Layout,
  x: number,
  y: number,
): { group: string; rank: number; inPlot: boolean; part: Part } | null {
  const group = layout.groups.find((g) => y >= g.titleY && y < g.top + g.height);
  if (!group || group.rows.length === 0 || y < group.rows[0].stripY) return null;
  const row = rowAt(group.rows, y);
  const inPlot = x >= layout.plotLeft && x < layout.plotLeft + layout.plotWidth;
  return { group: group.id, rank: row.rank, inPlot, part: partAt(row, y) };
}

/** The row nearest to a height, wherever that is; null without rows. */
export function nearestRow({ groups }: Layout, y: number): { lane: string; rank: number } | null {
  let best = null;
  let least = Infinity;
  for (const { id, rows } of groups) {
    if (!rows.length) continue;
    const row = rowAt(rows, y);
    const away = Math.max(row.stripY - y, y - (row.commY + row.commH), 0);
    if (away < least) {
      least = away;
      best = { lane: id, rank: row.rank };
    }
  }
  return best;
}

function partAt(row: Row, y: number): Part {
  if (y < row.y) return "strip";
  if (row.commH > 0 && y >= row.commY) return "comm";
  return row.copyH > 0 && y >= row.copyY ? "copies" : "ops";
}

/** First flat index of the rank whose end is after t. */
export function firstEndingAfter({ offsets }: { offsets: Int32Array }, times: Times, rank: number, t: number) {
  let lo = offsets[rank];
  let hi = offsets[rank + 1];
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (times.end[mid] > t) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/**
 * The op that runs on a rank at time t, or -1; the copy, where the rows are those of copies. An op holds its start and
 * not its end.
 */
export function opAt(rows: { offsets: Int32Array }, times: Times, rank: number, t: number) {
  const i = firstEndingAfter(rows, times, rank, t);
  return i < rows.offsets[rank + 1] && times.start[i] <= t ? i : -1;
}

/** Flat indices [lo, hi) of a rank's ops, or copies, that show in [t0, t1). */
export function opsInWindow(
  rows: { offsets: Int32Array },
  times: Times,
  rank: number,
  t0: number,
  t1: number,
): [number, number] {
  const lo = firstEndingAfter(rows, times, rank, t0);
  let a = lo;
  let b = rows.offsets[rank + 1];
  while (a < b) {
    const mid = (a + b) >>> 1;
    if (times.start[mid] >= t1) b = mid;
    else a = mid + 1;
  }
  return [lo, a];
}
