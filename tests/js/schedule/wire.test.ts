// Tests of decoding an order from its bytes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { micros } from "../../../static/js/core/schedule/ops.ts";
import { phasesOf } from "../../../static/js/core/schedule/periodic.ts";
import { decode } from "../../../static/js/core/schedule/wire.ts";
import { DEFAULTS, bytes, wireBody } from "../support/helpers.ts";

const header = {
  spec: { ...DEFAULTS, p: 2, m: 2 },
  placement: "looped",
  chunks: 1,
  counts: 4,
  stored: 0,
  barriers: 0,
  copies: 0,
};
const codes = [0, 0, 3, 3, 0, 3, 0, 3];

test("a body decodes to its spec, its rows and its placement", () => {
  const schedule = decode(wireBody(header, codes));
  assert.deepEqual(schedule.spec, header.spec);
  assert.deepEqual([...schedule.codes], codes);
  assert.deepEqual([...schedule.offsets], [0, 4, 8]);
  assert.equal(schedule.n, 2);
  assert.equal(schedule.placement.stages, 2);
  assert.deepEqual(schedule.micro, []);
});

test("rows of different lengths are sent as one count per rank", () => {
  const schedule = decode(wireBody({ ...header, counts: [3, 5] }, codes));
  assert.deepEqual([...schedule.offsets], [0, 3, 8]);
});

test("a stored column that is not aligned is decoded", () => {
  for (const pad of ["", " ", "  ", "   "]) {
    // the header's length shifts the columns over all four alignments
    const body = wireBody(JSON.stringify({ ...header, stored: 1 }) + pad, codes, [0, 1, 1, 0, 0, 1, 1, 0]);
    assert.deepEqual([...decode(body).micro[0]], [0, 1, 1, 0, 0, 1, 1, 0]);
  }
});

test("a second stored column numbers the backward halves", () => {
  const paired = {
    spec: { ...DEFAULTS, p: 1, m: 2, family: "dualpipe" },
    placement: "bidirectional",
    chunks: 2,
    counts: 2,
    stored: 2,
    barriers: 0,
    copies: 0,
  };
  const schedule = decode(wireBody(paired, [0, 8], [0, 0, -1, 0]));
  assert.deepEqual([...(micros(schedule).second ?? [])], [-1, 0]);
});

test("copies follow with their kind and when they are issued", () => {
  const body = wireBody({ ...header, copies: [2, 0] }, [...codes, 0, 1, ...[1, 0, 0, 0], ...[2, 0, 0, 0]]);
  const { copies, count } = decode(body);
  assert.equal(count, 8);
  assert.deepEqual(copies && [[...copies.codes], [...copies.offsets], [...copies.issued]], [
    [0, 1],
    [8, 10, 10],
    [1, 2],
  ]);
});

const phase = { period: 2, more: 5, begin: [1, 0], end: [17, 18] };
const phased = { ...header, spec: { ...header.spec, m: 9 }, counts: 18, phases: [phase] };
const sent = [0, 0, 3, 0, 3, 0, 3, 3, 0, 3, 0, 3, 0, 3, 0, 3];

test("the blocks of a phase that were not sent are those before them", () => {
  const schedule = decode(wireBody(phased, sent));
  const pairs = (count: number) => Array.from({ length: count }, () => [0, 3]).flat();
  assert.deepEqual([...schedule.codes], [0, ...pairs(8), 3, ...pairs(9)]);
  assert.deepEqual(phasesOf(schedule), [phase]);
  assert.deepEqual(phasesOf({ ...schedule }), []);
});

const garbage: [string, ArrayBuffer, RegExp][] = [
  ["nothing", new ArrayBuffer(0), /0 bytes are too few/],
  ["a header longer than the body", bytes("/////w=="), /claims 4294967295 bytes of 0/],
  ["a header that is no JSON", wireBody("{nonsense", []), /no JSON/],
  ["a header that is a number", wireBody("7", []), /no object/],
  ["no spec", wireBody({ ...header, spec: null }, codes), /no spec/],
  ["p as text", wireBody({ ...header, spec: { ...header.spec, p: "2" } }, codes), /no spec with p and m/],
  ["no chunks", wireBody({ ...header, chunks: 0 }, codes), /chunks is 0/],
  ["a made-up placement", wireBody({ ...header, placement: "ring" }, codes), /unknown placement "ring"/],
  ["three columns", wireBody({ ...header, stored: 3 }, codes), /stored is 3/],
  ["too few counts", wireBody({ ...header, counts: [8] }, codes), /counts/],
  ["a phase that is none", wireBody({ ...phased, phases: [null] }, sent), /no period/],
  ["a phase without a period", wireBody({ ...phased, phases: [{ ...phase, period: 0 }] }, sent), /no period/],
  ["begins for one rank", wireBody({ ...phased, phases: [{ ...phase, begin: [0] }] }, sent), /begin of a phase/],
  ["no block that was sent", wireBody({ ...phased, phases: [{ ...phase, more: 8 }] }, sent), /8 blocks has 8 more/],
  ["a phase beyond its row", wireBody({ ...phased, phases: [{ ...phase, end: [17, 19] }] }, sent), /within its row/],
  ["phases that overlap", wireBody({ ...phased, phases: [phase, phase] }, sent), /within its row/],
  ["phases that are no list", wireBody({ ...phased, phases: 1 }, sent), /phases is no list/],
  ["phases of stored micro-batches", wireBody({ ...phased, stored: 1 }, sent), /stored micro-batches of phases/],
  ["three barriers", wireBody({ ...header, barriers: 3 }, codes), /barriers is 3/],
  ["too few counts of copies", wireBody({ ...header, copies: [1] }, codes), /copies is neither/],
  ["a byte too many", wireBody(header, [...codes, 0]), /bytes where the header asks for/],
  ["a byte too few", wireBody(header, codes.slice(1)), /bytes where the header asks for/],
  ["a code that nothing has", wireBody(header, [...codes.slice(1), 7]), /op 7 has code 7, the limit is 7/],
  [
    "a micro-batch that nothing has",
    wireBody({ ...header, stored: 1 }, codes, [0, 1, 1, 0, 0, 1, 1, 2]),
    /op 7 has micro-batch 2/,
  ],
  [
    "odd m in two directions",
    wireBody({ ...header, spec: { ...header.spec, m: 3 }, placement: "bidirectional", chunks: 2 }, codes),
    /does not divide/,
  ],
];
for (const [name, body, message] of garbage) {
  test(`a body with ${name} is refused with a sentence`, () => assert.throws(() => decode(body), message));
}
