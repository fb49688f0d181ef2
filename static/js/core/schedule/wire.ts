// The bytes of GET /api/schedule to a Schedule.

import { codesPerRank } from "./ops.ts";
import { build } from "./placement.ts";
import { blocksOf, notePhases, withBlocks, type Phase } from "./periodic.ts";
import type { PlacementKind, Schedule, Spec } from "./types.ts";

type SentPhase = Phase & { more: number };
type Header = {
  spec: Spec;
  placement: PlacementKind;
  ranks?: number[];
  chunks: number;
  counts: number | number[];
  stored: number;
  barriers: number;
  copies: number | number[];
  phases?: SentPhase[];
};

const isCount = (x: unknown, least: number) => Number.isInteger(x) && (x as number) >= least;

function refuse(what: string): never {
  throw new Error(`not a schedule: ${what}`);
}

function readHeader(buffer: ArrayBuffer): { header: Header; at: number } {
  if (buffer.byteLength < 4) refuse(`${buffer.byteLength} bytes are too few for a header`);
  const length = new DataView(buffer).getUint32(0, true);
  if (length > buffer.byteLength - 4) refuse(`the header claims ${length} bytes of ${buffer.byteLength - 4}`);
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(buffer, 4, length)));
  } catch {
    return refuse("the header is no JSON");
  }
  if (typeof header !== "object" || header === null) refuse("the header is no object");
  const { spec, chunks, counts, stored, barriers, copies } = header;
  if (typeof spec !== "object" || spec === null || !isCount(spec.p, 1) || !isCount(spec.m, 1)) {
    refuse("the header has no spec with p and m");
  }
  if (!isCount(chunks, 1) || chunks > 64) refuse(`chunks is ${chunks}, not 1 to 64`);
  if (![0, 1, 2].includes(stored)) refuse(`stored is ${stored}, not 0, 1 or 2`);
  if (![0, 1, 2].includes(barriers)) refuse(`barriers is ${barriers}, not 0, 1 or 2`);
  for (const [name, value] of Object.entries({ counts, copies })) {
    const rows = Array.isArray(value) ? value : [value];
    if (!rows.every((c) => isCount(c, 0)) || (Array.isArray(value) && value.length !== spec.p)) {
      refuse(`${name} is neither one number nor one a rank`);
    }
  }
  return { header, at: 4 + length };
}

function offsetsOf(p: number, counts: number | number[], from = 0) {
  const offsets = new Int32Array(p + 1);
  offsets[0] = from;
  for (let r = 0; r < p; r++) offsets[r + 1] = offsets[r] + (typeof counts === "number" ? counts : counts[r]);
  return offsets;
}

/** The rank of each stage; [] where the placement's kind says it. */
function readRanks({ ranks = [], spec, chunks }: Header) {
  const fits = Array.isArray(ranks) && ranks.length <= spec.p * chunks;
  if (!fits || !ranks.every((rank) => isCount(rank, 0) && rank < spec.p)) refuse("ranks are not those of stages");
  return ranks;
}

/** The phases of a header, one block of which was sent of each. */
function readPhases({ phases = [], spec }: Header, offsets: Int32Array) {
  if (!Array.isArray(phases)) refuse("phases is no list");
  const last = new Float64Array(spec.p);
  for (const phase of phases) {
    const { period, more, begin, end } = phase ?? {};
    if (!isCount(period, 1) || !isCount(more, 0)) refuse("a phase has no period or number of blocks");
    for (const [name, row] of Object.entries({ begin, end })) {
      if (!Array.isArray(row) || row.length !== spec.p || !row.every((x) => isCount(x, 0))) {
        refuse(`${name} of a phase is not one number a rank`);
      }
    }
    if (more >= blocksOf(phase)) refuse(`a phase of ${blocksOf(phase)} blocks has ${more} more`);
    for (let r = 0; r < spec.p; r++) {
      if (begin[r] < last[r] || end[r] > offsets[r + 1] - offsets[r]) refuse("a phase is not within its row");
      last[r] = end[r];
    }
  }
  return phases;
}

function checkCodes(codes: Uint8Array, chunks: number) {
  const limit = codesPerRank(chunks);
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] >= limit) refuse(`op ${i} has code ${codes[i]}, the limit is ${limit}`);
  }
}

function checkMicro(micro: Int32Array[], n: number) {
  micro.forEach((column, c) => {
    for (let i = 0; i < column.length; i++) {
      if (column[i] >= n || column[i] < -c) refuse(`op ${i} has micro-batch ${column[i]}, there are ${n}`);
    }
  });
}

/** buffer: the uncompressed body. */
export function decode(buffer: ArrayBuffer): Schedule {
  const { header, at } = readHeader(buffer);
  const { spec, chunks, stored } = header;
  const p = spec.p;
  const offsets = offsetsOf(p, header.counts);
  const count = offsets[p];
  const phases = readPhases(header, offsets);
  const sent = count - phases.reduce((ops, { period, more }) => ops + p * period * more, 0);
  if (stored > 0 && sent < count) refuse("stored micro-batches of phases");
  const copyOffsets = offsetsOf(p, header.copies, count);
  const copyCount = copyOffsets[p] - count;
  const copiesAt = at + sent * (1 + 4 * stored);
  const expected = copiesAt + 5 * copyCount;
  if (buffer.byteLength !== expected) refuse(`${buffer.byteLength} bytes where the header asks for ${expected}`);
  const placement = build(header.placement, p, chunks, readRanks(header));
  const kept = new Uint8Array(buffer.slice(at, at + sent));
  checkCodes(kept, chunks);
  const missing = phases.map(({ more }) => more);
  const codes = sent < count ? withBlocks(kept, offsets, phases, missing) : kept;
  const n = spec.m / placement.streams;
  if (!Number.isInteger(n)) refuse(`m = ${spec.m} does not divide by ${placement.streams} directions`);
  const micro = [];
  for (let c = 0; c < stored; c++) {
    const from = at + count + 4 * count * c; // unaligned on the wire: copy, then view
    micro.push(new Int32Array(buffer.slice(from, from + 4 * count)));
  }
  checkMicro(micro, n);
  const copies =
    copyCount === 0
      ? null
      : {
          offsets: copyOffsets,
          count: copyCount,
          codes: new Uint8Array(buffer.slice(copiesAt, copiesAt + copyCount)),
          issued: new Int32Array(buffer.slice(copiesAt + copyCount, expected)),
        };
  if (copies?.codes.some((code) => code >= 2 * chunks)) refuse("a copy has a code beyond 2 * chunks");
  const schedule = {
    spec,
    placement,
    p,
    m: spec.m,
    n,
    v: spec.v,
    chunks,
    codes,
    offsets,
    micro,
    count,
    barriers: header.barriers,
    copies,
  };
  return notePhases(schedule, phases);
}
