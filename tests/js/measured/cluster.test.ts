// Tests of the figures derived from the state of a cluster.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withCosts } from "../../../static/js/core/measured/calibration.ts";
import {
  busyOf,
  hopTime,
  latencyRange,
  latencyText,
  membersOf,
  micros,
  ranksByHost,
  ranksText,
  roomOf,
  type Host,
} from "../../../static/js/core/measured/cluster.ts";
import { DEFAULTS } from "../support/helpers.ts";

const host = (name: string, total: number, free: number, alive = true): Host => ({
  name,
  address: "10.0.0.1",
  alive,
  head: false,
  cpus: { total, free },
  gpus: { total: 0, free: 0 },
  memory: { total: 1, free: 1 },
  ranks: [],
});
const LINKS = [
  { from: 0, to: 1, latency_ns: 38_460, uncertainty_ns: 1400 },
  { from: 1, to: 2, latency_ns: 182_000, uncertainty_ns: 0 },
];

test("busy cores are the cores that are not free, between zero and the total", () => {
  assert.deepEqual(
    [
      { total: 4, free: 1 },
      { total: 4, free: 5 },
      { total: 4, free: -1 },
      { total: 2, free: 2 - 4 / 3 },
      undefined,
    ].map(busyOf),
    [3, 0, 4, 1.33, 0],
  );
});

test("lost hosts are not counted", () => {
  assert.deepEqual(roomOf([host("a", 4, 1), host("b", 8, 8, false), host("c", 2, 2)], "cpus"), { total: 6, free: 3 });
});

test("ranks are listed by host in the order of their first rank, neighbours as a range", () => {
  assert.deepEqual(ranksByHost(["b", "a", "b"]), [
    { host: "b", ranks: [0, 2] },
    { host: "a", ranks: [1] },
  ]);
  assert.deepEqual([[0], [0, 1], [0, 1, 2, 3, 6], []].map(ranksText), ["0", "0, 1", "0–3, 6", ""]);
});

test("latencies have three digits, and an uncertainty where there is one", () => {
  assert.deepEqual([999, 38_460, 1_234_567].map(micros), ["0.999", "38.5", "1230"]);
  assert.deepEqual(LINKS.map(latencyText), ["38.5 (+1.4) µs", "182 µs"]);
  assert.equal(latencyRange(LINKS), "38.5 to 182 µs");
  assert.equal(latencyRange(LINKS.slice(1)), "182 µs");
});

test("the plan's hop is as long as the longest link, in the run's unit, and unknown without a unit or links", () => {
  assert.equal(hopTime(LINKS, 20), 0.0091);
  assert.equal(hopTime([{ ...LINKS[0], latency_ns: 1_234_567 }], 1), 1.235);
  assert.deepEqual([hopTime(LINKS, null), hopTime([], 20), hopTime(null, 20)], [null, null, null]);
});

test("a measured hop is set in the schedule that ran, whose costs then no longer follow a model", () => {
  const others = [{ ...DEFAULTS, family: "gpipe" }];
  const spec = { ...others[0], costs: { ...others[0].costs, comm: 0.0091 } };
  const before = { spec: DEFAULTS, others, preset: { model: "x" } };
  assert.deepEqual({ ...before, ...withCosts(before, spec, 1) }, { spec: DEFAULTS, others: [spec], preset: null });
});

test("the available devices change when hosts join or leave, or the cluster is lost", () => {
  const up = { engine: "ray", state: "up", hosts: [host("a", 1, 1), host("b", 1, 0)] };
  const busy = { ...up, hosts: [host("a", 1, 0), host("b", 1, 1)] };
  const fewer = { ...up, hosts: [host("a", 1, 0), host("b", 1, 1, false)] };
  assert.equal(membersOf(up), membersOf(busy));
  assert.equal(new Set([null, up, fewer, { ...up, state: "lost" }].map(membersOf)).size, 4);
});
