// The part of the card that only a run can measure: bytes of an op and of its messages, the activations alive after it,
// when a message was posted, asked for and taken, and what a rank held in bytes.
import { timeNumber, timeText } from "../../data/costs/time_unit.js";
import { h } from "../../ui/dom.js";
import { wasAwaited } from "../../core/measured/run_details.js";
import { t } from "../../core/i18n/language.js";
import { messagesOf } from "../../core/schedule/message_flow.js";
import { shortText } from "../../core/explain/narrate.js";
import { formatBytes, formatNumber } from "../../core/i18n/numbers.js";

/** @import {Lane} from "../../data/lanes.js" */
/** @import {Step, Trace} from "../trace.js" */

const FEW = 20_000; // ops of a run whose bytes are asked for as soon as one of its ops is looked at

/** @param {string} name @param {string} text */
export const pair = (name, text) => h("span", {}, `${name} `, h("b", { text }));

/** The bytes of an op. @param {Lane} lane @param {number} i */
export function bytesLines({ schedule, details, noted, want }, i) {
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

/** The same, spoken. @param {Lane} lane @param {number} i */
export function sayBytes({ details }, i) {
  if (!details || !(details.live[i] >= 0)) return "";
  return t(" Received {received}, sent {sent}; activations alive after it: {live}.", {
    received: formatBytes(details.received[i]),
    sent: formatBytes(details.sent[i]),
    live: formatBytes(details.live[i]),
  });
}

/** The bytes that a copy moved. @param {Lane} lane @param {number} i */
export function copiedLines({ schedule, noted }, i) {
  const moved = noted?.moved?.[i - schedule.count];
  return moved ? [h("p", { class: "times measured" }, pair(t("copied"), formatBytes(moved)))] : [];
}

/** A message that was measured; null for another. @param {Trace} trace */
export function messageLines({ lane, message = -1 }) {
  const { schedule, details, noted } = lane;
  if (!details || !noted || Number.isNaN(details.taken[message])) return null;
  const all = messagesOf(schedule);
  // ms
  const [posted, asked, taken] = [details.posted[message], details.asked[message], details.taken[message]].map(
    (ns) => ns / 1e6,
  );
  const at = (/** @type {number} */ ms) => timeNumber(Math.round((1000 * ms) / noted.unit) / 1000);
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

/**
 * How the message and its receiver met.
 * @param {boolean} awaited
 * @param {number} posted
 * @param {number} asked
 * @param {number} taken ms
 * @param {number} rank
 */
function sayWay(awaited, posted, asked, taken, rank) {
  const way = { rank, waited: short(taken - asked), flight: short(taken - posted), since: short(asked - posted) };
  if (!awaited) return t("It had come by the time rank {rank} asked for it, {since} ms after it was posted.", way);
  if (asked < posted) return t("Rank {rank} waited {waited} ms for it, of which it was {flight} ms on its way.", way);
  return t("Rank {rank} asked for it while it was on its way, and waited {waited} ms.", way);
}

/** @param {number} x rounded to three digits */
const short = (x) => formatNumber(Number(Math.max(0, x).toPrecision(3)));

/** What a rank of a run held, beside what the plan counts. @param {number} rank @param {Step} step */
export function stepLines(rank, { from, to, level, real }) {
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
