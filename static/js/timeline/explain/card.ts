// The card beside an op or a bubble: what it is, when it runs, what it needs and unblocks; or why the rank is idle.
import {
  bytesLines,
  copiedLines,
  messageLines as measuredMessage,
  pair,
  sayBytes,
  stepLines as measuredStep,
} from "./card_details.ts";
import { tame, timeNumber, timeText } from "../../data/costs/time_unit.ts";
import { byId, h, replace, setText, show } from "../../ui/dom.ts";
import { barriersAt, type Join } from "../../core/timeline/barriers.ts";
import { since } from "../../core/timeline/edges.ts";
import { OFFLOAD, copyOf } from "../../core/schedule/copies.ts";
import { whyIdle, type Idle } from "../../core/explain/why_idle.ts";
import { t } from "../../core/i18n/language.ts";
import { arrives, messagesOf } from "../../core/timeline/message_flow.ts";
import { shortText, withoutSuffix } from "../../core/explain/narrate.ts";
import {
  KIND_F,
  KIND_PAIR,
  KIND_S,
  chunkOf,
  globalMicro,
  kindOf,
  micros,
  opText,
  partText,
  rankOf,
} from "../../core/schedule/ops.ts";
import { entryOrder, ofReplica } from "../../core/schedule/sizes.ts";
import { formatNumber } from "../../core/i18n/numbers.ts";
import { held, levelAt } from "../../core/timeline/memory_strips.ts";
import { spentBefore, spentText } from "../../core/measured/waits.ts";
import { plannedTimes } from "../../data/matched_plan.ts";
import { versions } from "../../core/schedule/memory.ts";
import { againIn } from "../../core/schedule/simulate.ts";
import type { Trace } from "../trace.ts";
import type { Lane } from "../../data/lanes.ts";
import type { OpRef, Sized, Times } from "../../core/schedule/types.ts";
import type { Box } from "../draw/axis.ts";

const MOST = 3;

/** By kind. */
const kindNames = () => [
  t("Forward"),
  t("Input gradient"),
  t("Weight gradient"),
  t("Full backward"),
  t("Overlapped forward and backward"),
  t("Output layer's shard"),
  t("Gradients of the output layer's shard"),
];

/** lanes: all on the timeline. */
export function createCard(plot: HTMLElement, lanes: () => Lane[]) {
  const node = h("div", { class: "popup card", id: "card", hidden: true });
  plot.append(node);
  let shown: Trace | null = null;
  let width = 0;
  let height = 0;

  /** anchor: where it belongs, in the plot's pixels. */
  function put(trace: Trace | null, anchor: Box | null) {
    if (!trace || !anchor) {
      shown = null;
      show(node, false);
      return;
    }
    if (trace !== shown) {
      shown = trace;
      replace(node, ...linesOf(trace, lanes));
      show(node, true);
      width = node.offsetWidth;
      height = node.offsetHeight;
    }
    const roomBelow = plot.clientHeight - (anchor.y + anchor.h);
    const y = roomBelow > height + 16 || anchor.y < height + 16 ? anchor.y + anchor.h + 10 : anchor.y - height - 10;
    const x = Math.min(Math.max(8, anchor.x), plot.clientWidth - width - 8);
    const top = Math.max(4, Math.min(y, plot.clientHeight - height - 4));
    node.style.transform = `translate(${Math.round(x)}px, ${Math.round(top)}px)`;
  }

  return { put };
}

function linesOf(trace: Trace, lanes: () => Lane[]) {
  if (trace.step) return measuredStep(trace.rank, trace.step) ?? stepLines(trace);
  if (trace.message !== undefined) return measuredMessage(trace) ?? messageLines(trace);
  if (!trace.op) return idleLines(trace);
  return trace.op.i < trace.lane.schedule.count ? opLines(trace, lanes) : copyLines(trace);
}

function opLines(trace: Trace, lanes: () => Lane[]) {
  const { lane, op } = trace;
  if (!op) return [];
  const { schedule, times } = lane;
  const kind = kindOf(schedule.codes[op.i], schedule.chunks);
  const start = times.start[op.i];
  const end = times.end[op.i];
  const before = op.index > 0 ? times.end[op.i - 1] : 0;
  const lines = [
    h("h2", {}, h("code", { text: shortText(schedule, op.i) }), kindNames()[kind]),
    h(
      "p",
      { class: "times" },
      pair(t("start"), timeNumber(start)),
      pair(t("end"), timeNumber(end)),
      pair(t("takes"), timeText(end - start)),
      pair(t("wait"), timeNumber(since(before, start))),
    ),
    h("p", { text: whereIs(lane, op.rank, op.i, kind) + hostOf(lane, op.rank) }),
    ...waitLines(trace.lane, op.rank, before, start),
  ];
  const again = lane.kind === "plan" ? againIn(schedule, lane.costs, op.i) : null;
  if (again) lines.push(h("p", { text: againText(lane, op.rank, again) }));
  if (schedule.copies || (lane.spec.weights ?? 0) > 0) lines.push(h("p", { text: holdsAt(lane, op.rank, start) }));
  if (lane.asynchronous) lines.push(h("p", { text: weightsOf(schedule, op.i) }));
  if (lane.kind === "plan" && lane.spec.sizes && lane.costs.sized)
    lines.push(h("p", { text: sizeOf(lane, lane.costs.sized, op) }));
  if (lane.kind === "run") lines.push(...bytesLines(lane, op.i), ...measured(trace, plannedTimes(lane, lanes())));
  const { waits, meets } = barriersAt(schedule, times, op.i);
  const across = (giver: number) => giver < schedule.count && kindOf(schedule.codes[giver], schedule.chunks) >= KIND_S;
  // a barrier has its own line
  const needed = trace.needs.filter((link) => link.kind === "data" && !across(link.ref.i));
  const freed = trace.frees.filter((link) => link.kind === "data" && !across(op.i));
  if (waits)
    lines.push(
      row(
        "needs",
        `● ${t("needs")}`,
        `${t("barrier {join}", { join: joinText(lane, waits) })}${waitsHop(lane, waits)}`,
      ),
    );
  if (needed.length) lines.push(list("needs", `● ${t("needs")}`, needed));
  if (meets)
    lines.push(row("frees", `▶ ${t("meets")}`, t("all ranks at barrier {join}", { join: joinText(lane, meets) })));
  if (freed.length) lines.push(list("frees", `▶ ${t("unblocks")}`, freed));
  if (trace.needs.every((link) => link.kind === "order"))
    lines.push(
      h("p", {
        text: trace.needs.length
          ? t("Needs only its rank's previous op.")
          : t("Needs nothing: it is the first op of the step."),
      }),
    );
  return lines;
}

/** What an op runs again before it needs its gradient, for itself or for a later backward of its rank. */
function againText({ schedule }: Lane, rank: number, { by, time }: { by: number; time: number }) {
  const { first, second } = micros(schedule);
  const chunk = schedule.codes[by] % schedule.chunks;
  const isPair = kindOf(schedule.codes[by], schedule.chunks) === KIND_PAIR && second !== null;
  const forward = partText(schedule, rank * schedule.chunks + chunk, KIND_F, isPair ? second[by] : first[by]);
  return t("Runs {forward} again first, for {time}.", { forward, time: timeText(time) });
}

/** Where micro-batches differ: how large that of an op is, and which one of the data. */
function sizeOf({ schedule, spec }: Lane, { sizes }: Sized, op: OpRef) {
  const slot = op.rank * schedule.chunks + chunkOf(schedule.codes[op.i], schedule.chunks);
  const micro = globalMicro(schedule, slot, micros(schedule).first[op.i]);
  const size = t("micro-batch of size {size}", { size: formatNumber(sizes[micro]) });
  if (spec.injection === "given") return size;
  const found = ofReplica(spec) ?? [];
  return `${size}, ${t("the data's {micro}", { micro: entryOrder(found, spec.injection)[micro] })}`;
}

/** Why a rank was idle before an op: also for readers who use the keyboard and cannot point at the gap. */
function waitLines(lane: Lane, rank: number, from: number, to: number) {
  const { kind, schedule, times, costs, spec, family } = lane;
  const little = kind === "run" ? 1e-3 : 1e-9; // between any two measured ops a moment passes
  if (to - from <= little * Math.max(1, times.makespan)) return [];
  const why = whyIdle(schedule, times, costs, rank, (from + to) / 2, spec, family);
  return why
    ? [h("p", { class: "before", text: [tame(why.sentence), spentSaid(lane, why)].filter(Boolean).join(t(" ")) })]
    : [];
}

/** Of a run on a cluster, where the rank was. */
const hostOf = ({ hosts }: Lane, rank: number) => (hosts?.[rank] ? t(", host {host}", { host: hosts[rank] }) : "");

function whereIs({ schedule }: Lane, rank: number, i: number, kind: number) {
  const stage = schedule.placement.stage[rank * schedule.chunks + chunkOf(schedule.codes[i], schedule.chunks)];
  if (kind === KIND_PAIR) return t("on rank {rank}; both results are available at its end", { rank });
  if (kind >= KIND_S) return t("on rank {rank}: 1/{p} of the vocabulary", { rank, p: schedule.p });
  if (schedule.chunks === 1) return t("stage {stage} on rank {rank}", { stage, rank });
  return t("stage {stage} on rank {rank}, chunk {chunk}", {
    stage,
    rank,
    chunk: chunkOf(schedule.codes[i], schedule.chunks),
  });
}

/** Past a barrier all ranks are a hop away. */
const waitsHop = ({ schedule, costs }: Lane, { opens }: Join) =>
  schedule.p > 1 && costs.comm > 0 && Number.isFinite(opens)
    ? t(", arrives at {time}", { time: timeNumber(opens + costs.comm) })
    : "";

/** "C1 of micro-batch 3, opens at 5.25: 2S3 on rank 2 comes last". */
function joinText({ schedule, times }: Lane, { name, micro, opens, ops, last }: Join) {
  if (!Number.isFinite(opens)) return t("{name} of micro-batch {micro}, not open yet", { name, micro });
  const about = { name, micro, opens: timeNumber(opens), op: opText(schedule, last), rank: rankOf(schedule, last) };
  if (!ops.every((i) => times.end[i] === opens))
    return t("{name} of micro-batch {micro}, opens at {opens}: {op} on rank {rank} comes last", about);
  return schedule.p === 1
    ? t("{name} of micro-batch {micro}, opens at {opens}", about)
    : t("{name} of micro-batch {micro}, opens at {opens} for all at once", about);
}

const holdsAt = ({ schedule, times, spec }: Lane, rank: number, time: number) =>
  t("memory held from its start: {n}", { n: formatNumber(levelAt(held(schedule, times, spec).steps[rank], time)) });

function copyLines({ lane, op, needs, frees }: Trace) {
  if (!op) return [];
  const { schedule, times } = lane;
  const { kind, chunk, slot, micro } = copyOf(schedule, op.i);
  const [start, end] = [times.start[op.i], times.end[op.i]];
  const when =
    kind === OFFLOAD
      ? t("its memory is free from {time}", { time: timeNumber(end) })
      : t("it takes memory again from {time}", { time: timeNumber(start) });
  const where =
    schedule.chunks > 1
      ? t("copy lane of rank {rank}, chunk {chunk}", { rank: op.rank, chunk })
      : t("copy lane of rank {rank}", { rank: op.rank });
  return [
    h("h2", {}, h("code", { text: opText(schedule, op.i) }), copyTitle(kind, partText(schedule, slot, KIND_F, micro))),
    h(
      "p",
      { class: "times" },
      pair(t("start"), timeNumber(start)),
      pair(t("end"), timeNumber(end)),
      pair(t("takes"), timeText(end - start)),
    ),
    ...copiedLines(lane, op.i),
    h("p", { text: `${where}${t("; ")}${when}` }),
    ...(needs.length ? [list("needs", `● ${t("needs")}`, needs)] : []),
    ...(frees.length ? [list("frees", `▶ ${t("unblocks")}`, frees)] : []),
  ];
}

/** kind: of copy; op: whose activation it is. */
const copyTitle = (kind: number, op: string) =>
  kind === OFFLOAD ? t("Offload of {op}'s activation", { op }) : t("Reload of {op}'s activation", { op });

function messageLines({ lane, message = -1 }: Trace) {
  const { schedule, times, costs } = lane;
  const all = messagesOf(schedule);
  const [giver, taker] = [all.giver[message], all.taker[message]];
  const sent = times.end[giver];
  const there = arrives(all, times, costs, message);
  const title = all.gradient[message] ? t("Gradient in flight") : t("Activation in flight");
  const used = Number.isFinite(times.start[taker])
    ? t("{op} uses it at {time}, {wait} after it arrived", {
        op: shortText(schedule, taker),
        time: timeNumber(times.start[taker]),
        wait: timeText(since(there, times.start[taker])),
      })
    : t("{op} has not begun yet", { op: shortText(schedule, taker) });
  return [
    h("h2", { text: title }),
    h(
      "p",
      { class: "times" },
      pair(t("sent"), timeNumber(sent)),
      pair(t("there"), timeNumber(there)),
      pair(t("in flight"), timeText(there - sent)),
    ),
    h("p", {
      text: t("{op} on rank {from} to rank {to}", {
        op: shortText(schedule, giver),
        from: all.from[message],
        to: all.to[message],
      }),
    }),
    h("p", { text: used }),
  ];
}

function stepLines({ lane, rank, step }: Trace) {
  if (!step) return [];
  const cap = lane.spec.memory;
  const most = { most: formatNumber(step.peak), cap: formatNumber(cap ?? 0) };
  const over = cap !== null && step.level > cap * (1 + 1e-9);
  const limit =
    cap === null
      ? t("peak {most}", most)
      : over
        ? t("peak {most}; the limit is {cap}, which is exceeded here", most)
        : t("peak {most}; the limit is {cap}", most);
  return [
    h("h2", { text: t("Rank {rank} holds {n}", { rank, n: formatNumber(step.level) }) }),
    h("p", {
      text: t("from {from} to {to}, in one micro-batch's activations on a device", {
        from: timeNumber(step.from),
        to: timeText(step.to),
      }),
    }),
    h("p", { text: limit }),
  ];
}

/** Which weights an op of an asynchronous schedule uses. */
function weightsOf(schedule: Lane["schedule"], i: number) {
  const { used, late } = versions(schedule);
  if (kindOf(schedule.codes[i], schedule.chunks) === KIND_F)
    return t("weights: version {version}, the newest", { version: used[i] });
  if (late[i] === 1)
    return t("weights: version {version} as its forward, 1 update late; then the next update", { version: used[i] });
  return t("weights: version {version} as its forward, {late} updates late; then the next update", {
    version: used[i],
    late: late[i],
  });
}

/** When the plan had the same op. */
function measured({ lane, op }: Trace, plan: Times) {
  if (!op) return [];
  const [start, end] = [lane.times.start[op.i], lane.times.end[op.i]];
  const [due, done] = [plan.start[op.i], plan.end[op.i]];
  return [
    h(
      "p",
      { class: "times planned" },
      h("span", { text: t("planned:") }),
      planned(t("start"), due, start - due),
      planned(t("takes"), done - due, end - start - (done - due)),
      planned(t("end"), done, end - done),
    ),
  ];
}

/** A planned time, and how much more it became; a moment in a thousand is nothing. */
function planned(name: string, time: number, more: number) {
  const size = timeNumber(Math.round(Math.abs(more) * 1000) / 1000);
  return h(
    "span",
    {},
    `${name} ${timeNumber(time)} `,
    h("b", { text: Number(size) === 0 ? "±0" : `${more > 0 ? "+" : "−"}${size}` }),
  );
}

function list(cls: string, title: string, links: Trace["needs"]) {
  const once = links.filter((link, at) => links.findIndex((other) => other.ref.i === link.ref.i) === at);
  const some = once.slice(0, MOST).map((link) =>
    h("div", {
      text: t("{op} on rank {rank}, arrives at {time}", {
        op: withoutSuffix(link.text),
        rank: link.ref.rank,
        time: timeNumber(link.arrives),
      }),
    }),
  );
  if (once.length > MOST) some.push(h("div", { text: t("and {n} more", { n: once.length - MOST }) }));
  return h("div", { class: cls }, h("b", { text: title }), h("div", {}, ...some));
}

const row = (cls: string, title: string, text: string) =>
  h("div", { class: cls }, h("b", { text: title }), h("div", { text }));

/** Why a rank is idle, in a word over the sentence. kind: of an idle stretch. */
function reasonOf(kind: string) {
  if (kind === "fill") return t("fill");
  if (kind === "cap") return t("memory cap");
  if (kind === "limit") return t("in-flight limit");
  if (kind === "drain") return t("drain");
  return kind === "overhead" ? t("overhead") : t("waits");
}

function idleLines({ lane, idle }: Trace) {
  if (!idle) return [];
  const title = t("Idle for {time}: {reason}", { time: timeText(idle.to - idle.from), reason: reasonOf(idle.kind) });
  return [h("h2", { text: title }), h("p", { text: tame(idle.sentence) }), ...spentLine(lane, idle)];
}

/** What the runner noted of an idle stretch of a run, in numbers; "" where it is a plan's. */
const spentSaid = ({ schedule, times, noted }: Lane, { next, from }: Idle) =>
  noted && next >= 0 && Number.isFinite(times.start[next])
    ? spentText(spentBefore(schedule, times, noted, next, from), noted)
    : "";

function spentLine(lane: Lane, idle: Idle) {
  const text = spentSaid(lane, idle);
  return text ? [h("p", { class: "before", text })] : [];
}

/** One sentence for screen readers. */
export function say(trace: Trace | null) {
  const node = byId("plot-said");
  if (!trace?.op) {
    setText(node, tame(trace?.idle?.sentence ?? ""));
    return;
  }
  const { schedule, times } = trace.lane;
  const i = trace.op.i;
  setText(
    node,
    t("{title} {op}, rank {rank}, {from} to {to}{needs}.", {
      title: titleOf(schedule, i),
      op: opText(schedule, i),
      rank: `${trace.rank}${hostOf(trace.lane, trace.rank)}`,
      from: timeNumber(times.start[i]),
      to: timeText(times.end[i]),
      needs: needsSaid(trace),
    }) +
      waitSaid(trace) +
      sayBytes(trace.lane, i),
  );
}

/** Why its rank waited, spoken. */
function waitSaid({ lane, op }: Trace) {
  if (!op || op.i >= lane.schedule.count) return "";
  const lines = waitLines(lane, op.rank, op.index > 0 ? lane.times.end[op.i - 1] : 0, lane.times.start[op.i]);
  return lines.map(({ textContent }) => ` ${textContent}`).join("");
}

function titleOf(schedule: Lane["schedule"], i: number) {
  if (i < schedule.count) return kindNames()[kindOf(schedule.codes[i], schedule.chunks)];
  const { kind, slot, micro } = copyOf(schedule, i);
  return `${copyTitle(kind, partText(schedule, slot, KIND_F, micro))}${t(",")}`;
}

/** What an op needs, spoken; a barrier once and not for each rank. */
function needsSaid({ lane, op, needs }: Trace) {
  if (!op) return "";
  const { waits } = barriersAt(lane.schedule, lane.times, op.i);
  const reasons = needs.filter((link) => !waits || !waits.ops.includes(link.ref.i)).map((link) => link.reason);
  if (waits) reasons.unshift(t("needs barrier {join}", { join: joinText(lane, waits) }));
  return reasons.length ? t("; ") + tame(reasons.join(t("; "))) : "";
}
