// What <bubble-line> says: its figures, what an op or an idle time is, a summary, and the schedule as a table.
import { needs } from "../core/explain/why_idle.ts";
import { language, speak, t } from "../core/i18n/language.ts";
import { formatNumber as num, formatPercent } from "../core/i18n/numbers.ts";
import { peakInFlight } from "../core/schedule/memory.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, KIND_W, kindOf, opText } from "../core/schedule/ops.ts";
import { FAMILIES_MESSAGES } from "../core/i18n/zh/messages_families.ts";
import { COMPONENT } from "../core/i18n/zh/page/component.ts";
import { traceAt } from "../timeline/trace.ts";
import { h } from "../ui/dom.ts";
import type { Lane } from "../data/lanes.ts";
import type { Mark } from "./picture.ts";

/** peak: memory, in micro-batches' activations. */
export type Shown = { bubble: number; makespan: number; peak: number };
export type Said = { mark: Mark; head: string; text: string };

const MOST_OPS = 64; // of a rank, in the table

/** Speak an element's language from here on: that of the nearest lang attribute around it. */
export function speakFor(element: Element) {
  const tag = element.closest("[lang]")?.getAttribute("lang") ?? "";
  const code = tag.toLowerCase().split("-")[0] === "zh" ? "zh" : "en";
  if (code === language()) return;
  if (code === "zh") speak(code, COMPONENT, FAMILIES_MESSAGES);
  else speak(code, {});
}

/** What the colours mean, of the kinds that there are. */
export function legend({ schedule }: Lane): HTMLElement[] {
  const kinds = new Set(Array.from(new Set(schedule.codes), (code) => kindOf(code, schedule.chunks)));
  const names = (
    [
      [KIND_F, "f", t("F forward")],
      [KIND_I, "i", t("I input gradient")],
      [KIND_W, "w", t("W weight gradient")],
      [KIND_B, "b", kinds.has(KIND_I) || kinds.has(KIND_W) ? t("B full backward = I + W") : t("B backward")],
      [KIND_PAIR, "pair", t("F and B overlapped")],
    ] as [number, string, string][]
  ).filter(([kind]) => kinds.has(kind));
  const entry = (name: string, text: string) => h("span", h("i", { class: name }), text);
  return [...names.map(([, name, text]) => entry(name, text)), entry("idle", t("bubble"))];
}

/** Its sizes in short. */
export function sizesText({ spec, schedule }: Lane) {
  const v = schedule.chunks > 1 && schedule.placement.streams === 1 ? ` · v ${spec.v}` : "";
  return `p ${spec.p} · m ${spec.m}${v}`;
}

/** One sentence for who does not see the picture. */
export const summary = ({ family, spec }: Lane, { bubble, makespan, peak }: Shown) =>
  t(
    "{family} on {p} devices with {m} micro-batches: a step takes {time}, {bubble} of it is idle, and a device holds " +
      "at most {peak} micro-batches' activations.",
    {
      family,
      ...{ p: spec.p, m: spec.m },
      ...{ time: num(makespan), bubble: formatPercent(bubble), peak: num(peak) },
    },
  );

/** The op, copy or gap at a place. */
export function saidAt(lane: Lane, rank: number, at: number): Said | null {
  const found = traceAt(lane, rank, at);
  if (found?.op) return saidOf(lane, rank, found.op.i);
  if (!found?.idle) return null;
  const { from, to, sentence } = found.idle;
  return { mark: { rank, i: -1, from, to }, head: t("Idle"), text: sentence };
}

export function saidOf({ schedule, times, costs }: Lane, rank: number, i: number): Said {
  const [from, to] = [times.start[i], times.end[i]];
  const reasons = needs(schedule, times, costs, { rank, i, index: i - schedule.offsets[rank] });
  const why = reasons.filter(({ kind }) => kind === "data").map(({ reason }) => reason);
  return {
    mark: { rank, i, from, to },
    head: t("{op} on rank {rank}, from {from} to {to}", {
      ...{ op: opText(schedule, i), rank },
      ...{ from: num(from), to: num(to) },
    }),
    text: why.length ? `${opText(schedule, i)} ${why.join(t(", "))}${t(".")}` : t("It needs nothing from elsewhere."),
  };
}

/** The schedule as a table, one row for each rank. busy: by rank. */
export function table({ schedule, end }: Lane, busy: Float64Array) {
  const { p, offsets } = schedule;
  const peaks = peakInFlight(schedule);
  const head = [t("Rank"), t("busy"), t("idle"), t("chunks held"), t("order of ops")];
  const rows = Array.from({ length: p }, (_, r) => {
    const ops = [];
    for (let i = offsets[r]; i < Math.min(offsets[r + 1], offsets[r] + MOST_OPS); i++) ops.push(opText(schedule, i));
    const more = offsets[r + 1] - offsets[r] - ops.length;
    if (more > 0) ops.push(t("and {n} more", { n: more }));
    const cells = [r, num(busy[r]), formatPercent(end ? 1 - busy[r] / end : 0), peaks[r], ops.join(" ")];
    return h("tr", ...cells.map((text) => h("td", { text })));
  });
  return h("table", h("tr", ...head.map((text) => h("th", { scope: "col", text }))), ...rows);
}
