// Small schedules made here, without a server, a seeded generator for property tests, and answers to tests in Python.

import { createInterface } from "node:readline";

import { fromRows } from "../../../static/js/core/families/from_rows.ts";
import { build } from "../../../static/js/core/schedule/placement.ts";
import { candidates } from "../../../static/js/core/workbench/legality.ts";
import { createBoard, type Position } from "../../../static/js/core/workbench/position.ts";
import type { Costs, PlacementKind, Schedule, Spec } from "../../../static/js/core/schedule/types.ts";

export const UNIT: Costs = { F: 1, I: 1, W: 1, comm: 0, FB: null, S: null, T: null, O: null, R: null, wire: 0 };

export const DEFAULTS: Spec = {
  family: "1f1b",
  p: 4,
  m: 8,
  v: 1,
  group: null,
  memory: null,
  w_share: 1,
  lifo: false,
  forward_only: false,
  frozen: null,
  recompute: "none",
  layers: null,
  sizes: null,
  fixed: 0,
  injection: "given",
  replicas: 1,
  deal: "given",
  replica: 0,
  vocabulary: "plain",
  offload: "none",
  shared_link: false,
  recompute_at: "backward",
  spared: 0,
  streams: "none",
  receives: "torch",
  weights: null,
  effort: null,
  seed: 1,
  order: null,
  costs: UNIT,
};

/** A schedule with implied micro-batches from each rank's codes. */
export function schedule(
  kind: PlacementKind,
  chunks: number,
  m: number,
  rows: number[][],
  spec: Partial<Spec> = {},
): Schedule {
  const p = rows.length;
  const v = kind === "bidirectional" ? 1 : chunks;
  const codes = rows.map((row) => Uint8Array.from(row));
  return fromRows(build(kind, p, chunks), m, v, codes, { ...DEFAULTS, p, m, v, ...spec });
}

const repeat = (count: number, pattern: number[]) => Array.from({ length: Math.max(0, count) }, () => pattern).flat();

const [F, I, W, B] = [0, 1, 2, 3];

export const oneFOneB = (p: number, m: number) =>
  schedule(
    "looped",
    1,
    m,
    Array.from({ length: p }, (_, r) => {
      const warm = Math.min(m, p - 1 - r);
      return [...repeat(warm, [F]), ...repeat(m - warm, [F, B]), ...repeat(warm, [B])];
    }),
  );

/** m: at least p. */
export const zbH1 = (p: number, m: number) =>
  schedule(
    "looped",
    1,
    m,
    Array.from({ length: p }, (_, r) => {
      const warm = p - 1 - r;
      return [
        ...repeat(warm, [F]),
        ...repeat(r, [F, I]),
        ...repeat(m - warm - r, [F, I, W]),
        ...repeat(warm, [I, W]),
        ...repeat(r, [W]),
      ];
    }),
    { family: "zb-h1" },
  );

/** Breadth first over v chunks: all forwards, then all backwards. */
export const breadthFirst = (p: number, m: number, v: number) =>
  schedule(
    "looped",
    v,
    m,
    Array.from({ length: p }, () => [
      ...Array.from({ length: v }, (_, c) => repeat(m, [F * v + c])).flat(),
      ...Array.from({ length: v }, (_, c) => repeat(m, [B * v + (v - 1 - c)])).flat(),
    ]),
    { family: "interleaved", v },
  );

/** Two ranks, two micro-batches, a shard of the output layer on each. */
export const spread = (barriers: 1 | 2) => {
  const [S, T] = [5, 6];
  const order = schedule(
    "looped",
    1,
    2,
    [
      [F, F, S, T, S, T, B, B],
      [F, S, F, S, T, T, B, B],
    ],
    { vocabulary: barriers === 2 ? "parallel-1" : "parallel-2" },
  );
  return { ...order, barriers };
};

/** One rank, two micro-batches, whose activations go out and come back. */
export const offloaded = () => ({
  ...schedule("looped", 1, 2, [[F, F, B, B]], { offload: "full" }),
  copies: {
    codes: Uint8Array.of(0, 0, 1, 1),
    offsets: Int32Array.of(4, 8),
    issued: Int32Array.of(1, 2, 2, 3),
    count: 4,
  },
});

/** A board of the workbench. */
export const board = (spec: Partial<Spec>, kind: PlacementKind = "looped") =>
  createBoard({ ...DEFAULTS, family: "imported", ...spec }, kind);

/** Boards of every placement. */
export const boards = (costs: Costs = UNIT) =>
  (
    [
      [1, "looped"],
      [2, "looped"],
      [2, "v"],
      [1, "bidirectional"],
    ] as [number, PlacementKind][]
  ).map(([v, kind]) => board({ p: 4, m: 8, v, costs }, kind));

/** The next ops that a rank may do. */
export const legalNext = (position: Position, rank: number) =>
  candidates(position, rank).filter(({ reason }) => !reason);

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
export function seeded(seed: number) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The bytes of base64 as their own buffer. */
export function bytes(text: string): ArrayBuffer {
  const data = Buffer.from(text, "base64");
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
}

/** Answers each line of JSON on the standard input with one on the standard output, in order. */
export async function answerLines(answer: (asked: any) => unknown) {
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim()) process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
}

/** A wire body. */
export function wireBody(header: object | string, codes: number[], micro: number[] = []): ArrayBuffer {
  const head = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const columns = Buffer.from(Int32Array.from(micro).buffer);
  return bytes(Buffer.concat([length, head, Buffer.from(codes), columns]).toString("base64"));
}
