// The causes of idle time between two ops of a measured run, from the times that the runner recorded.

import { lateStart } from "./late_starts.js";
import { t } from "../i18n/language.js";
import { formatNumber } from "../i18n/numbers.js";

/** @import {Schedule, Times} from "../schedule/types.js" */
/**
 * @typedef {{ready: Float64Array, wait: Float64Array, moved?: Float64Array, unit: number, paced: boolean}} Noted by
 *   flat op index, in the plan's unit: when what the op needs was there, and how long it waited for messages; unit: ms
 *   of one; moved: bytes of each copy, from 0; paced: a message counts as there a hop after it was due at its sender,
 *   however soon or late it came
 */
/**
 * @typedef {{message: number, copy: number, late: number, own: number}} Spent message: it was not due yet; copy: the
 *   activation was not back; late: paced, the op could have started and did not; own: free, the rank itself
 */

/**
 * How the time before an op was spent.
 * @param {Schedule} schedule
 * @param {Times} times
 * @param {Noted} noted
 * @param {number} i the op that ends the stretch
 * @param {number} from when it begins
 * @returns {Spent}
 */
export function spentBefore(schedule, times, noted, i, from) {
  const { ready, wait, paced } = noted;
  const gap = Math.max(0, times.start[i] - from);
  const waited = Math.min(gap, wait[i]);
  if (!paced) {
    const copy = schedule.copies ? Math.max(0, Math.min(gap, ready[i] - from) - waited) : 0;
    return { message: waited, copy, late: 0, own: gap - waited - copy };
  }
  const late = Math.min(gap, lateStart(times, noted, i));
  const copy = schedule.copies ? Math.max(0, gap - late - waited) : 0;
  return { message: gap - late - copy, copy, late, own: 0 };
}

/**
 * The same in words, the largest part first; "" where there is one part only, or none.
 * @param {Spent} spent
 * @param {Noted} noted
 */
export function spentText(spent, { unit }) {
  const names = {
    message: t("messages"),
    copy: t("copies"),
    late: t("late start"),
    own: t("the rank itself"),
  };
  const whole = spent.message + spent.copy + spent.late + spent.own;
  const parts = Object.entries(names)
    .map(([key, name]) => ({ name, time: spent[/** @type {keyof Spent} */ (key)] }))
    .filter(({ time }) => time / whole >= 0.005)
    .sort((a, b) => b.time - a.time);
  if (!parts.length) return "";
  const list = parts.map(({ name, time }) => `${name} ${short(time * unit)} ms`).join(t(", "));
  return t("Measured: {list}.", { list });
}

/** @param {number} x rounded to three digits */
const short = (x) => formatNumber(Number(x.toPrecision(3)));
