// Times schedules for tests/schedule/simulation/test_js_parity.py: one JSON case a line in, one answer a line out, in
// order. Case: {"wire": base64, "own": bool, "laws": [...], "link": query, "defaults": spec, "natural": {family: v}};
// own: the order is not that of the wire but the one that the page constructs, where it can. Float arrays go back as
// base64 of their bytes, so that no digit is lost.
import { createInterface } from "node:readline";

import { judge, speaks, vars } from "../../../static/js/core/schedule/formula.js";
import { curve, holding, peakInFlight, peakMemory } from "../../../static/js/core/schedule/memory.js";
import { figures } from "../../../static/js/core/schedule/metrics.js";
import { wasShortened } from "../../../static/js/core/schedule/periodic.js";
import { opText } from "../../../static/js/core/schedule/ops.js";
import { isConstructed } from "../../../static/js/core/families/accepts.js";
import { refusal } from "../../../static/js/core/families/legal.js";
import { baseOrder } from "../../../static/js/core/families/base_order.js";
import { timedWithOptions } from "../../../static/js/core/options/apply_options.js";
import { timing } from "../../../static/js/core/schedule/effective_costs.js";
import { parse, specQuery } from "../../../static/js/core/state/link.js";
import { versions } from "../../../static/js/core/schedule/weight_versions.js";
import { decode } from "../../../static/js/core/schedule/wire.js";

/** @import {Law, Schedule, Times} from "../../../static/js/core/schedule/types.js" */

/** @param {Float64Array} floats */
const base64 = (floats) => Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString("base64");

/** @type {Times|undefined} reused from case to case, as the page does */
let scratch;

/** The ops of a rank with its copies where they are issued. @param {Schedule} schedule @param {number} r */
function rowText(schedule, r) {
  const { offsets, copies, count } = schedule;
  const out = [];
  let y = copies?.offsets[r] ?? 0;
  for (let x = 0; x <= offsets[r + 1] - offsets[r]; x++) {
    for (; copies && y < copies.offsets[r + 1] && copies.issued[y - count] <= x; y++) out.push(opText(schedule, y));
    if (offsets[r] + x < offsets[r + 1]) out.push(opText(schedule, offsets[r] + x));
  }
  return out.join(" ");
}

/** @param {string} line */
function answer(line) {
  const { wire, own, laws, asynchronous, link, defaults, natural } = JSON.parse(line);
  const bytes = Buffer.from(wire, "base64");
  const sent = decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const { spec } = sent;
  const isOwn = own && isConstructed(spec) && refusal(spec) === null;
  const { schedule, times } = timedWithOptions(isOwn ? baseOrder(spec) : sent, spec, timing(spec), scratch);
  scratch = times;
  const { count, p } = schedule;
  const all = count + (schedule.copies?.count ?? 0);
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
    periodic: wasShortened(schedule),
    order: Array.from({ length: p }, (_, r) => rowText(schedule, r)),
    versions: asynchronous ? Object.values(versions(schedule)).map((each) => Array.from(each)) : null,
    laws: laws
      .filter((/** @type {Law} */ law) => speaks(law, names))
      .map((/** @type {Law} */ law) => judge(law, names)),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim()) process.stdout.write(`${JSON.stringify(answer(line))}\n`);
}
