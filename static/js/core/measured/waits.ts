// The causes of idle time between two ops of a measured run, from the times that the runner recorded.

import { sources } from "../schedule/dependencies.ts";
import { lateStart } from "./late_starts.ts";
import { t } from "../i18n/language.ts";
import { formatNumber } from "../i18n/numbers.ts";
import type { Schedule, Times } from "../schedule/types.ts";

/** By flat op index, in the plan's unit: when what the op needs was there, and how long it waited for messages. */
export type Noted = {
  ready: Float64Array;
  wait: Float64Array;
  moved?: Float64Array; // bytes of each copy, from 0
  unit: number; // ms of one
  paced: boolean; // a message counts as there a hop after it was due at its sender, however soon or late it came
};
type Spent = {
  input: number; // an op whose result it needs had not ended
  message: number; // it had, and its message was not due yet
  copy: number; // the activation was not back
  late: number; // paced, the op could have started and did not
  own: number; // free, the rank itself
};

/** How the time before an op was spent. i: the op that ends the stretch; from: when it begins. */
export function spentBefore(schedule: Schedule, times: Times, noted: Noted, i: number, from: number): Spent {
  const { ready, wait, paced } = noted;
  const gap = Math.max(0, times.start[i] - from);
  const waited = Math.min(gap, wait[i]);
  const made = Math.max(...sources(schedule, i).map((link) => times.end[link.i]));
  const split = (time: number) => {
    const input = Math.max(0, Math.min(time, made - from));
    return { input, message: time - input };
  };
  if (!paced) {
    const copy = schedule.copies ? Math.max(0, Math.min(gap, ready[i] - from) - waited) : 0;
    return { ...split(waited), copy, late: 0, own: gap - waited - copy };
  }
  const late = Math.min(gap, lateStart(times, noted, i));
  const copy = schedule.copies ? Math.max(0, gap - late - waited) : 0;
  return { ...split(gap - late - copy), copy, late, own: 0 };
}

/** The same in words, the largest part first; "" where there is one part only, or none. */
export function spentText(spent: Spent, { unit }: Noted) {
  const names = {
    input: t("predecessors"),
    message: t("messages"),
    copy: t("copies"),
    late: t("late start"),
    own: t("the rank itself"),
  };
  const whole = spent.input + spent.message + spent.copy + spent.late + spent.own;
  const parts = Object.entries(names)
    .map(([key, name]) => ({ name, time: spent[key as keyof Spent] }))
    .filter(({ time }) => time / whole >= 0.005)
    .sort((a, b) => b.time - a.time);
  if (!parts.length) return "";
  const list = parts.map(({ name, time }) => `${name} ${short(time * unit)} ms`).join(t(", "));
  return t("Measured: {list}.", { list });
}

/** x: rounded to three digits. */
const short = (x: number) => formatNumber(Number(x.toPrecision(3)));
