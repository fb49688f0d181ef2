// Times schedules for tests/schedule/simulation/test_js_parity.py: one JSON case a line in, one answer a line out, in
// order. Case: {"wire": base64, "own": bool, "laws": [...], "link": query, "defaults": spec, "natural": {family: v}};
// own: the order is not that of the wire but the one that the page constructs, where it can. Float arrays go back as
// base64 of their bytes, so that no digit is lost.
import { evaluateLaw, speaks, vars } from "../../../static/js/core/families/formula.ts";
import { curve, holding, peakInFlight, peakMemory } from "../../../static/js/core/schedule/memory.ts";
import { figures } from "../../../static/js/core/schedule/metrics.ts";
import { wasShortened } from "../../../static/js/core/schedule/periodic.ts";
import { endText } from "../../../static/js/core/schedule/lanes.ts";
import { opText } from "../../../static/js/core/schedule/ops.ts";
import { isConstructed } from "../../../static/js/core/families/accepts.ts";
import { refusal } from "../../../static/js/core/families/legal.ts";
import { baseOrder } from "../../../static/js/core/families/base_order.ts";
import { timedWithOptions } from "../../../static/js/core/options/apply_options.ts";
import { timing } from "../../../static/js/core/schedule/effective_costs.ts";
import { parse, specQuery } from "../../../static/js/core/state/link.ts";
import { versions } from "../../../static/js/core/schedule/memory.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { answerLines, bytes } from "./helpers.ts";
import type { Law, Schedule, Times } from "../../../static/js/core/schedule/types.ts";

const base64 = (floats: Float64Array) =>
  Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString("base64");

/** Reused from case to case, as the page does. */
let scratch: Times | undefined;

/** The ops of a rank with its copies where they are issued. */
function rowText(schedule: Schedule, r: number) {
  const { offsets, copies, count } = schedule;
  const out = [];
  let y = copies?.offsets[r] ?? 0;
  for (let x = 0; x <= offsets[r + 1] - offsets[r]; x++) {
    for (; copies && y < copies.offsets[r + 1] && copies.issued[y - count] <= x; y++) out.push(opText(schedule, y));
    if (offsets[r] + x < offsets[r + 1]) out.push(opText(schedule, offsets[r] + x));
  }
  return out.join(" ");
}

await answerLines(({ wire, own, laws, asynchronous, link, defaults, natural }) => {
  const sent = decode(bytes(wire));
  const { spec } = sent;
  const isOwn = own && isConstructed(spec) && refusal(spec) === null;
  const { schedule, times } = timedWithOptions(isOwn ? baseOrder(spec) : sent, spec, timing(spec), scratch);
  scratch = times;
  const { count, p } = schedule;
  const all = count + (schedule.copies?.count ?? 0);
  const ends = all + (schedule.messages?.row.length ?? 0);
  const { makespan, longestStage, bubble } = figures(schedule, scratch);
  const names = vars(spec, { stages: schedule.placement.stages, n: schedule.n });
  const memory = curve(schedule, scratch, p - 1, holding(spec));
  const linked = parse(link, defaults, natural);
  return {
    constructed: isOwn,
    asked: specQuery(spec, defaults),
    linked: linked.state.spec,
    problems: linked.problems,
    start: base64(scratch.start.subarray(0, count)),
    end: base64(scratch.end.subarray(0, count)),
    simulated: scratch.makespan,
    figures: {
      makespan,
      longest_stage: longestStage,
      bubble: {
        global: { of_total: bubble.global.ofTotal, of_ideal: bubble.global.ofIdeal },
        span: { of_total: bubble.span.ofTotal, of_ideal: bubble.span.ofIdeal },
      },
    },
    peak_in_flight: Array.from(peakInFlight(schedule)),
    peak_memory: Array.from(peakMemory(schedule, scratch, holding(spec))),
    curve: [base64(memory.t), base64(memory.y)],
    copies: [base64(scratch.start.subarray(count, all)), base64(scratch.end.subarray(count, all))],
    messages: [base64(scratch.start.subarray(all, ends)), base64(scratch.end.subarray(all, ends))],
    ends: Array.from({ length: ends - all }, (_, y) => endText(schedule, y)),
    periodic: wasShortened(schedule),
    order: Array.from({ length: p }, (_, r) => rowText(schedule, r)),
    versions: asynchronous ? Object.values(versions(schedule)).map((each) => Array.from(each)) : null,
    laws: laws.filter((law: Law) => speaks(law, names)).map((law: Law) => evaluateLaw(law, names)),
  };
});
