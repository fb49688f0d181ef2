// Messages on streams: sends and receives as torch places them, or in the order in which messages become ready. As
// backend/schedule/order/lowering.py and backend/schedule/options/streams.py.

import { memoized } from "../memoized.ts";
import { makers } from "../schedule/dependencies.ts";
import { streamOf } from "../schedule/lanes.ts";
import { KIND_F, KIND_I, KIND_B, KIND_PAIR, chunkOf, codesPerRank, kindOf, micros } from "../schedule/ops.ts";
import { durations, ownTimes, replay } from "../schedule/simulate.ts";
import type { Costs, Messages, Schedule } from "../schedule/types.ts";

/** A message: the result that is sent (2 * slot, 1 more for a gradient), and the ops that make and need it. */
type Sent = { row: number; micro: number; maker: number; taker: number; from: number; to: number };
type End = { row: number; micro: number; receive: number; peer: number; issued: number };

const LEAST = 1e-3; // of the longest op, for which an op without a time counts: what follows it must be later

/** A legal schedule with its messages on streams. */
export function withMessages(schedule: Schedule, costs: Costs, streams: string, receives: string): Schedule {
  if (receives === "placed") return { ...schedule, messages: placed(schedule, costs, streams) };
  const key = `${streams} ${receives}`;
  const known = lowered(schedule);
  const made = known.get(key);
  if (made) return made;
  const ends = torchs(schedule);
  const found = { ...schedule, messages: listed(receives === "deferred" ? deferred(schedule, ends) : ends, streams) };
  known.set(key, found);
  return found;
}

/** What does not depend on the costs is made once. */
const lowered = memoized((_: Schedule) => new Map<string, Schedule>());

/** All messages between ranks, by the flat index of the op that makes each, a pair's activation first. */
const sentBy = memoized((schedule: Schedule) => {
  const { p, n, chunks, codes, offsets, placement } = schedule;
  const { forward, gradient } = makers(schedule);
  const { first, second } = micros(schedule);
  const out: Sent[][] = Array.from({ length: schedule.count }, () => []);
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const send = (slot: number, to: number, back: number, micro: number) => {
        if (to < 0 || Math.floor(to / chunks) === r) return;
        const taker = (back ? gradient : forward)[to * n + micro];
        out[i].push({ row: 2 * slot + back, micro, maker: i, taker, from: r, to: Math.floor(to / chunks) });
      };
      const slot = r * chunks + chunkOf(codes[i], chunks);
      const back = r * chunks + (codes[i] % chunks);
      if (kind === KIND_F || kind === KIND_PAIR) send(slot, placement.next[slot], 0, first[i]);
      if (kind === KIND_I || kind === KIND_B || kind === KIND_PAIR) {
        const to = placement.prev[back];
        // a stage before the first trained one needs no gradient
        if (to >= 0 && gradient[to * n + (kind === KIND_PAIR && second ? second[i] : first[i])] >= 0)
          send(back, to, 1, kind === KIND_PAIR && second ? second[i] : first[i]);
      }
    }
  }
  return out;
});

/** The ops whose results each op needs, of its own rank too. */
function inputsOf(schedule: Schedule): number[][] {
  const { p, n, chunks, codes, offsets, placement } = schedule;
  const { forward, gradient } = makers(schedule);
  const { first, second } = micros(schedule);
  const out: number[][] = [];
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const needs: number[] = [];
      const slot = r * chunks + chunkOf(codes[i], chunks);
      const back = r * chunks + (codes[i] % chunks);
      if ((kind === KIND_F || kind === KIND_PAIR) && placement.prev[slot] >= 0)
        needs.push(forward[placement.prev[slot] * n + first[i]]);
      if (kind === KIND_I || kind === KIND_B || kind === KIND_PAIR) {
        const k = kind === KIND_PAIR && second ? second[i] : first[i];
        needs.push(placement.next[back] < 0 ? forward[back * n + k] : gradient[placement.next[back] * n + k]);
      }
      out.push(needs);
    }
  }
  return out;
}

/** torch's _add_send_recv: rank by rank in turns; a receive is appended where its sender's op is lowered. */
function torchs(schedule: Schedule): End[][] {
  const { p, offsets, count } = schedule;
  const sent = sentBy(schedule);
  const inputs = inputsOf(schedule);
  const ends: End[][] = Array.from({ length: p }, () => []);
  const done = new Uint8Array(count);
  const at = offsets.slice(0, p);
  for (let moved = true; moved;) {
    moved = false;
    for (let r = 0; r < p; r++) {
      const i = at[r];
      if (i === offsets[r + 1] || !inputs[i].every((other) => done[other])) continue;
      done[i] = 1;
      at[r]++;
      moved = true;
      for (const { row, micro, to } of sent[i]) {
        ends[r].push({ row, micro, receive: 0, peer: to, issued: at[r] - offsets[r] });
        ends[to].push({ row, micro, receive: 1, peer: r, issued: at[to] - offsets[to] });
      }
    }
  }
  return ends;
}

/** torch's _defer_recv_ops: until the op that needs it, or until a send to the same rank if that is higher. */
function deferred(schedule: Schedule, ends: End[][]): End[][] {
  const { p, offsets } = schedule;
  const needed = new Map<string, number>(); // the op that takes each message
  for (const each of sentBy(schedule)) for (const { row, micro, taker } of each) needed.set(`${row} ${micro}`, taker);
  return ends.map((list, r) => {
    const program: End[] = [];
    let held: End[] = [];
    const post = (due: (end: End) => boolean, issued: number) => {
      for (const end of held) if (due(end)) program.push({ ...end, issued });
      held = held.filter((end) => !due(end));
    };
    let y = 0;
    for (let i = offsets[r]; r < p && i <= offsets[r + 1]; i++) {
      const done = i - offsets[r];
      for (; y < list.length && list[y].issued <= done; y++) {
        const end = list[y];
        if (end.receive) held.push(end);
        else {
          if (r < end.peer) post(({ peer }) => peer === end.peer, done);
          program.push({ ...end, issued: done });
        }
      }
      const mine = (back: number) => (end: End) => end.row % 2 === back && needed.get(`${end.row} ${end.micro}`) === i;
      if (i < offsets[r + 1]) for (const back of [0, 1]) post(mine(back), done);
    }
    return program;
  });
}

/**
 * In the order in which messages become ready without streams: a send follows its op, a receive is posted with what
 * stands before it on its stream.
 */
function placed(schedule: Schedule, costs: Costs, streams: string): Messages {
  const { p, offsets } = schedule;
  const { end } = replay({ ...schedule, copies: null }, spent(schedule, costs), costs);
  const all = sentBy(schedule).flat();
  all.sort((a, b) => end[a.maker] - end[b.maker] || a.row - b.row || a.micro - b.micro);
  const ends: End[][] = Array.from({ length: p }, () => []);
  for (const { row, micro, maker, from, to } of all) {
    ends[from].push({ row, micro, receive: 0, peer: to, issued: maker - offsets[from] + 1 });
    ends[to].push({ row, micro, receive: 1, peer: from, issued: 0 });
  }
  const found = listed(ends, streams);
  return listed(
    ends.map((list, r) => {
      const latest = new Map<number, number>();
      list.forEach((each, at) => {
        const stream = streamOf(found, found.offsets[r] + at);
        each.issued = Math.max(each.issued, latest.get(stream) ?? 0);
        latest.set(stream, each.issued);
      });
      return list.sort((a, b) => a.issued - b.issued);
    }),
    streams,
  );
}

/** The time of each op, at least a little. */
function spent(schedule: Schedule, costs: Costs) {
  const { p, chunks, codes, offsets, count } = schedule;
  let own: Float64Array;
  if (costs.sized) own = ownTimes(schedule, costs, costs.sized);
  else {
    const took = durations(schedule, costs);
    own = new Float64Array(count);
    for (let r = 0; r < p; r++)
      for (let i = offsets[r]; i < offsets[r + 1]; i++) own[i] = took[r * codesPerRank(chunks) + codes[i]];
  }
  const longest = own.reduce((most, each) => Math.max(most, each), 0);
  const least = longest > 0 ? LEAST * longest : 1;
  return own.map((each) => Math.max(each, least));
}

function listed(ranks: End[][], streams: string): Messages {
  const all = ranks.flat();
  const offsets = new Int32Array(ranks.length + 1);
  ranks.forEach((list, r) => (offsets[r + 1] = offsets[r] + list.length));
  const partner = new Int32Array(all.length);
  const met = new Map<string, number>();
  all.forEach(({ row, micro }, y) => {
    const key = `${row} ${micro}`;
    const other = met.get(key);
    if (other === undefined) met.set(key, y);
    else [partner[y], partner[other]] = [other, y];
  });
  const column = (of: (end: End) => number) => Int32Array.from(all, of);
  return {
    streams,
    row: column(({ row }) => row),
    micro: column(({ micro }) => micro),
    receive: Uint8Array.from(all, ({ receive }) => receive),
    peer: column(({ peer }) => peer),
    issued: column(({ issued }) => issued),
    partner,
    offsets,
  };
}
