// The shapes that the pure modules share.

import type { Message } from "../i18n/language.ts";

/** A number is a device's whole share of layers (an op takes 1/v of it); a list has one entry per stage. */
export type Costs = {
  F: number | number[];
  I: number | number[];
  W: number | number[];
  comm: number;
  FB: number | null;
  S: number | null; // S, T: a rank's shard of the output layer and its gradients
  T: number | null;
  O: number | number[] | null; // one copy to or from host memory
  wire: number; // for how long a message occupies its streams
  R: number | number[] | null; // what recomputation adds to I, where all of a device's share is run again
  sized?: Sized; // of effective costs, where micro-batches differ
  again?: number | number[]; // of effective costs: the part of I that runs the forward again
  lead?: number | number[]; // of effective costs: the part of I for which an op needs no gradient
};
/**
 * sizes: of the micro-batches in the order in which they enter; fixed: the share of an op that is alike for all;
 * spared: how many of the chunks that a rank holds at once keep all; within: of how many it keeps all at most.
 */
export type Sized = { sizes: number[]; fixed: number; spared?: number; within?: number };
/** One word for all chunks of a device, or one of each (per_chunk.ts). */
export type Modes = string | string[];
export type Spec = {
  family: string;
  p: number;
  m: number;
  v: number;
  group: number | null;
  memory: number | null;
  w_share: number;
  lifo: boolean;
  forward_only: boolean;
  frozen: number[] | null; // stages that are not trained, in rising order
  recompute: Modes;
  recompute_at: string; // when it runs again, and how much of it
  spared: number; // of the chunks that a rank holds at once, how many run nothing again
  layers: number[] | null;
  sizes: string | number[] | null; // of micro-batches that differ: a rule, or one each
  fixed: number;
  injection: string | number[];
  replicas: number; // that wait for each other, each with m of the sizes
  deal: string; // which replica takes which
  replica: number; // the one that is shown
  vocabulary: string;
  offload: Modes;
  shared_link: boolean;
  streams: string; // which messages of a rank share a stream
  receives: string; // where receives are posted
  weights: number | null;
  effort: number | null;
  seed: number;
  order: string | null;
  costs: Costs;
};
export type PlacementKind = "looped" | "v" | "bidirectional" | "custom";
/**
 * Arrays by slot = rank * chunks + chunk; prev and next are the neighbouring slots in the same stream, -1 for none.
 * stage is -1 in a slot that its rank does not have: chunks is the most of any rank.
 */
export type Placement = {
  kind: PlacementKind;
  p: number;
  chunks: number;
  stages: number;
  streams: number;
  stage: Int32Array;
  stream: Int8Array;
  prev: Int32Array;
  next: Int32Array;
};
/** One byte per op; rank r is codes[offsets[r]:offsets[r+1]]. micro is [] when the micro-batches are implied. */
export type Schedule = {
  spec: Spec;
  placement: Placement;
  p: number;
  m: number;
  n: number;
  v: number;
  chunks: number;
  codes: Uint8Array;
  offsets: Int32Array;
  micro: Int32Array[];
  count: number;
  barriers: number;
  copies: Copies | null;
  messages?: Messages; // on streams
  base?: boolean; // it lacks what the spec's options place by the costs (../options/apply_options.ts)
};
/**
 * What the copy lanes do: codes are kind * chunks + chunk, kind 0 offload, 1 reload; Flat indices of copies go on where
 * those of the schedule's ops end: rank r's are offsets[r] to offsets[r+1], and offsets[0] is the schedule's count.
 */
export type Copies = {
  codes: Uint8Array;
  offsets: Int32Array;
  issued: Int32Array; // how many compute ops its rank has done when a copy is issued
  count: number;
};
/**
 * The ends of messages, rank after rank in the sequence of its program, rank r's from offsets[r] to offsets[r+1]. row:
 * of the result that is sent, 2 * slot, 1 more for a gradient; micro: in the slot; receive: 1 for the receiving end;
 * peer: the rank at the other end; issued: the ops of its rank before it; partner: the other end. Their flat indices go
 * on where those of the copies end.
 */
export type Messages = {
  streams: string;
  row: Int32Array;
  micro: Int32Array;
  receive: Uint8Array;
  peer: Int32Array;
  issued: Int32Array;
  partner: Int32Array;
  offsets: Int32Array;
};
/**
 * By flat op index. Arrays may be longer than the schedule. An op of a live run that has not been reported yet has
 * start = end = Infinity, so a rank's ends always ascend.
 */
export type Times = { start: Float64Array; end: Float64Array; makespan: number };
/** A formula: a number, a name, or [op, operand, ...]. */
export type Tree = number | string | [string, ...any[]];
export type Vars = Record<string, number>;
export type Law = {
  formula: Tree;
  where: [Tree, string][];
  name?: string;
  quantity?: string;
  window?: string;
  source?: string;
  when?: Tree | null;
};
/** A sentence or label of the server, for tr(). */
export type Text = Message | string;
export type ChunkRange = { min: number; default: number; max: number };
/** The rows of a family, see backend/schedule/families/table.py. */
export type Table = {
  rows: [Tree, string][];
  slots: [string, Tree][];
  let: [string, Tree][];
  group: Tree;
  mirrored: Tree;
  last_first: Tree;
};
/** The slots of F and I of micro-batch 0, as F0, I0, F1, I1. */
export type BlockTable = { due: Record<string, Tree>; period: number; lag: Tree; let: [string, Tree][] };
/** Holds for every legal spec; else the field is refused. */
export type Rule = {
  field: "p" | "m" | "group" | "memory";
  where: Tree;
  code: string;
  template: string;
  holes: Record<string, Tree>;
};
/** What the page knows of every family. */
type AnyFamily = {
  name: string;
  title: string;
  placement: PlacementKind;
  v: ChunkRange;
  fields: string[];
  backward: "full" | "split" | "both";
  asynchronous: boolean;
  shaped_by_costs: boolean;
  vocabulary: string[];
  block: BlockTable | null;
  legal: Rule[];
};
/** A family whose orders the page constructs, from its table or, without one, from its block. */
export type Constructed = AnyFamily & { ops: Tree | null; table: Table | null };
/** As /api/families lists it. */
export type Family = AnyFamily & {
  year: number;
  source: Text;
  used_by: Text;
  group: Text;
  summary: Text;
  complexity: Text;
  searched: boolean;
  laws: Law[];
};
/** The answer of /api/families. */
export type Catalogue = { families: Family[]; defaults: Spec };
/** A refused request. */
export type SpecError = {
  field: string;
  value: unknown;
  message: string;
  code?: string;
  params?: Record<string, any>;
  limit?: unknown;
  nearest?: unknown; // the nearest legal value, null for none
};
/** index = position in the rank's row, i = flat index. */
export type OpRef = { rank: number; index: number; i: number };
