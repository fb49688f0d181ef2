// The page sends exactly the parts of a trace that an import reads.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isTable } from "../../../static/js/panels/import/read.ts";
import { looksLikeTrace, slim } from "../../../static/js/core/measured/trace_events.ts";

const op = { ph: "X", pid: 0, tid: 1, name: "PP:2F0", ts: 1, dur: 2 };

test("ops, names and one kernel for each stream are kept, everything else is dropped and counted", () => {
  const kernels = Array.from({ length: 50 }, (_, k) => ({ ph: "X", cat: "kernel", name: `gemm${k}`, ts: k, dur: 1 }));
  const name = { ph: "M", name: "thread_name", args: { name: "rank 0" } };
  const events = [
    op,
    ...kernels,
    { ph: "X", cat: "kernel", name: "void ncclKernel_SendRecv", ts: 0, dur: 99 },
    name,
    { ph: "X", name: "aten::mm", ts: 0, dur: 1 },
    { ph: "i", name: "2F0" },
    { ...op, name: "Forward 3" },
    { ...op, name: "FSDP::all_gather" },
    { ...op, name: "(0F7;7B3)OVERLAP_F_B" },
  ];
  const small = slim({
    traceEvents: events,
    deviceProperties: [{ name: "GPU" }],
    schemaVersion: 1,
    baseTimeNanoseconds: 5,
  });
  assert.deepEqual(small, {
    deviceProperties: [{ name: "GPU" }],
    baseTimeNanoseconds: 5,
    eventCount: events.length,
    traceEvents: [
      op,
      name,
      { ...op, name: "Forward 3" },
      { ph: "X", name: "FSDP::all_gather" },
      { ...op, name: "(0F7;7B3)OVERLAP_F_B" },
      { ph: "X", cat: "kernel", name: "all", pid: undefined, tid: undefined, dur: 50 },
    ],
  });
});

test("with names of one's own every range is kept, and no kernel, operator or call", () => {
  const own = { ph: "X", pid: 0, tid: 0, name: "forward_step", ts: 0, dur: 1, args: { mb: 3 } };
  const other = { ph: "X", cat: "cpu_op", name: "aten::mm", ts: 0, dur: 1 };
  assert.deepEqual(slim([own, other], true).traceEvents, [own]);
  assert.deepEqual(slim([own, other]).traceEvents, []);
});

test("begin and end events stay in pairs, whatever their names", () => {
  const events = [{ ph: "B", name: "step" }, { ph: "B", name: "0F0" }, { ph: "E" }, { ph: "E" }];
  assert.deepEqual(slim(events), { traceEvents: events });
});

test("text that is not a trace is passed on unchanged, for the server to reject", () => {
  for (const other of [null, 3, "x", {}, { traceEvents: 3 }]) assert.deepEqual(slim(other), other);
  assert.deepEqual(slim([3, null]), { traceEvents: [3, null] });
});

test("the text of an order is not a trace", () => {
  assert.ok(looksLikeTrace(' \n{"traceEvents"'));
  assert.ok(looksLikeTrace("[{"));
  assert.ok(!looksLikeTrace("0F0,0F1"));
  assert.ok(!looksLikeTrace("(0F7;7B3)OVERLAP_F_B"));
});

test("a trace whose first line has start, and commas, is no table of measured ops", () => {
  const trace = JSON.stringify([{ ph: "X", name: "0F0", args: { start: 1 } }]);
  const found = [trace, "rank,op,start,end\n0,0F0,0,1\n"].map((text) => isTable({ name: "a", text }));
  assert.deepEqual(found, [false, true]);
});
