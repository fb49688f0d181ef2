// Checks why-idle sentences, critical paths, phases, journeys, messages and narration against a schedule's times, for
// tests/schedule/simulation/test_explain.py: one line {"wire": base64, "spec"} in, one line {"kinds", "reasons",
// "problems", ...} out, in order.
import { before, criticalPath } from "../../../static/js/core/explain/critical_path.ts";
import { whyIdle } from "../../../static/js/core/explain/why_idle.ts";
import { follow, microsOf } from "../../../static/js/core/explain/micro_batch_path.ts";
import { arrives, inbox, messagesOf } from "../../../static/js/core/timeline/message_flow.ts";
import { messages } from "../../../static/js/core/schedule/metrics.ts";
import { doing, momentOf, narrate } from "../../../static/js/core/explain/narrate.ts";
import { since } from "../../../static/js/core/timeline/edges.ts";
import { kindOf, opText, rankOf } from "../../../static/js/core/schedule/ops.ts";
import { phases } from "../../../static/js/core/explain/phases.ts";
import { timedWithOptions } from "../../../static/js/core/options/apply_options.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { answerLines, bytes } from "./helpers.ts";
import type { Costs, Schedule, Spec, Times } from "../../../static/js/core/schedule/types.ts";

type Case = { schedule: Schedule; times: Times; costs: Costs; spec: Spec; dust: number };
type Check = (holds: boolean, what: string) => void;

/** Every idle stretch of every rank, the one after its last op too. */
function stretches({ schedule, times, dust }: Case) {
  const out = [];
  for (let rank = 0; rank < schedule.p; rank++) {
    const stop = schedule.offsets[rank + 1];
    let from = 0;
    for (let i = schedule.offsets[rank]; i <= stop; i++) {
      const to = i < stop ? times.start[i] : times.makespan;
      if (to > from + dust) out.push({ rank, from, to, next: i < stop ? i : -1 });
      if (i < stop) from = times.end[i];
    }
  }
  return out;
}

function idleKinds(one: Case, check: Check) {
  const { schedule, times, costs, spec, dust } = one;
  const kinds: Record<string, number> = {};
  const reasons = [];
  for (const { rank, from, to, next } of stretches(one)) {
    const why = whyIdle(schedule, times, costs, rank, (from + to) / 2, spec);
    if (why) reasons.push([rank, (from + to) / 2, why.kind, why.sentence]);
    const where = `rank ${rank} from ${from} to ${to}`;
    if (!why) {
      check(false, `${where}: no reason`);
      continue;
    }
    kinds[why.kind] = (kinds[why.kind] ?? 0) + 1;
    check(why.from === from && why.to === to && why.next === next, `${where}: the gap is another`);
    check(
      /^Rank \d+ is idle from .*\.$/.test(why.sentence) && !/\{|undefined|NaN/.test(why.sentence),
      `${where}: ${why.sentence}`,
    );
    check((why.kind === "drain") === next < 0, `${where}: drain`);
    check((why.kind === "fill") === (next === schedule.offsets[rank]), `${where}: fill`);
    if (next < 0 || !why.awaits) {
      check(next < 0, `${where}: nothing awaited`);
      continue;
    }
    const ends = before(schedule, times, costs, next)
      .filter(({ i }) => i === why.awaits?.i)
      .map(({ i, lag }) => times.end[i] + lag);
    check(
      ends.some((end) => Math.abs(end - to) <= dust),
      `${where}: what it awaits does not end it: ${why.sentence}`,
    );
    check(
      why.sentence.includes(
        opText(schedule, next)
          .split(/[(;)]/)
          .find((part) => part && why.sentence.includes(part)) ?? "?",
      ),
      `${where}: ${why.sentence}`,
    );
  }
  return { kinds, reasons };
}

/** How long the step takes when op `slow` takes `more` longer: the longest path over what each op waits for. */
function delays({ schedule, times, costs }: Case): (slow: number, more: number) => number {
  const all = schedule.count + (schedule.copies?.count ?? 0);
  const held = Array.from({ length: all }, (_, i) => before(schedule, times, costs, i));
  const end = new Float64Array(all).fill(-1);
  /** What an op waits for comes before it. */
  const sorted: number[] = [];
  for (
    let left = Array.from(held.keys()).sort((a, b) => times.start[a] - times.start[b] || times.end[a] - times.end[b]);
    left.length;
  ) {
    left = left.filter((i) => {
      if (held[i].some((each) => end[each.i] < 0)) return true;
      end[i] = 0;
      sorted.push(i);
      return false;
    });
  }
  return (slow, more) => {
    let last = 0;
    for (const i of sorted) {
      end[i] =
        times.end[i] -
        times.start[i] +
        (i === slow ? more : 0) +
        held[i].reduce((most, each) => Math.max(most, end[each.i] + each.lag), 0);
      if (i < schedule.count) last = Math.max(last, end[i]);
    }
    return last;
  };
}

function path(one: Case, check: Check) {
  const { schedule, times, costs, dust } = one;
  const { steps, length, work, copies, flight, gap, hops } = criticalPath(schedule, times, costs);
  check(
    length === times.makespan && steps[steps.length - 1].to === length && steps[0].from - steps[0].gap === 0,
    "the path is not as long as the step",
  );
  const sum = [...work, ...copies, flight, gap].reduce((a, b) => a + b, 0);
  check(Math.abs(sum - length) <= dust && gap <= dust, `its parts add up to ${sum}, not ${length}`);
  check(hops === steps.filter(({ way }) => way === "message" || way === "barrier").length, "its hops");
  steps.forEach(({ op, from, to, flight: hop, gap: late, way }, at) => {
    check(
      (costs.lead ? times.start[op] <= from : times.start[op] === from) && times.end[op] === to,
      `${opText(schedule, op)} is not drawn where it runs`,
    );
    if (at === 0) {
      check(way === null, "the first op waits for nothing");
      return;
    }
    const previous = steps[at - 1];
    check(Math.abs(previous.to + hop + late - from) <= dust, `a hole before ${opText(schedule, op)}`);
    check(
      before(schedule, times, costs, op).some((each) => each.i === previous.op && each.way === way),
      `${opText(schedule, op)} does not wait for ${opText(schedule, previous.op)}`,
    );
  });
  if (schedule.messages) return hops; // a message also waits for others on its streams
  const delayed = delays(one);
  const still = delayed(-1, 0);
  check(Math.abs(still - length) <= dust, "what ops wait for does not give the times they have");
  for (const at of [0, steps.length >> 1, steps.length - 1]) {
    check(
      Math.abs(delayed(steps[at].op, 1) - length - 1) <= dust,
      `the step does not take longer when ${opText(schedule, steps[at].op)} does`,
    );
  }
  return hops;
}

function journeys({ schedule, times, costs }: Case, check: Check) {
  const seen = new Int32Array(schedule.count + (schedule.copies?.count ?? 0));
  for (let micro = 0; micro < schedule.m; micro++) {
    const way = follow(schedule, times, costs, micro);
    if (!way) {
      check(false, `micro-batch ${micro} is nowhere`);
      continue;
    }
    for (const i of [...way.forward, ...way.backward, ...way.weights, ...way.shards, ...way.copies]) {
      seen[i]++;
      check(microsOf(schedule, i).includes(micro), `${opText(schedule, i)} is not of micro-batch ${micro}`);
    }
    check(
      way.way.every((i, at) => at === 0 || times.end[way.way[at - 1]] <= (costs.lead ? times.end : times.start)[i]),
      `micro-batch ${micro} goes back in time`,
    );
    const { stages } = schedule.placement;
    const untrained = (schedule.spec.frozen ?? []).filter((stage, at) => stage === at).length;
    check(
      way.forward.length === stages && way.backward.length === stages - untrained,
      `micro-batch ${micro} leaves stages out`,
    );
    check(
      way.enters <= way.forwardDone && way.forwardDone <= way.backwardDone && way.backwardDone <= way.weightsDone,
      `the moments of micro-batch ${micro}`,
    );
  }
  check(
    seen.every((times_, i) => times_ === microsOf(schedule, i).length),
    "an op belongs to no micro-batch, or to too many",
  );
  check(follow(schedule, times, costs, schedule.m) === null, "there is one micro-batch too many");
}

function checkMessages({ schedule, times, costs, dust }: Case, check: Check) {
  const all = messagesOf(schedule);
  const { list, offsets } = inbox(schedule, times);
  // the last stage's output goes to every rank's S
  const shards = schedule.barriers ? schedule.n * (schedule.p - 1) : 0;
  check(all.count === messages(schedule).count + shards, `${all.count} messages`);
  for (let at = 0; at < all.count; at++) {
    const [a, b] = [all.giver[at], all.taker[at]];
    check(rankOf(schedule, a) === all.from[at] && rankOf(schedule, b) === all.to[at], "a message's ranks");
    check(
      before(schedule, times, costs, b).some((each) => each.i === a && each.way === "message"),
      `${opText(schedule, b)} gets nothing from ${opText(schedule, a)}`,
    );
    const longer = arrives(all, times, costs, at) - times.end[a] - costs.comm;
    check(schedule.messages ? longer >= -dust : Math.abs(longer) <= dust, "a planned message takes a hop");
  }
  for (let r = 0; r < schedule.p; r++) {
    const mine = Array.from(list.subarray(offsets[r], offsets[r + 1]));
    check(
      mine.every(
        (at, k) => all.to[at] === r && (k === 0 || times.end[all.giver[mine[k - 1]]] <= times.end[all.giver[at]]),
      ),
      `what rank ${r} receives`,
    );
  }
}

function story(one: Case, check: Check) {
  const { schedule, times } = one;
  const { warm, cool } = phases(schedule, times);
  for (let r = 0; r < schedule.p; r++) {
    for (let i = schedule.offsets[r]; i < schedule.offsets[r + 1]; i++) {
      const kind = kindOf(schedule.codes[i], schedule.chunks);
      const { phase } = doing(one, r, times.start[i]);
      if ([1, 3].includes(kind)) check(phase !== "warm-up", `${opText(schedule, i)} in warm-up`);
      if (kind === 0 && times.end[i] > times.start[i])
        check(phase !== "cool-down", `${opText(schedule, i)} in cool-down`);
    }
    check(warm[r] <= cool[r], `the phases of rank ${r}`);
  }
  const moments = [0, ...times.start.subarray(0, schedule.count), ...times.end.subarray(0, schedule.count)]
    .sort((a, b) => a - b)
    .filter((at, k, all) => k + 1 === all.length || since(at, all[k + 1]) > 0); // the last where rounding alone differs
  for (const at of moments.filter((_, k) => k % 7 === 0)) {
    check(momentOf(one, at) === at, `${at} is a moment of its own`);
    const sentence = narrate(one, at);
    check(/^At .*\.$/.test(sentence) && !/\{|undefined|NaN|Infinity/.test(sentence), sentence);
    const busy = Array.from({ length: schedule.p }, (_, r) => doing(one, r, at)).filter(({ i }) => i >= 0).length;
    if (at < times.makespan) check(sentence.includes(`${busy} of ${schedule.p} ranks work`), sentence);
  }
}

await answerLines(({ wire, spec }) => {
  const costs = timing(spec);
  const { schedule, times } = timedWithOptions(decode(bytes(wire)), spec, costs);
  const one = { schedule, times, costs, spec, dust: 1e-9 * Math.max(1, times.makespan) };
  const problems: string[] = [];
  const check: Check = (holds, what) => {
    if (!holds && problems.length < 5) problems.push(what);
  };
  const { kinds, reasons } = idleKinds(one, check);
  const hops = path(one, check);
  journeys(one, check);
  checkMessages(one, check);
  story(one, check);
  return { kinds, reasons, hops, problems };
});
