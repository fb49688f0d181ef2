// The card beside an op or a bubble: what it is, when it runs, what it needs and unblocks; or why the rank is idle.
import { tame, timeNumber, timeText } from "./costs_unit.js";
import { byId, h, replace, setText, show } from "./dom.js";
import { barriersAt } from "./pure/barriers.js";
import { OFFLOAD, copyOf } from "./pure/copies.js";
import { KIND_F, KIND_PAIR, KIND_S, chunkOf, kindOf, opText, partText, rankOf } from "./pure/ops.js";
import { formatNumber } from "./pure/scale.js";
import { held, levelAt } from "./pure/strips.js";
import { versions } from "./pure/versions.js";

/** @import {Trace} from "./trace.js" */
/** @import {Lane} from "./lanes.js" */
/** @import {Box} from "./axis.js" */
/** @import {Join} from "./pure/barriers.js" */

const NAMES = ["Forward", "Input gradient", "Weight gradient", "Full backward", "Overlapped forward and backward",
  "Output layer's shard", "Gradients of the output layer's shard"];
const COPIES = ["Offload", "Reload"];
const MOST = 3;

/** @param {HTMLElement} plot @param {(id: string) => Lane | null} laneById */
export function createCard(plot, laneById) {
  const node = h("div", { class: "card", id: "card", hidden: true });
  plot.append(node);
  /** @type {Trace | null} */
  let shown = null;
  let width = 0;
  let height = 0;

  /** @param {Trace | null} trace @param {Box | null} anchor  where it belongs, in the plot's pixels */
  function put(trace, anchor) {
    if (!trace || !anchor) {
      shown = null;
      show(node, false);
      return;
    }
    if (trace !== shown) {
      shown = trace;
      replace(node, ...linesOf(trace, laneById));
      show(node, true);
      width = node.offsetWidth;
      height = node.offsetHeight;
    }
    const roomBelow = plot.clientHeight - (anchor.y + anchor.h);
    const y = roomBelow > height + 16 || anchor.y < height + 16 ? anchor.y + anchor.h + 10 : anchor.y - height - 10;
    const x = Math.min(Math.max(8, anchor.x), plot.clientWidth - width - 8);
    node.style.transform = `translate(${Math.round(x)}px, ${Math.round(Math.max(4, Math.min(y, plot.clientHeight - height - 4)))}px)`;
  }

  return { put };
}

/** @param {Trace} trace @param {(id: string) => Lane | null} laneById */
function linesOf(trace, laneById) {
  if (trace.step) return stepLines(trace);
  if (!trace.op) return idleLines(trace);
  return trace.op.i < trace.lane.schedule.count ? opLines(trace, laneById) : copyLines(trace);
}

/** @param {Trace} trace @param {(id: string) => Lane | null} laneById */
function opLines(trace, laneById) {
  const { lane, op } = trace;
  if (!op) return [];
  const { schedule, times } = lane;
  const kind = kindOf(schedule.codes[op.i], schedule.chunks);
  const start = times.start[op.i];
  const end = times.end[op.i];
  const before = op.index > 0 ? times.end[op.i - 1] : 0;
  const lines = [
    h("h3", {}, h("code", { text: short(opText(schedule, op.i)) }), NAMES[kind]),
    h("p", { class: "times" }, pair("start", timeNumber(start)), pair("end", timeNumber(end)), pair("takes", timeText(end - start)),
      pair("wait", timeNumber(Math.max(0, start - before)))),
    h("p", { text: whereIs(lane, op.rank, op.i, kind) }),
  ];
  if (schedule.copies || (lane.spec.weights ?? 0) > 0) lines.push(h("p", { text: holdsAt(lane, op.rank, start) }));
  if (lane.asynchronous) lines.push(h("p", { text: weightsOf(schedule, op.i) }));
  if (lane.id === "run") lines.push(...measured(trace, laneById("a")));
  const { waits, meets } = barriersAt(schedule, times, op.i);
  const across = (/** @type {number} */ giver) => giver < schedule.count && kindOf(schedule.codes[giver], schedule.chunks) >= KIND_S;
  const needed = trace.needs.filter((link) => link.kind === "data" && !across(link.ref.i)); // a barrier has its own line
  const freed = trace.frees.filter((link) => link.kind === "data" && !across(op.i));
  if (waits) lines.push(row("needs", "● needs", `barrier ${sayJoin(lane, waits)}${waitsHop(lane, waits)}`));
  if (needed.length) lines.push(list("needs", "● needs", needed));
  if (meets) lines.push(row("frees", "▶ meets", `all ranks at barrier ${sayJoin(lane, meets)}`));
  if (freed.length) lines.push(list("frees", "▶ frees", freed));
  if (trace.needs.every((link) => link.kind === "order")) lines.push(h("p", { text: trace.needs.length ? "Needs nothing but its rank's previous op." : "Needs nothing: it starts the step." }));
  return lines;
}

/** @param {Lane} lane @param {number} rank @param {number} i @param {number} kind */
function whereIs({ schedule }, rank, i, kind) {
  const stage = schedule.placement.stage[rank * schedule.chunks + chunkOf(schedule.codes[i], schedule.chunks)];
  if (kind === KIND_PAIR) return `on rank ${rank}; both results are there at its end`;
  if (kind >= KIND_S) return `on rank ${rank}: 1/${schedule.p} of the vocabulary`;
  const chunk = schedule.chunks > 1 ? `, chunk ${chunkOf(schedule.codes[i], schedule.chunks)}` : "";
  return `stage ${stage} on rank ${rank}${chunk}`;
}

/** Past a barrier all ranks are a hop away. @param {Lane} lane @param {Join} join */
const waitsHop = ({ schedule, costs }, { opens }) =>
  (schedule.p > 1 && costs.comm > 0 && Number.isFinite(opens) ? `, there at ${timeNumber(opens + costs.comm)}` : "");

/** "C1 of micro-batch 3, opens at 5.25: 2S3 on rank 2 comes last" @param {Lane} lane @param {Join} join */
function sayJoin({ schedule, times }, { name, micro, opens, ops, last }) {
  if (!Number.isFinite(opens)) return `${name} of micro-batch ${micro}, not open yet`;
  const before = `${name} of micro-batch ${micro}, opens at ${timeNumber(opens)}`;
  if (ops.every((i) => times.end[i] === opens)) return schedule.p === 1 ? before : `${before} for all at once`;
  return `${before}: ${opText(schedule, last)} on rank ${rankOf(schedule, last)} comes last`;
}

/** @param {Lane} lane @param {number} rank @param {number} t */
const holdsAt = ({ schedule, times, spec }, rank, t) =>
  `memory held from its start: ${formatNumber(levelAt(held(schedule, times, spec).steps[rank], t))}`;

/** @param {Trace} trace */
function copyLines({ lane, op, needs, frees }) {
  if (!op) return [];
  const { schedule, times } = lane;
  const { kind, chunk, slot, micro } = copyOf(schedule, op.i);
  const [start, end] = [times.start[op.i], times.end[op.i]];
  const whose = `${partText(schedule, slot, KIND_F, micro)}'s activation`;
  const when = kind === OFFLOAD ? `its memory is free from ${timeNumber(end)}` : `it takes memory again from ${timeNumber(start)}`;
  return [
    h("h3", {}, h("code", { text: opText(schedule, op.i) }), `${COPIES[kind]} of ${whose}`),
    h("p", { class: "times" }, pair("start", timeNumber(start)), pair("end", timeNumber(end)), pair("takes", timeText(end - start))),
    h("p", { text: `copy lane of rank ${op.rank}${schedule.chunks > 1 ? `, chunk ${chunk}` : ""}; ${when}` }),
    ...(needs.length ? [list("needs", "● needs", needs)] : []),
    ...(frees.length ? [list("frees", "▶ frees", frees)] : []),
  ];
}

/** @param {Trace} trace */
function stepLines({ lane, rank, step }) {
  if (!step) return [];
  const cap = lane.spec.memory;
  const limit = cap === null ? "" : `; its limit is ${formatNumber(cap)}${step.level > cap * (1 + 1e-9) ? ", which is exceeded here" : ""}`;
  return [h("h3", { text: `Rank ${rank} holds ${formatNumber(step.level)}` }),
    h("p", { text: `from ${timeNumber(step.from)} to ${timeText(step.to)}, in one micro-batch's activations on a device` }),
    h("p", { text: `the most it holds is ${formatNumber(step.peak)}${limit}` })];
}

/** Which weights an op of an asynchronous schedule uses. @param {Lane["schedule"]} schedule @param {number} i */
function weightsOf(schedule, i) {
  const { used, late } = versions(schedule);
  if (kindOf(schedule.codes[i], schedule.chunks) === KIND_F) return `weights: version ${used[i]}, the newest`;
  return `weights: version ${used[i]} as its forward, ${late[i]} update${late[i] === 1 ? "" : "s"} late; then the next update`;
}

/** What the plan said of the same op. @param {Trace} trace @param {Lane | null} plan */
function measured({ lane, op }, plan) {
  if (!plan || !op || plan.schedule.count !== lane.schedule.count || plan.schedule.spec.family !== lane.schedule.spec.family) return [];
  const off = lane.times.end[op.i] - plan.times.end[op.i];
  return [h("p", {}, `planned end ${timeNumber(plan.times.end[op.i])}, `, h("b", { text: `${timeText(Math.abs(off))} ${off >= 0 ? "later" : "earlier"}` }))];
}

/** A pair without its suffix: the card says what it is. @param {string} text */
const short = (text) => text.replace(/^\((.*);(.*)\)OVERLAP_F_B$/, "$1 & $2");

/** @param {string} name @param {string} text */
const pair = (name, text) => h("span", {}, `${name} `, h("b", { text }));

/** @param {string} cls @param {string} title @param {Trace["needs"]} links */
function list(cls, title, links) {
  const once = links.filter((link, at) => links.findIndex((other) => other.ref.i === link.ref.i) === at);
  const some = once.slice(0, MOST).map((link) => h("div", { text: `${short(link.text)} on rank ${link.ref.rank}, there at ${timeNumber(link.arrives)}` }));
  if (once.length > MOST) some.push(h("div", { text: `and ${once.length - MOST} more` }));
  return h("div", { class: cls }, h("b", { text: title }), h("div", {}, ...some));
}

/** @param {string} cls @param {string} title @param {string} text */
const row = (cls, title, text) => h("div", { class: cls }, h("b", { text: title }), h("div", { text }));

/** @param {Trace} trace */
function idleLines({ idle }) {
  if (!idle) return [];
  return [h("h3", { text: `Idle for ${timeText(idle.to - idle.from)}` }), h("p", { text: tame(idle.sentence) })];
}

/** One sentence for screen readers. @param {Trace | null} trace */
export function say(trace) {
  const node = byId("plot-said");
  if (!trace?.op) { setText(node, tame(trace?.idle?.sentence ?? "")); return; }
  const { schedule, times } = trace.lane;
  const i = trace.op.i;
  setText(node, `${titleOf(schedule, i)} ${opText(schedule, i)}, rank ${trace.rank}, ` +
    `${timeNumber(times.start[i])} to ${timeText(times.end[i])}${needsSaid(trace)}.`);
}

/** @param {Lane["schedule"]} schedule @param {number} i */
function titleOf(schedule, i) {
  if (i < schedule.count) return NAMES[kindOf(schedule.codes[i], schedule.chunks)];
  const { kind, slot, micro } = copyOf(schedule, i);
  return `${COPIES[kind]} of ${partText(schedule, slot, KIND_F, micro)}'s activation,`;
}

/** What an op needs, spoken; a barrier once and not for each rank. @param {Trace} trace */
function needsSaid({ lane, op, needs }) {
  if (!op) return "";
  const { waits } = barriersAt(lane.schedule, lane.times, op.i);
  const said = needs.filter((link) => !waits || !waits.ops.includes(link.ref.i)).map((link) => link.reason);
  if (waits) said.unshift(`needs barrier ${sayJoin(lane, waits)}`);
  return said.length ? `; ${tame(said.join("; "))}` : "";
}
