// The messages between ranks: which op sends what to which, by sender and by receiver, and how long each is in flight.
// A barrier is no message (all ranks meet in it).

import { memoized } from "../memoized.ts";
import { leadBefore, makers, sources } from "../schedule/dependencies.ts";
import { firstEnd, receiveOf } from "../schedule/lanes.ts";
import { KIND_B, KIND_F, KIND_I, KIND_PAIR, chunkOf, kindOf, micros, rankOf } from "../schedule/ops.ts";
import type { Costs, Schedule, Times } from "../schedule/types.ts";

/**
 * By number, in the order of the givers' flat indices, so that those of a rank stand together, rank r's from offsets[r]
 * to offsets[r + 1], and are sent in ascending order of time.
 */
export type Messages = {
  giver: Int32Array;
  taker: Int32Array;
  gradient: Uint8Array; // 1, or 0 for an activation
  from: Int32Array; // from, to: ranks
  to: Int32Array;
  by: Int32Array; // the flat index of its receive on a stream, else of the giver
  count: number;
  offsets: Int32Array;
};
/** Numbers of messages by receiver, in the order they are sent. */
type Inbox = { list: Int32Array; offsets: Int32Array };

export const messagesOf = /* @__PURE__ */ memoized(collect);

function collect(schedule: Schedule): Messages {
  const { p, n, chunks, codes, offsets: rows, count, placement, barriers } = schedule;
  const { forward, gradient, shard } = makers(schedule);
  const { first, second } = micros(schedule);
  const kinds = Uint8Array.from({ length: 256 }, (_, code) => kindOf(code, chunks));
  const room = 2 * count + (barriers ? p * n : 0);
  const out = {
    giver: new Int32Array(room),
    taker: new Int32Array(room),
    gradient: new Uint8Array(room),
    from: new Int32Array(room),
    to: new Int32Array(room),
    by: new Int32Array(room),
  };
  const offsets = new Int32Array(p + 1);
  let size = 0;
  const send = (giver: number, taker: number, back: number, from: number, to: number, receive = -1) => {
    if (taker < 0 || from === to) return;
    out.by[size] = receive < 0 ? giver : firstEnd(schedule) + receive;
    out.giver[size] = giver;
    out.taker[size] = taker;
    out.gradient[size] = back;
    out.from[size] = from;
    out.to[size++] = to;
  };
  for (let r = 0; r < p; r++) {
    for (let i = rows[r]; i < rows[r + 1]; i++) {
      const kind = kinds[codes[i]];
      if (kind === KIND_F || kind === KIND_PAIR) {
        const slot = r * chunks + chunkOf(codes[i], chunks);
        const next = placement.next[slot];
        const receive = receiveOf(schedule, slot, 0, first[i]);
        if (next >= 0) send(i, forward[next * n + first[i]], 0, r, Math.floor(next / chunks), receive);
        else for (let home = 0; barriers && home < p; home++) send(i, shard[2 * home * n + first[i]], 0, r, home);
      }
      if (kind === KIND_I || kind === KIND_B || kind === KIND_PAIR) {
        const previous = placement.prev[r * chunks + (codes[i] % chunks)];
        const k = kind === KIND_PAIR && second ? second[i] : first[i];
        const receive = receiveOf(schedule, r * chunks + (codes[i] % chunks), 1, k);
        if (previous >= 0) send(i, gradient[previous * n + k], 1, r, Math.floor(previous / chunks), receive);
      }
    }
    offsets[r + 1] = size;
  }
  return {
    giver: out.giver.subarray(0, size),
    taker: out.taker.subarray(0, size),
    gradient: out.gradient.subarray(0, size),
    from: out.from.subarray(0, size),
    to: out.to.subarray(0, size),
    by: out.by.subarray(0, size),
    count: size,
    offsets,
  };
}

/** Until when a message is in flight: a measured one is there, at the latest, when its op begins. */
export function arrives({ taker, by }: Messages, { start, end }: Times, costs: Costs, at: number) {
  const left = end[by[at]];
  if (costs.lead !== undefined) return left + costs.comm; // its op may begin before
  return Math.min(left + costs.comm, Math.max(left, start[taker[at]]));
}

/**
 * When, before op i of a plan, its rank is idle while the message that it waits for is on its last hop; null where none
 * is. A wait ends when a message arrives, except before an op that runs its forward again first or waits for a copy.
 */
export function flightBefore(schedule: Schedule, { start, end }: Times, costs: Costs, i: number) {
  const from = i > schedule.offsets[rankOf(schedule, i)] ? end[i - 1] : 0;
  if (!(start[i] - from > 1e-9)) return null;
  let arrival = start[i];
  if (schedule.copies || costs.lead !== undefined) {
    let begins = -Infinity;
    for (const link of sources(schedule, i)) {
      const there = end[link.by] + (link.hops ? costs.comm : 0);
      const lead = leadBefore(schedule, costs, link, i);
      if (there - lead <= begins) continue;
      begins = there - lead;
      arrival = link.hops ? there : Infinity;
    }
  }
  const flight = { from: Math.max(from, arrival - costs.comm), to: Math.min(start[i], arrival) };
  return flight.to > flight.from ? flight : null;
}

/** The longest time for which a planned message is under way. */
export const longestFlight = (schedule: Schedule, times: Times, costs: Costs) => {
  const stood = schedule.messages ? longestInLine(times, messagesOf(schedule)) : 0;
  return stood + costs.comm;
};

const longestInLine = /* @__PURE__ */ memoized(({ end }: Times, { giver, by }: Messages) =>
  giver.reduce((most, each, at) => Math.max(most, end[by[at]] - end[each]), 0),
);

/** What each rank receives. */
export const inbox = (schedule: Schedule, times: Times) => received(times, schedule);

const received = /* @__PURE__ */ memoized(sortIn);

/** Those of one sender are in order already; a receiver has few senders, so its lists are merged. */
function sortIn({ end }: Times, schedule: Schedule): Inbox {
  const { p } = schedule;
  const { giver, from, to, count } = messagesOf(schedule);
  /** By receiver, then by sender. */
  const heaps: Map<number, number[]>[] = Array.from({ length: p }, () => new Map());
  for (let at = 0; at < count; at++) {
    const of = heaps[to[at]];
    const list = of.get(from[at]);
    if (list) list.push(at);
    else of.set(from[at], [at]);
  }
  const offsets = new Int32Array(p + 1);
  const list = new Int32Array(count);
  heaps.forEach((heap, r) => {
    const merged = [...heap.values()].reduce((a, b) => merge(a, b, (at) => end[giver[at]]), [] as number[]);
    list.set(merged, offsets[r]);
    offsets[r + 1] = offsets[r] + merged.length;
  });
  return { list, offsets };
}

function merge(a: number[], b: number[], when: (at: number) => number): number[] {
  if (!a.length) return b;
  const out = new Array(a.length + b.length);
  for (let x = 0, y = 0, at = 0; at < out.length; at++) {
    out[at] = y >= b.length || (x < a.length && when(a[x]) <= when(b[y])) ? a[x++] : b[y++];
  }
  return out;
}
