// The causes of idle time between two ops of a measured run, from the times that the runner recorded.

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
 *   activation was not back; late: paced, the message counted as there and was not, or the rank still slept; own: the
 *   rank itself
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
export function spentBefore(schedule, times, { ready, wait, paced }, i, from) {
  const gap = Math.max(0, times.start[i] - from);
  const pending = Math.min(gap, Math.max(0, ready[i] - from));
  const waited = Math.min(gap, wait[i]);
  const message = paced ? Math.min(pending, waited) : waited;
  const copy = schedule.copies ? Math.max(0, pending - waited) : 0;
  return { message, copy, late: waited - message, own: gap - waited - copy };
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
    late: t("messages and wake-ups that came late"),
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
