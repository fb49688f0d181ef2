// The card beside an op or a bubble: what it is, when it runs, what it needs and unblocks; or why the rank is idle.
import { tame, timeNumber, timeText } from "./costs_unit.js";
import { byId, h, replace, setText, show } from "./dom.js";
import { KIND_F, KIND_PAIR, chunkOf, kindOf, opText } from "./pure/ops.js";
import { versions } from "./pure/versions.js";

/** @import {Trace} from "./trace.js" */
/** @import {Lane} from "./lanes.js" */
/** @import {Box} from "./axis.js" */

const NAMES = ["Forward", "Input gradient", "Weight gradient", "Full backward", "Overlapped forward and backward"];
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
      replace(node, ...(trace.op ? opLines(trace, laneById) : idleLines(trace)));
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
  if (lane.asynchronous) lines.push(h("p", { text: weightsOf(schedule, op.i) }));
  if (lane.id === "run") lines.push(...measured(trace, laneById("a")));
  const needed = trace.needs.filter((link) => link.kind === "data");
  const freed = trace.frees.filter((link) => link.kind === "data");
  if (needed.length) lines.push(list("needs", "● needs", needed));
  if (freed.length) lines.push(list("frees", "▶ frees", freed));
  if (!needed.length) lines.push(h("p", { text: trace.needs.length ? "Needs nothing but its rank's previous op." : "Needs nothing: it starts the step." }));
  return lines;
}

/** @param {Lane} lane @param {number} rank @param {number} i @param {number} kind */
function whereIs({ schedule }, rank, i, kind) {
  const stage = schedule.placement.stage[rank * schedule.chunks + chunkOf(schedule.codes[i], schedule.chunks)];
  if (kind === KIND_PAIR) return `on rank ${rank}; both results are there at its end`;
  const chunk = schedule.chunks > 1 ? `, chunk ${chunkOf(schedule.codes[i], schedule.chunks)}` : "";
  return `stage ${stage} on rank ${rank}${chunk}`;
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
  return h("div", { class: cls }, h("b", { text: title }), h("div", {}, ...some));
}

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
  const needed = trace.needs.map((link) => link.reason).join("; ");
  setText(node, `${NAMES[kindOf(schedule.codes[i], schedule.chunks)]} ${opText(schedule, i)}, rank ${trace.rank}, ` +
    `${timeNumber(times.start[i])} to ${timeText(times.end[i])}${needed ? `; ${tame(needed)}` : ""}.`);
}
