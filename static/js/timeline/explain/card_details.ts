// The part of the card that only a run can measure: bytes of an op and of its messages, the activations alive after it,
// when a message was posted, asked for and taken, and what a rank held in bytes.
import { timeNumber, timeText } from "../../data/costs/time_unit.ts";
import { h } from "../../ui/dom.ts";
import { wasAwaited } from "../../core/measured/run_details.ts";
import { t } from "../../core/i18n/language.ts";
import { messagesOf } from "../../core/timeline/message_flow.ts";
import { shortText } from "../../core/explain/narrate.ts";
import { formatBytes, formatNumber } from "../../core/i18n/numbers.ts";
import type { Lane } from "../../data/lanes.ts";
import type { Step, Trace } from "../trace.ts";

const FEW = 20_000; // ops of a run whose bytes are asked for as soon as one of its ops is looked at

export const pair = (name: string, text: string) => h("span", {}, `${name} `, h("b", { text }));

/** The bytes of an op. */
export function bytesLines({ schedule, details, noted, want }: Lane, i: number) {
  if (schedule.count <= FEW) want?.();
  if (!details || Number.isNaN(details.live[i])) return [];
  const { received, sent, live } = details;
  const waited = noted ? [pair(t("waited for messages"), timeText(noted.wait[i]))] : [];
  return [
    h(
      "p",
      { class: "times measured" },
      pair(t("received"), formatBytes(received[i])),
      pair(t("sent"), formatBytes(sent[i])),
      ...(received[i] ? waited : []),
      pair(t("activations alive after it"), formatBytes(live[i])),
    ),
  ];
}

/** The same, spoken. */
export function sayBytes({ details }: Lane, i: number) {
  if (!details || !(details.live[i] >= 0)) return "";
  return t(" Received {received}, sent {sent}; activations alive after it: {live}.", {
    received: formatBytes(details.received[i]),
    sent: formatBytes(details.sent[i]),
    live: formatBytes(details.live[i]),
  });
}

/** The bytes that a copy moved. */
export function copiedLines({ schedule, noted }: Lane, i: number) {
  const moved = noted?.moved?.[i - schedule.count];
  return moved ? [h("p", { class: "times measured" }, pair(t("copied"), formatBytes(moved)))] : [];
}

/** A message that was measured; null for another. */
export function messageLines({ lane, message = -1 }: Trace) {
  const { schedule, details, noted } = lane;
  if (!details || !noted || Number.isNaN(details.taken[message])) return null;
  const all = messagesOf(schedule);
  // ms
  const [posted, asked, taken] = [details.posted[message], details.asked[message], details.taken[message]].map(
    (ns) => ns / 1e6,
  );
  const at = (ms: number) => timeNumber(Math.round((1000 * ms) / noted.unit) / 1000);
  const [giver, taker] = [all.giver[message], all.taker[message]].map((i) => shortText(schedule, i));
  return [
    h("h2", {
      text: all.gradient[message]
        ? t("Gradient, {bytes}", { bytes: formatBytes(details.size[message]) })
        : t("Activation, {bytes}", { bytes: formatBytes(details.size[message]) }),
    }),
    h("p", { class: "times" }, pair(t("posted"), at(posted)), pair(t("asked"), at(asked)), pair(t("taken"), at(taken))),
    h("p", {
      text: t("{giver} on rank {from} to {taker} on rank {to}", {
        giver,
        taker,
        from: all.from[message],
        to: all.to[message],
      }),
    }),
    h("p", { text: sayWay(wasAwaited(details, message), posted, asked, taken, all.to[message]) }),
  ];
}

/** How the message and its receiver met. taken: ms. */
function sayWay(awaited: boolean, posted: number, asked: number, taken: number, rank: number) {
  const way = { rank, waited: short(taken - asked), flight: short(taken - posted), since: short(asked - posted) };
  if (!awaited) return t("It had come by the time rank {rank} asked for it, {since} ms after it was posted.", way);
  if (asked < posted) return t("Rank {rank} waited {waited} ms for it, of which it was {flight} ms on its way.", way);
  return t("Rank {rank} asked for it while it was on its way, and waited {waited} ms.", way);
}

/** x: rounded to three digits. */
const short = (x: number) => formatNumber(Number(Math.max(0, x).toPrecision(3)));

/** What a rank of a run held, beside what the plan counts. */
export function stepLines(rank: number, { from, to, level, real }: Step) {
  if (!real) return null;
  const counted = { counted: formatNumber(level), one: formatBytes(real.unit) };
  return [
    h("h2", { text: t("Rank {rank} holds {n}", { rank, n: formatBytes(real.level) }) }),
    h("p", {
      text: t("of activations, measured, from {from} to {to}; the most after an op is {most}", {
        from: timeNumber(from),
        to: timeText(to),
        most: formatBytes(real.peak),
      }),
    }),
    h("p", {
      text: t("The line is what the plan counts: {counted} here, where 1 is drawn as high as {one}.", counted),
    }),
  ];
}
