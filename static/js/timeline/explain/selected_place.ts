// What is selected on the timeline as the answer to a question.
import { t } from "../../core/i18n/language.ts";
import { formatTime } from "../../core/i18n/numbers.ts";
import { opText } from "../../core/schedule/ops.ts";
import type { Trace } from "../trace.ts";

/** An op, or a moment of a wait as "2@7.5", and a sentence of it; null for neither. */
export function selectedPlace(trace: Trace | null) {
  const { op, idle, lane, rank = 0 } = trace ?? {};
  if (op && lane) {
    const answer = opText(lane.schedule, op.i);
    return { answer, text: t("Selected: {what}", { what: answer }) };
  }
  if (!idle) return null;
  const [from, to] = [idle.from, idle.to].map((time) => formatTime(time, 0.1));
  const text = t("Selected: rank {rank} waits from {from} to {to}", { rank, from, to });
  return { answer: `${rank}@${Number(((idle.from + idle.to) / 2).toFixed(6))}`, text };
}
