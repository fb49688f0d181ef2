// Where rows stand on the screen, and which op is where in time. Knows pixels and times; draws nothing.

/** @import {Schedule, Times} from "./types.js" */
/** @typedef {{rank: number, y: number, h: number, stripY: number, stripH: number}} Row
 *   y, h: the lane of ops; stripY, stripH: the memory strip above it (height 0 when off) */
/** @typedef {{id: string, p: number, title: string, pinned?: number[]}} GroupSpec  pinned ranks come first */
/** @typedef {{id: string, title: string, top: number, height: number, titleY: number, rows: Row[]}} Group */
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
  maxLane: 34,
};

/**
 * The rows of one schedule.
 * @param {{p: number, top: number, laneHeight: number, gap: number, pinned?: number[], strip?: number}} options
 * @returns {Row[]}
 */
export function lanes({ p, top, laneHeight, gap, pinned = [], strip = 0 }) {
  const front = pinned.filter((r, at) => r >= 0 && r < p && pinned.indexOf(r) === at);
  const rest = Array.from({ length: p }, (_, r) => r).filter((r) => !front.includes(r));
  return [...front, ...rest].map((rank, at) => {
    const stripY = top + at * (strip + laneHeight + gap);
    return { rank, y: stripY + strip, h: laneHeight, stripY, stripH: strip };
  });
}

/**
 * Stacks groups under one axis with one lane height for all, so that equal times and equal ranks line up. When lanes
 * would get thinner than minLane the content grows beyond height (the caller scrolls).
 * @param {GroupSpec[]} groups @param {number} width @param {number} height @param {Partial<typeof DEFAULTS>} [opts]
 * @returns {Layout}
 */
export function layoutGroups(groups, width, height, opts = {}) {
  const o = { ...DEFAULTS, ...opts };
  const rows = groups.reduce((sum, g) => sum + g.p, 0);
  const fixed = o.axisHeight + groups.length * o.titleHeight + Math.max(0, groups.length - 1) * o.groupGap;
  const each = rows > 0 ? Math.floor((height - fixed) / rows) - o.gap - o.strip : o.maxLane;
  const laneHeight = Math.min(o.maxLane, Math.max(o.minLane, each));
  let top = o.axisHeight;
  const placed = groups.map((g) => {
    const at = top;
    const inner = g.p * (o.strip + laneHeight + o.gap);
    top += o.titleHeight + inner + o.groupGap;
    return { id: g.id, title: g.title, top: at, titleY: at, height: o.titleHeight + inner,
      rows: lanes({ p: g.p, top: at + o.titleHeight, laneHeight, gap: o.gap, pinned: g.pinned, strip: o.strip }) };
  });
  return { groups: placed, axisY: 0, axisHeight: o.axisHeight, plotLeft: o.gutter,
    plotWidth: Math.max(1, width - o.gutter - o.right), laneHeight, contentHeight: top - (groups.length ? o.groupGap : 0) };
}

/**
 * The row under a point; its strip and the gap below belong to it.
 * @param {Layout} layout @param {number} x @param {number} y
 * @returns {{group: string, rank: number, inPlot: boolean}|null}
 */
export function hit(layout, x, y) {
  const group = layout.groups.find((g) => y >= g.top && y < g.top + g.height);
  if (!group || group.rows.length === 0) return null;
  const step = group.rows.length > 1 ? group.rows[1].stripY - group.rows[0].stripY : Infinity;
  const at = Math.floor((y - group.rows[0].stripY) / step);
  if (at < 0 || at >= group.rows.length) return null;
  const inPlot = x >= layout.plotLeft && x < layout.plotLeft + layout.plotWidth;
  return { group: group.id, rank: group.rows[at].rank, inPlot };
}

/** First flat index of the rank whose end lies after t. @param {Schedule} schedule @param {Times} times
 * @param {number} rank @param {number} t */
export function firstEndingAfter(schedule, times, rank, t) {
  let lo = schedule.offsets[rank];
  let hi = schedule.offsets[rank + 1];
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (times.end[mid] > t) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

/**
 * The op that runs on a rank at time t, or -1. An op holds its start and not its end.
 * @param {Schedule} schedule @param {Times} times @param {number} rank @param {number} t
 */
export function opAt(schedule, times, rank, t) {
  const i = firstEndingAfter(schedule, times, rank, t);
  return i < schedule.offsets[rank + 1] && times.start[i] <= t ? i : -1;
}

/**
 * Flat indices [lo, hi) of a rank's ops that show in [t0, t1).
 * @param {Schedule} schedule @param {Times} times @param {number} rank @param {number} t0 @param {number} t1
 * @returns {[number, number]}
 */
export function opsInWindow(schedule, times, rank, t0, t1) {
  const lo = firstEndingAfter(schedule, times, rank, t0);
  let a = lo;
  let b = schedule.offsets[rank + 1];
  while (a < b) {
    const mid = (a + b) >>> 1;
    if (times.start[mid] >= t1) b = mid;
    else a = mid + 1;
  }
  return [lo, a];
}
