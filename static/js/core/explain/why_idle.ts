// Why an op starts when it does and why a rank is idle, in plain words. Works for planned and for measured times.

import { heldBack, type HeldBack } from "./held_back.ts";
import { t } from "../i18n/language.ts";
import { firstEndingAfter } from "../timeline/layout.ts";
import { leadBefore, sources, targets, type Link } from "../schedule/dependencies.ts";
import { endText, firstEnd, streamOf } from "../schedule/lanes.ts";
import { opText, rankOf, refOf, rowsOf } from "../schedule/ops.ts";
import { formatNumber as num } from "../i18n/numbers.ts";
import type { Costs, OpRef, Schedule, Spec, Times } from "../schedule/types.ts";

type Relation = {
  ref: OpRef;
  text: string;
  arrives: number; // when the value (or the free rank) is there; kind "order" is the rank's own previous or next op
  reason: string;
  kind: "data" | "order";
};
/**
 * A message is made, but stands behind another one at the head of a stream (line). A forward could run, but as many
 * micro-batches are in flight as the order admits (limit), or as the memory limit allows (cap).
 */
type IdleKind = "fill" | "wait" | "line" | "limit" | "cap" | "overhead" | "drain" | "pending";
export type Idle = {
  from: number;
  to: number;
  sentence: string;
  awaits: OpRef | null;
  kind: IdleKind;
  arrives: number | null;
  next: number; // the op that ends it, -1 for none
  why: string; // the reason alone, a part of the sentence
};

/** What an op sends, as a part of a sentence. */
function cargoText(cargo: Link["cargo"]) {
  if (cargo === "activation") return t("output");
  if (cargo === "gradient") return t("gradient");
  if (cargo === "loss") return t("loss");
  if (cargo === "own") return t("input gradient");
  return cargo === "barrier" ? t("part in the barrier") : t("copy");
}

const arrival = ({ end }: Times, link: Link, costs: Costs) => end[link.by] + (link.hops ? costs.comm : 0);

/** From when on op i may begin: before the gradient arrives, where it recomputes first. */
const mayBegin = (schedule: Schedule, times: Times, link: Link, costs: Costs, i: number) =>
  arrival(times, link, costs) - leadBefore(schedule, costs, link, i);

/**
 * "ends at 6 and arrives at 7 after a hop of 1". by: when the value was there at the latest: a measured hop can be
 * shorter than the planned one.
 */
function travel(schedule: Schedule, times: Times, link: Link, costs: Costs, by: number = Infinity) {
  const end = times.end[link.i];
  if (end === Infinity) return t("has not ended yet");
  const [there, hop] = [arrival(times, link, costs), costs.comm];
  const values = { end: num(end), there: num(there), hop: num(hop) };
  if (link.by !== link.i) {
    const held = heldUp(schedule, times, link);
    if (held && there > times.start[link.by])
      return t("ends at {end}; its message {held} and arrives at {there}", { ...values, held });
    if (held) return t("ends at {end}; its message {held}", { ...values, held });
    return there > end ? t("ends at {end} and arrives at {there}", values) : t("ends at {end}", values);
  }
  if (!link.hops || hop === 0) return t("ends at {end}", values);
  if (there > by) return t("ends at {end} and arrives by {by}", { ...values, by: num(by) });
  return t("ends at {end} and arrives at {there} after a hop of {hop}", values);
}

/**
 * What a message that has been made waits for: the end before one of its own on a stream, or that its other end is
 * posted; "" where it passes at once, or is on no stream.
 */
function heldUp(schedule: Schedule, times: Times, link: Link) {
  const { messages, offsets } = schedule;
  if (!messages || link.by === link.i) return "";
  const [sent, opens] = [times.start[link.by], firstEnd(schedule)];
  if (sent <= times.end[link.i] + 1e-9 * Math.max(1, times.makespan)) return "";
  const receive = link.by - opens;
  const rank = messages.peer[messages.partner[receive]]; // that receives
  for (const [y, of] of [
    [receive, rank],
    [messages.partner[receive], messages.peer[receive]],
  ]) {
    let first = y - 1;
    while (first >= messages.offsets[of] && streamOf(messages, first) !== streamOf(messages, y)) first--;
    if (first >= messages.offsets[of] && times.end[opens + first] === sent)
      return t("waits until {sent} behind {first} on a stream of rank {rank}", {
        sent: num(sent),
        first: endText(schedule, first),
        rank: of,
      });
  }
  const issuer = opText(schedule, offsets[rank] + messages.issued[receive] - 1);
  return t("waits until {sent} for its receive, which rank {rank} posts after {issuer}", {
    sent: num(sent),
    rank,
    issuer,
  });
}

/** What an op needs before it can start: the values from other ops, and its rank's previous op. */
export function needs(schedule: Schedule, times: Times, costs: Costs, op: OpRef): Relation[] {
  const out: Relation[] = sources(schedule, op.i).map((link) => {
    const ref = refOf(schedule, link.i);
    const text = opText(schedule, link.i);
    const reason = t("needs the {cargo} of {giver} on rank {rank}, which {travel}", {
      cargo: cargoText(link.cargo),
      giver: link.giver,
      rank: ref.rank,
      travel: travel(schedule, times, link, costs),
    });
    return { ref, text, arrives: arrival(times, link, costs), reason, kind: "data" };
  });
  if (op.index > 0 && op.i < schedule.count) {
    const ref = { rank: op.rank, index: op.index - 1, i: op.i - 1 };
    const text = opText(schedule, ref.i);
    const end = times.end[ref.i];
    const until = end === Infinity ? t("has not ended yet") : t("ends at {end}", { end: num(end) });
    out.push({
      ref,
      text,
      arrives: end,
      reason: t("comes after {op} in its rank's order, which {travel}", { op: text, travel: until }),
      kind: "order",
    });
  }
  return out;
}

/** What an op lets start: the ops that need its values, and its rank's next op. */
export function unblocks(schedule: Schedule, times: Times, costs: Costs, op: OpRef): Relation[] {
  const end = times.end[op.i];
  const out: Relation[] = targets(schedule, op.i).map((link) => {
    const ref = refOf(schedule, link.i);
    const arrives = arrival(times, link, costs);
    const cargo = cargoText(link.cargo);
    const reason =
      end === Infinity
        ? t("uses its {cargo}", { cargo })
        : t("uses its {cargo}, which arrives at {there}", { cargo, there: num(arrives) });
    return { ref, text: opText(schedule, link.i), arrives, reason, kind: "data" };
  });
  if (op.i + 1 < schedule.offsets[op.rank + 1] && op.i < schedule.count) {
    const ref = { rank: op.rank, index: op.index + 1, i: op.i + 1 };
    out.push({
      ref,
      text: opText(schedule, ref.i),
      arrives: end,
      reason: t("is next in the rank's order"),
      kind: "order",
    });
  }
  return out;
}

/** The source that arrives last. */
function binding(schedule: Schedule, times: Times, costs: Costs, i: number): { link: Link; arrives: number } | null {
  let last = null;
  for (const link of sources(schedule, i)) {
    const arrives = mayBegin(schedule, times, link, costs, i);
    if (last === null || arrives > last.arrives) last = { link, arrives };
  }
  return last;
}

/** Why a rank is idle at a time; null when it is busy then, or when the time is outside the timeline. */
export function whyIdle(
  schedule: Schedule,
  times: Times,
  costs: Costs,
  rank: number,
  at: number,
  spec: Spec = schedule.spec, // the requested spec, if it has more than the order's own
  family: string = t("The order"), // its title
): Idle | null {
  if (at < 0 || at > times.makespan) return null;
  const i = firstEndingAfter(schedule, times, rank, at);
  const lo = schedule.offsets[rank];
  const hi = schedule.offsets[rank + 1];
  if (i < hi && times.start[i] <= at) return null;
  const from = i > lo ? times.end[i - 1] : 0;
  if (i === hi) return from < times.makespan ? drain(rank, from, times.makespan, hi > lo) : null;
  if (times.start[i] === Infinity) return pending(schedule, times, rank, i, from);
  return wait(schedule, times, costs, spec, family, i, from);
}

const idle = (rank: number, from: number, to: number, why: string) =>
  t("Rank {rank} is idle from {from} to {to}: {why}.", { rank, from: num(from), to: num(to), why });

function drain(rank: number, from: number, to: number, worked: boolean): Idle {
  const why = worked ? t("drain: no work is left for it in this step") : t("it has no work in this step");
  return { from, to, awaits: null, kind: "drain", arrives: null, next: -1, why, sentence: idle(rank, from, to, why) };
}

/** A gap before an op of a live run that has not been reported. */
function pending(schedule: Schedule, times: Times, rank: number, i: number, from: number): Idle {
  const open = sources(schedule, i).find((link) => times.end[link.i] === Infinity);
  const next = opText(schedule, i);
  const why = open
    ? t("its next op {next} waits for {giver} on rank {other}, which has not ended yet", {
        next,
        giver: open.giver,
        other: rankOf(schedule, open.i),
      })
    : t("its next op {next} has what it needs and has not been reported yet", { next });
  return {
    from,
    to: times.makespan,
    kind: "pending",
    arrives: null,
    next: i,
    why,
    awaits: open ? refOf(schedule, open.i) : null,
    sentence: t("Rank {rank} has been idle since {from}: {why}.", { rank, from: num(from), why }),
  };
}

function wait(
  schedule: Schedule,
  times: Times,
  costs: Costs,
  spec: Spec,
  family: string,
  i: number, // the op that ends the gap
  from: number,
): Idle {
  const rank = rankOf(schedule, i);
  const to = times.start[i];
  const last = binding(schedule, times, costs, i);
  const tolerance = 1e-9 * Math.max(1, times.makespan);
  if (last === null || last.arrives <= from + tolerance)
    return overhead(schedule, i, from, to, last ? last.arrives : null);
  const { link, arrives } = last;
  const filling = i === schedule.offsets[rank];
  const held = filling ? null : heldBack(schedule, times, costs, spec, i, from, to - tolerance);
  const capped = held !== null && held.by !== "order";
  const came = travel(schedule, times, link, costs, to);
  const inLine = !filling && !capped && heldUp(schedule, times, link) !== "";
  const lead = leadBefore(schedule, costs, link, i);
  const plain = awaited(schedule, link, filling, came);
  const needed =
    lead > 0 && link.cargo !== "barrier"
      ? t("{waits}; {taker} recomputes for {lead} before", { waits: plain, taker: link.taker, lead: num(lead) })
      : plain;
  const waits = inLine ? t("head of line: {waits}", { waits: needed }) : needed;
  const why = held && capped ? t("{cap}; {waits}", { cap: capText(held, family), waits }) : waits;
  const sentences = [idle(rank, from, to, why)];
  if (to - arrives > tolerance)
    sentences.push(
      t("The input arrived at {there}: overhead of {late}.", { there: num(arrives), late: num(to - arrives) }),
    );
  else sentences.push(deeper(schedule, times, costs, link.i, from, tolerance));
  if (held && !capped)
    sentences.push(
      t("{forward} could run already, but the order has {op} first.", {
        forward: held.forward,
        op: opText(schedule, i),
      }),
    );
  return {
    from,
    to,
    sentence: sentences.filter(Boolean).join(t(" ")),
    awaits: refOf(schedule, link.i),
    kind: filling ? "fill" : inLine ? "line" : !capped ? "wait" : held.by === "memory" ? "cap" : "limit",
    arrives: Math.min(arrives, to),
    next: i,
    why,
  };
}

function overhead(schedule: Schedule, i: number, from: number, to: number, there: number | null): Idle {
  const op = opText(schedule, i);
  const late = num(to - from);
  const why =
    there === null
      ? t("the input of {op} was available from the start: overhead of {late}", { op, late })
      : t("the input of {op} arrived at {there}: overhead of {late}", { op, there: num(there), late });
  return {
    from,
    to,
    sentence: idle(rankOf(schedule, i), from, to, why),
    awaits: null,
    kind: "overhead",
    arrives: there,
    next: i,
    why,
  };
}

/** Why the next forward may not begin although its input has arrived. */
function capText({ by, forward, holds, most, chunked }: HeldBack, family: string) {
  const values = { family, forward, n: num(holds), limit: num(most) };
  if (by === "memory")
    return t("memory cap: it holds {n}, and with {forward} it would be above its limit of {limit}", values);
  if (chunked)
    return t(
      "{family} admits at most {n} chunks in flight here, so {forward} may not start yet " +
        "(the order's rule, not the GPU's)",
      values,
    );
  return t(
    "{family} admits at most {n} in flight here, so {forward} may not start yet (the order's rule, not the GPU's)",
    values,
  );
}

/** What an idle rank waits for. came: when that ended and arrived. */
function awaited(schedule: Schedule, { giver, taker, cargo, i }: Link, filling: boolean, came: string) {
  const values = { giver, taker, other: rankOf(schedule, i), travel: came };
  if (cargo === "barrier")
    return t("{taker} waits for the barrier, to which {giver} on rank {other} comes last, which {travel}", values);
  if (cargo === "copy")
    return t("{taker} waits for its activation to come back: the copy lane does {giver}, which {travel}", values);
  if (filling)
    return t(
      "fill: it waits for the first micro-batch. {taker}'s input is the output of {giver} on rank {other}, which " +
        "{travel}",
      values,
    );
  if (cargo === "activation")
    return t("it waits for {taker}'s input, the output of {giver} on rank {other}, which {travel}", values);
  return t("it waits for {taker}'s gradient, the output of {giver} on rank {other}, which {travel}", values);
}

/** What held the awaited op back, when it started only after the gap began. */
function deeper(schedule: Schedule, times: Times, costs: Costs, i: number, from: number, tolerance: number) {
  const start = times.start[i];
  if (start <= from + tolerance) return "";
  const rank = rankOf(schedule, i);
  const last = binding(schedule, times, costs, i);
  const free = i > rowsOf(schedule, i)[rank] ? times.end[i - 1] : 0;
  const op = opText(schedule, i);
  if (last !== null && last.arrives > free + tolerance) {
    return t("{op} itself waits for {giver} on rank {other}, which {travel}.", {
      op,
      giver: last.link.giver,
      other: rankOf(schedule, last.link.i),
      travel: travel(schedule, times, last.link, costs),
    });
  }
  if (free <= from + tolerance) return "";
  const busy = opText(schedule, i - 1);
  if (i >= schedule.count)
    return t("The copy lane is busy with {busy} until {free} before that.", { busy, free: num(free) });
  return t("Rank {rank} is busy with {busy} until {free} before that.", { rank, busy, free: num(free) });
}
