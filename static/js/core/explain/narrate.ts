// What happens at a moment, in a sentence, and what each rank does then and why. Exact for any order: it reads the
// order and its times, never the family's name.
//
// A moment counts as the first one of what starts then: at 10 an op that runs from 10 is running, one that ends at 10
// is not.

import { whyIdle, type Idle } from "./why_idle.ts";
import { t } from "../i18n/language.ts";
import { sameMoment, since } from "../timeline/edges.ts";
import { firstEndingAfter } from "../timeline/layout.ts";
import { opText } from "../schedule/ops.ts";
import { phaseOf, phaseOfAll, phases, type Phase } from "./phases.ts";
import { formatNumber as num } from "../i18n/numbers.ts";
import type { Costs, Schedule, Spec, Times } from "../schedule/types.ts";

/** A plan or a run with its times. */
type Planned = {
  schedule: Schedule;
  times: Times;
  costs: Costs;
  spec: Spec;
  family?: string; // the title of its family
};
type Glance = {
  rank: number;
  i: number; // the op that runs, or -1
  from: number;
  to: number;
  left: boolean; // whether the rank has work left
};
type Doing = Glance & { phase: Phase; idle: Idle | null };

const NAMED = 2; // ops, or ranks, that a sentence names before it counts the rest

export function doing(plan: Planned, rank: number, at: number): Doing {
  const { schedule, times, costs, spec, family } = plan;
  const phase = phaseOf(phases(schedule, times), rank, at);
  return { ...glance(schedule, times, rank, at), phase, idle: whyIdle(schedule, times, costs, rank, at, spec, family) };
}

/** The op (or the copy) that runs on a rank, or since when none does. */
function glance(rows: { offsets: Int32Array }, times: Times, rank: number, at: number): Glance {
  const next = firstEndingAfter(rows, times, rank, at);
  const left = next < rows.offsets[rank + 1];
  const before = next > rows.offsets[rank] ? times.end[next - 1] : 0;
  const runs = left && times.start[next] <= at;
  return {
    rank,
    i: runs ? next : -1,
    from: runs ? times.start[next] : before,
    to: runs ? times.end[next] : left ? times.start[next] : Infinity,
    left,
  };
}

export function phaseText(phase: Phase | "turn") {
  if (phase === "warm-up") return t("warm-up");
  if (phase === "steady") return t("steady");
  return phase === "cool-down" ? t("cool-down") : t("from warm-up to cool-down");
}

/** The text of an op, of a pair without its suffix. */
export const withoutSuffix = (text: string) => text.replace(/^\((.*);(.*)\)OVERLAP_F_B$/, "$1 & $2");

export const shortText = (schedule: Schedule, i: number) => withoutSuffix(opText(schedule, i));

/** What a rank does, in a few words. */
export function doingText({ schedule }: Planned, { i, from, to, idle }: Doing) {
  if (i >= 0) return t("{op}, from {from} to {to}", { op: shortText(schedule, i), from: num(from), to: num(to) });
  if (!idle || idle.kind === "drain") return t("is done");
  if (idle.kind === "pending") return t("has not reported its next op yet");
  if (!idle.awaits) return t("overhead before {op} until {to}", { op: shortText(schedule, idle.next), to: num(to) });
  const giver = shortText(schedule, idle.awaits.i);
  if (idle.kind === "cap") return t("memory cap, waits for {giver} until {to}", { giver, to: num(to) });
  if (idle.kind === "limit") return t("in-flight limit, waits for {giver} until {to}", { giver, to: num(to) });
  return t("waits for {giver} until {to}", { giver, to: num(to) });
}

/** What a rank's copy lane does, in a few words; "" for nothing. */
export function copyingText({ schedule, times }: Planned, rank: number, at: number) {
  const now = schedule.copies ? glance(schedule.copies, times, rank, at) : null;
  return now && now.i >= 0
    ? t("copies {op}, from {from} to {to}", { op: opText(schedule, now.i), from: num(now.from), to: num(now.to) })
    : "";
}

/**
 * The last moment, up to a time, at which an op or a copy of any rank starts or ends: until the next one a sentence
 * holds. Of starts and ends that only rounding sets apart it is the last, so that all of them have come.
 */
export function momentOf({ schedule, times }: Planned, time: number) {
  const at = time + sameMoment(time);
  let moment = 0;
  for (const rows of schedule.copies ? [schedule, schedule.copies] : [schedule]) {
    for (let r = 0; r < schedule.p; r++) {
      const i = firstEndingAfter(rows, times, r, at);
      if (i > rows.offsets[r]) moment = Math.max(moment, times.end[i - 1]);
      if (i < rows.offsets[r + 1] && times.start[i] <= at) moment = Math.max(moment, times.start[i]);
    }
  }
  return moment;
}

function startsText(list: Glance[], moment: number, { schedule, times }: Planned) {
  const waited = ({ i, rank, from }: Glance) => from - (i > schedule.offsets[rank] ? times.end[i - 1] : 0);
  const starting = list
    .filter(({ i, from }) => i >= 0 && since(from, moment) === 0)
    .sort((a, b) => waited(b) - waited(a));
  const dust = 1e-9 * Math.max(1, times.makespan);
  const parts = starting.slice(0, NAMED).map((now) => {
    const [op, rank, wait] = [shortText(schedule, now.i), now.rank, waited(now)];
    return wait > dust
      ? t("{op} starts on rank {rank} after a wait of {wait}", { op, rank, wait: num(wait) })
      : t("{op} starts on rank {rank}", { op, rank });
  });
  for (const { i, rank } of copiesStarting(schedule, times, moment).slice(0, Math.max(0, NAMED - parts.length))) {
    parts.push(t("{op} starts on the copy lane of rank {rank}", { op: opText(schedule, i), rank }));
  }
  const more = starting.length - NAMED;
  if (more > 0) parts.push(more === 1 ? t("1 more op starts") : t("{n} more ops start", { n: more }));
  return parts;
}

function copiesStarting({ copies, p }: Schedule, times: Times, moment: number) {
  if (!copies) return [];
  return Array.from({ length: p }, (_, rank) => glance(copies, times, rank, moment)).filter(
    ({ i, from }) => i >= 0 && since(from, moment) === 0,
  );
}

/** The rank whose idle time began last, and why. */
function idleText(list: Glance[], moment: number, plan: Planned) {
  const waiting = list.filter(({ i, left }) => i < 0 && left).sort((a, b) => b.from - a.from || a.rank - b.rank);
  if (!waiting.length) return [];
  const now = doing(plan, waiting[0].rank, moment);
  return [t("rank {rank}: {does}", { rank: now.rank, does: doingText(plan, now) })];
}

/** One sentence for a moment. */
export function narrate(plan: Planned, at: number) {
  const { schedule, times } = plan;
  const moment = momentOf(plan, at);
  if (moment >= times.makespan) return t("At {at} the step is over.", { at: num(times.makespan) });
  const list = Array.from({ length: schedule.p }, (_, rank) => glance(schedule, times, rank, moment));
  const busy = list.filter(({ i }) => i >= 0).length;
  const what = [
    ...startsText(list, moment, plan),
    t("{busy} of {p} ranks work", { busy, p: schedule.p }),
    ...idleText(list, moment, plan),
  ].join(t("; "));
  return t("At {at}, {phase}: {what}.", {
    at: num(moment),
    phase: phaseText(phaseOfAll(phases(schedule, times), moment)),
    what,
  });
}
