// The bytes and messages of a measured run by op and by message: the bytes that each op received and sent, the
// activations alive after it, and when each message was posted by its sender, asked for and had by its receiver.

import { memoized } from "../memoized.ts";
import { makers } from "../schedule/dependencies.ts";
import { messagesOf } from "../timeline/message_flow.ts";
import type { Schedule } from "../schedule/types.ts";
import type { BytesRow, MessageRow } from "./rows.ts";

type DetailRows = { bytes?: BytesRow[]; messages?: MessageRow[] };
export type Details = {
  received: Float64Array; // received, sent, live: bytes by flat op index
  sent: Float64Array;
  live: Float64Array;
  /** posted, asked, taken, size: ns and bytes by number of message; NaN where nothing is known (yet) */
  posted: Float64Array;
  asked: Float64Array;
  taken: Float64Array;
  size: Float64Array;
};
/**
 * The measured messages of each rank in one direction, ascending by when each begins, in ns, and the longest of them:
 * sent ones begin when posted and end when they are known to have arrived, received ones last as long as they were
 * waited for.
 */
type MessageSide = {
  list: Int32Array;
  offsets: Int32Array;
  begin: (message: number) => number;
  end: (message: number) => number;
  longest: number;
};

const MOMENT = 0.1;

const unknown = (count: number) => new Float64Array(count).fill(NaN);

export function noDetails(schedule: Schedule): Details {
  const { count } = messagesOf(schedule);
  return {
    received: unknown(schedule.count),
    sent: unknown(schedule.count),
    live: unknown(schedule.count),
    posted: unknown(count),
    asked: unknown(count),
    taken: unknown(count),
    size: unknown(count),
  };
}

/** The details with more rows in them, as a new object, since caches are keyed by it. */
export function withRows(schedule: Schedule, details: Details, { bytes = [], messages = [] }: DetailRows): Details {
  const { p, offsets } = schedule;
  for (const { rank, index, received, sent, live } of bytes) {
    const i = offsets[rank] + index;
    if (!(rank >= 0 && rank < p && index >= 0 && i < offsets[rank + 1])) continue;
    details.received[i] = received;
    details.sent[i] = sent;
    details.live[i] = live;
  }
  for (const row of messages) {
    const at = numberOf(schedule, row);
    if (at < 0) continue;
    details.posted[at] = row.posted;
    details.asked[at] = row.asked;
    details.taken[at] = row.taken;
    details.size[at] = row.bytes;
  }
  return { ...details };
}

/** The number of the message that a row is about, -1 for none. */
function numberOf(schedule: Schedule, { source, target, gradient, stage, micro }: MessageRow) {
  const { n, m, chunks, placement } = schedule;
  if (!(micro >= 0 && micro < m && stage >= 0 && stage < placement.stages)) return -1;
  const { slots, numbers } = table(schedule);
  const stream = Math.floor(micro / n);
  const slot = slots[stage * placement.streams + stream];
  if (slot < 0 || Math.floor(slot / chunks) !== target) return -1;
  const { forward, gradient: backward } = makers(schedule);
  const taker = (gradient ? backward : forward)[slot * n + micro - stream * n];
  const at = taker < 0 ? -1 : numbers[2 * taker + (gradient ? 1 : 0)];
  return at >= 0 && messagesOf(schedule).from[at] === source ? at : -1;
}

/** Slots by stage and stream; numbers of messages by the op that takes them, activations and gradients apart. */
const table = /* @__PURE__ */ memoized((schedule: Schedule) => {
  const { placement, count } = schedule;
  const slots = new Int32Array(placement.stages * placement.streams).fill(-1);
  placement.stage.forEach((stage, slot) => {
    slots[stage * placement.streams + placement.stream[slot]] = slot;
  });
  const numbers = new Int32Array(2 * count).fill(-1);
  const all = messagesOf(schedule);
  for (let at = 0; at < all.count; at++) numbers[2 * all.taker[at] + all.gradient[at]] = at;
  return { slots, numbers };
});

/**
 * Whether the receiver was waiting for a message, so that it arrived when it was taken. Taking one that had arrived
 * before takes time too, but a negligible part of the time since it was posted.
 */
export const wasAwaited = ({ posted, asked, taken }: Details, at: number) =>
  taken[at] - asked[at] > (taken[at] - posted[at]) * MOMENT;

/** The messages of all ranks by direction. */
export const sidesOf = (schedule: Schedule, details: Details) => sides(details, schedule);

const sides = /* @__PURE__ */ memoized((details: Details, schedule: Schedule) => {
  const { from, to } = messagesOf(schedule);
  const { posted, asked, taken } = details;
  const arrived = (at: number) => (wasAwaited(details, at) ? taken[at] : posted[at]);
  const had = (at: number) => Math.max(asked[at], taken[at]);
  return {
    sent: side(schedule.p, from, (at) => posted[at], arrived),
    received: side(schedule.p, to, (at) => asked[at], had),
  };
});

/** rank: by message. */
function side(p: number, rank: Int32Array, begin: (at: number) => number, end: (at: number) => number): MessageSide {
  const lists: number[][] = Array.from({ length: p }, () => []);
  let longest = 0;
  for (let at = 0; at < rank.length; at++) {
    if (!(begin(at) <= end(at))) continue; // not measured (yet)
    lists[rank[at]].push(at);
    longest = Math.max(longest, end(at) - begin(at));
  }
  const offsets = new Int32Array(p + 1);
  lists.forEach((list, r) => {
    list.sort((a, b) => begin(a) - begin(b));
    offsets[r + 1] = offsets[r] + list.length;
  });
  return { list: Int32Array.from(lists.flat()), offsets, begin, end, longest };
}
