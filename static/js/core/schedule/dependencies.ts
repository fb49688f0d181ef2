// Which op makes what, and who waits for it: the dependency rule as links between ops.

import { memoized } from "../memoized.ts";
import { OFFLOAD, RELOAD, copyAt, copyOf } from "./copies.ts";
import { firstEnd, receiveOf } from "./lanes.ts";
import {
  KIND_B,
  KIND_F,
  KIND_I,
  KIND_PAIR,
  KIND_S,
  KIND_T,
  KIND_W,
  chunkOf,
  kindOf,
  micros,
  opText,
  partText,
  rankOf,
} from "./ops.ts";
import { leadOfOp } from "./simulate.ts";
import type { Costs, Schedule } from "./types.ts";

/**
 * Flat op index by slot * n + local micro-batch, of shards by (2 * rank + (0 for S, 1 for T)) * n + it; -1 for none.
 */
type Makers = { forward: Int32Array; gradient: Int32Array; weight: Int32Array; shard: Int32Array };
/**
 * What an op hands on: a stage's output, its input gradient, the last stage's own forward, the own I that a W needs,
 * its part in a barrier that all ranks wait for, or an activation on its way to host memory and back.
 */
type Cargo = "activation" | "gradient" | "loss" | "own" | "barrier" | "copy";
export type Link = {
  i: number; // the other op (or copy)
  cargo: Cargo;
  hops: number; // 1 between ranks, else 0
  by: number; // the flat index of what brings it: the receive of its message on a stream, else the op that makes it
  giver: string; // giver, taker: op texts, of a pair the half that is meant
  taker: string;
};

export const makers = memoized(index);

function index(schedule: Schedule): Makers {
  const { p, chunks, n, codes, offsets, barriers } = schedule;
  const { first, second } = micros(schedule);
  const cells = (rows: number) => new Int32Array(rows * n).fill(-1);
  const out = {
    forward: cells(p * chunks),
    gradient: cells(p * chunks),
    weight: cells(p * chunks),
    shard: cells(barriers ? 2 * p : 0),
  };
  for (let r = 0; r < p; r++) {
    for (let i = offsets[r]; i < offsets[r + 1]; i++) {
      const kind = kindOf(codes[i], chunks);
      const at = (r * chunks + chunkOf(codes[i], chunks)) * n + first[i];
      if (kind === KIND_F || kind === KIND_PAIR) out.forward[at] = i;
      else if (kind === KIND_W) out.weight[at] = i;
      else if (kind >= KIND_S) out.shard[(2 * r + kind - KIND_S) * n + first[i]] = i;
      else out.gradient[at] = i;
      if (kind === KIND_PAIR && second) out.gradient[(r * chunks + (codes[i] % chunks)) * n + second[i]] = i;
    }
  }
  return out;
}

/** The halves of an op: one, or a pair's two. */
function halves(schedule: Schedule, i: number): Half[] {
  const { chunks, codes } = schedule;
  const base = rankOf(schedule, i) * chunks;
  const { first, second } = micros(schedule);
  const kind = kindOf(codes[i], chunks);
  const one = { kind: kind === KIND_PAIR ? KIND_F : kind, slot: base + chunkOf(codes[i], chunks), k: first[i] };
  if (kind !== KIND_PAIR || !second) return [one];
  return [one, { kind: KIND_B, slot: base + (codes[i] % chunks), k: second[i] }];
}

type Half = { kind: number; slot: number; k: number };

/** The slot of the last stage, whose output S needs and whose backward the barriers hold back. */
const lastSlot = ({ placement }: Schedule) => placement.stage.indexOf(placement.stages - 1);

/** What an op waits for. */
export function sources(schedule: Schedule, i: number): Link[] {
  if (i >= schedule.count) return copySources(schedule, i);
  const { placement, n, barriers } = schedule;
  const { forward, gradient } = makers(schedule);
  return halves(schedule, i).flatMap((half) => {
    const { kind, slot, k } = half;
    if (kind === KIND_S) return shardLink(schedule, forward[lastSlot(schedule) * n + k], i, "activation", false);
    if (kind === KIND_T)
      return barrier(schedule, KIND_S, k).flatMap((other) => shardLink(schedule, other, i, "barrier", false));
    if (kind === KIND_W) return link(schedule, gradient[slot * n + k], { kind: KIND_I, slot, k }, half, "own", false);
    const from = kind === KIND_F ? placement.prev[slot] : placement.next[slot];
    if (kind === KIND_F) {
      return from < 0 ? [] : link(schedule, forward[from * n + k], { kind, slot: from, k }, half, "activation", false);
    }
    const back = copyAt(schedule, RELOAD, slot, k);
    const reload = back < 0 ? [] : [copyLink(schedule, back, back, i)];
    if (from >= 0)
      return [
        ...link(schedule, gradient[from * n + k], { kind: KIND_B, slot: from, k }, half, "gradient", false),
        ...reload,
      ];
    if (!barriers)
      return [...link(schedule, forward[slot * n + k], { kind: KIND_F, slot, k }, half, "loss", false), ...reload];
    return barrier(schedule, barriers === 1 ? KIND_S : KIND_T, k).flatMap((other) =>
      shardLink(schedule, other, i, "barrier", false),
    );
  });
}

/** What waits for an op. */
export function targets(schedule: Schedule, i: number): Link[] {
  if (i >= schedule.count) return copyTargets(schedule, i);
  const { placement, n, barriers } = schedule;
  const { forward, gradient, weight } = makers(schedule);
  return halves(schedule, i).flatMap((half) => {
    const { kind, slot, k } = half;
    if (kind === KIND_W) return [];
    if (kind >= KIND_S)
      return behindBarrier(schedule, kind, k).flatMap((other) => shardLink(schedule, other, i, "barrier", true));
    const to = kind === KIND_F ? placement.next[slot] : placement.prev[slot];
    if (kind === KIND_F) {
      const out = copyAt(schedule, OFFLOAD, slot, k);
      const offload = out < 0 ? [] : [copyLink(schedule, out, i, out)];
      if (to >= 0)
        return [...link(schedule, forward[to * n + k], half, { kind, slot: to, k }, "activation", true), ...offload];
      if (barriers)
        return barrier(schedule, KIND_S, k).flatMap((other) => shardLink(schedule, other, i, "activation", true));
      return [...link(schedule, gradient[slot * n + k], half, { kind: KIND_B, slot, k }, "loss", true), ...offload];
    }
    const onward =
      to < 0 ? [] : link(schedule, gradient[to * n + k], half, { kind: KIND_B, slot: to, k }, "gradient", true);
    if (kind !== KIND_I) return onward;
    return [...onward, ...link(schedule, weight[slot * n + k], half, { kind: KIND_W, slot, k }, "own", true)];
  });
}

/** Every rank's S, or T, of a micro-batch: the ops that meet at a barrier. */
export function barrier(schedule: Schedule, kind: number, k: number): number[] {
  const { shard } = makers(schedule);
  return Array.from({ length: schedule.p }, (_, r) => shard[(2 * r + kind - KIND_S) * schedule.n + k]);
}

/** What the barrier after S, or T, lets go on. */
function behindBarrier(schedule: Schedule, kind: number, k: number): number[] {
  const { n, barriers } = schedule;
  const loss = makers(schedule).gradient[lastSlot(schedule) * n + k];
  if (kind === KIND_T) return barriers === 2 ? [loss] : [];
  return barriers === 1 ? [...barrier(schedule, KIND_T, k), loss] : barrier(schedule, KIND_T, k);
}

/**
 * A link around S or T: op `other` is the taker (ahead) or the giver of op i. Passing a barrier is a hop for all ranks.
 */
function shardLink(schedule: Schedule, other: number, i: number, cargo: Cargo, ahead: boolean): Link[] {
  if (other < 0) return [];
  const [giver, taker] = ahead ? [i, other] : [other, i];
  const apart = cargo === "barrier" ? schedule.p > 1 : rankOf(schedule, giver) !== rankOf(schedule, taker);
  return [
    { i: other, cargo, hops: Number(apart), by: giver, giver: opText(schedule, giver), taker: opText(schedule, taker) },
  ];
}

/** A link along an activation's way to host memory and back. i: the other op. */
const copyLink = (schedule: Schedule, i: number, giver: number, taker: number): Link => ({
  i,
  cargo: "copy",
  hops: 0,
  by: giver,
  giver: opText(schedule, giver),
  taker: opText(schedule, taker),
});

function copySources(schedule: Schedule, i: number): Link[] {
  const { kind, slot, micro } = copyOf(schedule, i);
  const from =
    kind === OFFLOAD ? makers(schedule).forward[slot * schedule.n + micro] : copyAt(schedule, OFFLOAD, slot, micro);
  return [copyLink(schedule, from, from, i)];
}

function copyTargets(schedule: Schedule, i: number): Link[] {
  const { kind, slot, micro } = copyOf(schedule, i);
  const to =
    kind === OFFLOAD ? copyAt(schedule, RELOAD, slot, micro) : makers(schedule).gradient[slot * schedule.n + micro];
  return [copyLink(schedule, to, i, to)];
}

/**
 * A link to op i, which is the taker (ahead) or the giver; its half is named as a gradient (B) where it may be an I.
 */
function link(schedule: Schedule, i: number, giver: Half, taker: Half, cargo: Cargo, ahead: boolean): Link[] {
  if (i < 0) return [];
  const { chunks, codes } = schedule;
  const other = ahead ? taker : giver;
  const isI = other.kind === KIND_B && kindOf(codes[i], chunks) === KIND_I;
  const label = (half: Half) => partText(schedule, half.slot, half === other && isI ? KIND_I : half.kind, half.k);
  const hops = Math.floor(giver.slot / chunks) === Math.floor(taker.slot / chunks) ? 0 : 1;
  const end = hops ? receiveOf(schedule, giver.slot, Number(giver.kind !== KIND_F), giver.k) : -1;
  const { forward, gradient } = makers(schedule);
  const maker = (giver.kind === KIND_F ? forward : gradient)[giver.slot * schedule.n + giver.k];
  const by = end < 0 ? maker : firstEnd(schedule) + end;
  return [{ i, cargo, hops, by, giver: label(giver), taker: label(taker) }];
}

/** How long before an input arrives op i may begin: it runs its forward again first. */
export function leadBefore(schedule: Schedule, costs: Costs, { cargo }: Link, i: number) {
  return i < schedule.count && ["gradient", "loss", "barrier"].includes(cargo) ? leadOfOp(schedule, costs, i) : 0;
}
