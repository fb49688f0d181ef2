// The ops of a run that end farthest from the plan, and those whose own duration deviates most, where the lateness
// comes from. A click goes to the op.
import { h } from "../../ui/dom.ts";
import { t } from "../../core/i18n/language.ts";
import { opText, rankOf } from "../../core/schedule/ops.ts";
import { largest, lost, residual } from "../../core/measured/residuals.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { plannedTimes } from "../../data/matched_plan.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Times } from "../../core/schedule/types.ts";

type Item = {
  i: number;
  op: string;
  rank: number;
  by: number; // in the plan's unit, positive is late
  ms: number;
};
export type Residuals = { far: Item[]; lost: Item[] };

const MOST = 4; // of each list
const TOO_MANY = 200_000; // ops; more would keep the page waiting

/** By the times of the run. */
const cache = new WeakMap<Times, { plan: Times; found: Residuals }>();

/** lane: that is whole. */
export function residualsOf(lane: Lane, lanes: Lane[]): Residuals {
  const plan = plannedTimes(lane, lanes);
  const before = cache.get(lane.times);
  if (before?.plan === plan) return before.found;
  const { schedule, times, costs } = lane;
  const items = (of: (i: number) => number) =>
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

export function residualLists({ far, lost: own }: Residuals, pick: (i: number) => void) {
  return h(
    "div.row.residuals",
    list(t("Largest deviation of the end from the plan"), far, pick),
    list(t("Largest deviation in op duration"), own, pick),
  );
}

function list(title: string, items: Item[], pick: (i: number) => void) {
  if (!items.length) return null;
  const rows = items.map(({ i, op, rank, by, ms }) =>
    h(
      "li",
      h("button.link", { "data-op": op, onclick: () => pick(i) }, t("{op} on rank {rank}", { op, rank })),
      h("b", { text: signed(by) }),
      h("small", { text: milliseconds(ms) }),
    ),
  );
  return h("section", h("h3", { text: title }), h("ol", ...rows));
}

/** x: rounded to three digits. */
const signed = (x: number) => `${x < 0 ? "−" : "+"}${formatNumber(Number(Math.abs(x).toPrecision(3)))}`;

const milliseconds = (x: number) => `${signed(x)} ms`;
