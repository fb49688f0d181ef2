// What a rank of a measured run spent its time on between two ops: the runner's own notes, in numbers. Knows times.

import { t } from "./lang.js";
import { formatNumber } from "./scale.js";

/** @import {Schedule, Times} from "./types.js" */
/** @typedef {{ready: Float64Array, wait: Float64Array, moved?: Float64Array, unit: number, paced: boolean}} Noted
 *   by flat op index, in the plan's unit: when what the op needs was there, and how long it waited for messages; unit: ms
 *   of one; moved: bytes of each copy, from 0; paced: a message counts as there after its hop, however soon it came */
/** @typedef {{message: number, copy: number, late: number, own: number}} Spent  message: nothing had come yet; copy: the
 *   activation was not back; late: paced, the message counted as there and the op had not begun; own: the rank itself */

/**
 * How the time before an op was spent, as runner/idle.py splits it. @param {Schedule} schedule @param {Times} times
 * @param {Noted} noted @param {number} i the op that ends the stretch @param {number} from when it begins @returns {Spent}
 */
export function spentBefore(schedule, times, { ready, wait, paced }, i, from) {
  const gap = Math.max(0, times.start[i] - from);
  const pending = Math.min(gap, Math.max(0, ready[i] - from));
  const message = Math.min(pending, wait[i]);
  const copy = schedule.copies ? pending - message : 0;
  const after = gap - message - copy;
  const late = paced && message > 0 ? after : 0;
  return { message, copy, late, own: after - late };
}

/** The same in words, the largest part first; "" where there is one part only, or none. @param {Spent} spent @param {Noted} noted */
export function spentText(spent, { unit }) {
  const names = { message: t("messages"), copy: t("copies"), late: t("a late start"), own: t("the rank itself") };
  const whole = spent.message + spent.copy + spent.late + spent.own;
  const parts = Object.entries(names).map(([key, name]) => ({ name, time: spent[/** @type {keyof Spent} */ (key)] }))
    .filter(({ time }) => time / whole >= 0.005).sort((a, b) => b.time - a.time);
  if (!parts.length) return "";
  const list = parts.map(({ name, time }) => `${name} ${short(time * unit)} ms`).join(t(", "));
  return t("Measured: {list}.", { list });
}

/** @param {number} x three digits say enough */
const short = (x) => formatNumber(Number(x.toPrecision(3)));
