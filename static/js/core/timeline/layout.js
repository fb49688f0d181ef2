// The rows' positions on the screen, and the ops at a time or in a window.

/** @import {Schedule, Times} from "../schedule/types.js" */
/**
 * @typedef {{rank: number, y: number, h: number, stripY: number, stripH: number, copyY: number, copyH: number, commY:
 *   number, commH: number, footH?: number}} Row y, h: the lane of ops; stripY, stripH: the memory strip above it
 *   (height 0 when off); copyY, copyH: the copy lane under it (height 0 where there is none, or no room); commY, commH:
 *   the lane of messages under that, in the same way; footH: a thin row right under the ops, which is a part of their
 *   lane
 */
/** @typedef {{id: string, p: number, title: string, pinned?: number[], copies?: boolean, comm?: boolean}} GroupSpec
 *   pinned ranks come first; copies: its ranks have copy lanes; comm: their messages are shown */
/** @typedef {"ops" | "copies" | "comm" | "strip"} Part  of a row */
/** @typedef {Pick<Schedule, "codes" | "offsets" | "chunks">} Rows  what places ops in time, of compute or of copies */
/**
 * @typedef {{id: string, title: string, top: number, height: number, titleY: number, rows: Row[], pinned: number}}
 *   Group pinned: how many of its rows, the first, are pinned ranks
 */
/** @typedef {{groups: Group[], axisY: number, axisHeight: number, plotLeft: number, plotWidth: number,
 *   laneHeight: number, contentHeight: number}} Layout */

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

/** How tall the copy lane under a row of ops is: a third of it. @param {number} lane */
function copyHeight(lane) {
  if (lane < ROOM_FOR_LINE) return 0;
  return lane < ROOM_FOR_BLOCKS ? LINE : Math.max(LEAST_COPIES, Math.round(lane / 3));
}

/**
 * How tall the lane of messages under a row is: one half for those sent, one for those received.
 * @param {number} lane
 */
function commHeight(lane) {
  if (lane < ROOM_FOR_LINE) return 0;
  return lane < ROOM_FOR_BLOCKS ? 2 * LINE : Math.max(8, Math.min(16, 2 * Math.round(lane / 6)));
}

/** The pinned ranks that there are, each once. @param {number} p @param {number[]} [pinned] */
const pinnedOf = (p, pinned = []) => pinned.filter((r, at) => r >= 0 && r < p && pinned.indexOf(r) === at);

/** Ranks from top to bottom: the pinned ones, then the others. @param {number} p @param {number[]} [pinned] */
export function rankOrder(p, pinned) {
  const front = pinnedOf(p, pinned);
  const isFront = new Set(front);
  return [...front, ...Array.from({ length: p }, (_, r) => r).filter((r) => !isFront.has(r))];
}

/** @typedef {{laneHeight: number, copy?: number, comm?: number}} Heights  of a row's parts */

/**
 * The rows of one schedule.
 * @param {Heights & {p: number, top: number, gap: number, pinned?: number[], strip?: number, front?: Heights}} options
 *   front: the heights of pinned rows, where they differ
 * @returns {Row[]}
 */
export function lanes({ p, top, gap, pinned, strip = 0, front, ...plain }) {
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
 * @param {GroupSpec[]} groups
 * @param {number} width
 * @param {number} height
 * @param {Partial<typeof DEFAULTS>} [opts]
 * @returns {Layout}
 */
export function layoutGroups(groups, width, height, opts = {}) {
  const o = { ...DEFAULTS, ...opts };
  const rows = groups.reduce((sum, g) => sum + g.p, 0);
  const fixed =
    o.axisHeight +
    groups.length * o.titleHeight +
    Math.max(0, groups.length - 1) * o.groupGap +
    rows * (o.gap + o.strip);
  const front = groups.reduce((sum, g) => sum + pinnedOf(g.p, g.pinned).length, 0);
  const tallest = Math.min(READABLE, Math.floor((height - fixed) / 2 / Math.max(1, front)));
  const tall = (/** @type {number} */ lane) => Math.max(lane, tallest);
  const content = (/** @type {number} */ lane) =>
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

/** What a row of a group consists of. @param {GroupSpec} group @param {number} lane @returns {Heights} */
const heights = ({ copies, comm }, lane) => ({
  laneHeight: lane,
  copy: copies ? copyHeight(lane) : 0,
  comm: comm ? commHeight(lane) : 0,
});

/** The height under a row: its copies, its messages. @param {GroupSpec} group @param {number} lane */
const underneath = ({ copies, comm }, lane) => (copies ? copyHeight(lane) : 0) + (comm ? commHeight(lane) : 0);

/**
 * The tallest lane with which all rows, and the lanes under them, fit.
 * @param {number} room
 * @param {number} rows
 * @param {(lane: number) => number} content the height of all rows
 * @param {number} least
 * @param {typeof DEFAULTS} o
 */
function fitLane(room, rows, content, least, o) {
  if (rows === 0) return o.maxLane;
  let lane = Math.min(o.maxLane, Math.max(least, Math.floor(room / rows)));
  while (lane > least && content(lane) > room) lane--;
  return lane < o.minLane && content(lane) > room ? o.minLane : lane;
}

/** A row moved down. @param {Row} row @param {number} dy @returns {Row} */
const moved = (row, dy) => ({
  ...row,
  y: row.y + dy,
  stripY: row.stripY + dy,
  copyY: row.copyY + dy,
  commY: row.commY + dy,
});

/**
 * A layout that is scrolled. While a group is in sight its title and its pinned ranks stay on top, under the axis, and
 * the other ranks pass under them: those that are covered are left out, so that nothing is drawn twice in one place.
 * @param {Layout} layout @param {number} scroll @returns {Layout}
 */
export function scrolled(layout, scroll) {
  if (!(scroll > 0)) return layout;
  return { ...layout, groups: layout.groups.map((group) => stuck(group, scroll, layout.axisHeight)) };
}

/** @param {Group} group @param {number} scroll @param {number} ceiling @returns {Group} */
function stuck(group, scroll, ceiling) {
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

/** The last row that begins at y or above it; the first where none does. @param {Row[]} rows @param {number} y */
function rowAt(rows, y) {
  let lo = 0;
  let hi = rows.length;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (rows[mid].stripY <= y) lo = mid;
    else hi = mid;
  }
  return rows[lo];
}

/**
 * The row under a point; its strip, the lanes under it and the gap below belong to it.
 * @param {Layout} layout @param {number} x @param {number} y
 * @returns {{group: string, rank: number, inPlot: boolean, part: Part}|null}
 */
export function hit(layout, x, y) {
  const group = layout.groups.find((g) => y >= g.titleY && y < g.top + g.height);
  if (!group || group.rows.length === 0 || y < group.rows[0].stripY) return null;
  const row = rowAt(group.rows, y);
  const inPlot = x >= layout.plotLeft && x < layout.plotLeft + layout.plotWidth;
  return { group: group.id, rank: row.rank, inPlot, part: partAt(row, y) };
}

/** The row nearest to a height, wherever that is; null without rows. @param {Layout} layout @param {number} y
 * @returns {{lane: string, rank: number} | null} */
export function nearestRow({ groups }, y) {
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

/** @param {Row} row @param {number} y @returns {Part} */
function partAt(row, y) {
  if (y < row.y) return "strip";
  if (row.commH > 0 && y >= row.commY) return "comm";
  return row.copyH > 0 && y >= row.copyY ? "copies" : "ops";
}

/** First flat index of the rank whose end is after t. @param {{offsets: Int32Array}} rows @param {Times} times
 * @param {number} rank @param {number} t */
export function firstEndingAfter({ offsets }, times, rank, t) {
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
 * @param {{offsets: Int32Array}} rows @param {Times} times @param {number} rank @param {number} t
 */
export function opAt(rows, times, rank, t) {
  const i = firstEndingAfter(rows, times, rank, t);
  return i < rows.offsets[rank + 1] && times.start[i] <= t ? i : -1;
}

/**
 * Flat indices [lo, hi) of a rank's ops, or copies, that show in [t0, t1).
 * @param {{offsets: Int32Array}} rows @param {Times} times @param {number} rank @param {number} t0 @param {number} t1
 * @returns {[number, number]}
 */
export function opsInWindow(rows, times, rank, t0, t1) {
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
