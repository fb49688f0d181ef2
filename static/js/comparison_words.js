// Two schedules on the screen, told apart in a sentence.
import { formatNumber, formatPercent } from "./pure/scale.js";

/** @import {Desk} from "./desk.js" */
/** @import {Plan} from "./plans.js" */

/** @param {Plan[]} plans @param {Desk} desk */
export function difference([a, b], desk) {
  if (!a.figures || !b.figures || !a.shown || !b.shown) return "";
  const names = [a.shown, b.shown].map((spec) => desk.family(spec.family)?.title ?? spec.family);
  const ratio = a.figures.makespan / b.figures.makespan;
  if (a.shown.m !== b.shown.m || a.shown.p !== b.shown.p) return "The two differ in devices or micro-batches, so their times are not of the same work.";
  const same = Math.abs(ratio - 1) < 1e-9;
  const faster = ratio > 1 ? names[1] : names[0];
  const lighter = a.memory < b.memory ? names[0] : names[1];
  const time = same ? `${names[0]} and ${names[1]} take the same time` :
    `${faster} takes ${formatPercent(1 - Math.min(ratio, 1 / ratio))} less time`;
  const memory = Math.abs(a.memory - b.memory) < 1e-9 ? "with the same peak memory" :
    `and ${!same && lighter === faster ? "" : `${lighter} `}holds ${formatNumber(Math.abs(a.memory - b.memory))} micro-batches' activations less at its peak`;
  return `${time}, ${memory}.`;
}
