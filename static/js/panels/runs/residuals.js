// The ops of a run that end farthest from the plan, and those whose own duration deviates most, where the lateness
// comes from. A click goes to the op.
import { h } from "../../ui/dom.js";
import { t } from "../../core/i18n/language.js";
import { opText, rankOf } from "../../core/schedule/ops.js";
import { largest, lost, residual } from "../../core/measured/residuals.js";
import { formatNumber } from "../../core/i18n/numbers.js";
import { plannedTimes } from "../../data/matched_plan.js";

/** @import {Lane} from "../../data/lanes.js" */
/** @import {Times} from "../../core/schedule/types.js" */
/**
 * @typedef {{i: number, op: string, rank: number, by: number, ms: number}} Item by: in the plan's unit, positive is
 *   late
 */
/** @typedef {{far: Item[], lost: Item[]}} Residuals */

const MOST = 4; // of each list
const TOO_MANY = 200_000; // ops; more would keep the page waiting

/** @type {WeakMap<Times, {plan: Times, found: Residuals}>} by the times of the run */
const cache = new WeakMap();

/** @param {Lane} lane that is whole @param {Lane[]} lanes @returns {Residuals} */
export function residualsOf(lane, lanes) {
  const plan = plannedTimes(lane, lanes);
  const before = cache.get(lane.times);
  if (before?.plan === plan) return before.found;
  const { schedule, times, costs } = lane;
  const items = (/** @type {(i: number) => number} */ of) =>
    largest(schedule.count, of, MOST).map(({ i, by }) => ({
      i,
      op: opText(schedule, i),
      rank: rankOf(schedule, i),
      by,
      ms: by * (lane.noted?.unit ?? 0),
    }));
  const found = {
    far: items((i) => residual(times, plan, i)),
    lost: schedule.count > TOO_MANY ? [] : items((i) => lost(schedule, times, plan, costs, i)),
  };
  cache.set(times, { plan, found });
  return found;
}

/** @param {Residuals} residuals @param {(i: number) => void} pick */
export function residualLists({ far, lost: own }, pick) {
  return h(
    "div",
    { class: "row residuals" },
    list(t("Largest deviation of the end from the plan"), far, pick),
    list(t("Largest deviation in op duration"), own, pick),
  );
}

/** @param {string} title @param {Item[]} items @param {(i: number) => void} pick */
function list(title, items, pick) {
  if (!items.length) return null;
  const rows = items.map(({ i, op, rank, by, ms }) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "link", "data-op": op, onclick: () => pick(i) },
        t("{op} on rank {rank}", { op, rank }),
      ),
      h("b", { text: signed(by) }),
      h("small", { text: milliseconds(ms) }),
    ),
  );
  return h("section", {}, h("h3", { text: title }), h("ol", {}, ...rows));
}

/** @param {number} x rounded to three digits */
const signed = (x) => `${x < 0 ? "−" : "+"}${formatNumber(Number(Math.abs(x).toPrecision(3)))}`;

/** @param {number} x */
const milliseconds = (x) => `${signed(x)} ms`;
