// Tests of the devices and pace chosen for a run, with the reason, and of plans calibrated by a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calibrated, verdict } from "../../../static/js/core/measured/calibration.ts";
import { whereRuns, type Devices } from "../../../static/js/core/measured/devices.ts";
import { DEFAULTS } from "../support/helpers.ts";

const TWO_CORES: Devices = {
  state: "ready",
  why: "",
  devices: [{ kind: "cpu", cores: 2 }],
  choices: [
    { from: 1, to: 2, device: "cpu", mode: "free" },
    { from: 3, to: 64, device: "cpu", mode: "paced" },
  ],
};

test("more ranks than cores are paced, and the sentence has both numbers and the reason", () => {
  assert.equal(
    whereRuns(TWO_CORES, 8, "auto"),
    "2 CPU cores for 8 ranks: paced, since ranks that share a core would hold each other up.",
  );
  assert.equal(whereRuns(TWO_CORES, 2, "auto"), "2 CPU cores for 2 ranks: free, since each rank has its own.");
});

test("a chosen pace is described as chosen, with its cost", () => {
  assert.match(whereRuns(TWO_CORES, 8, "free"), /free, as chosen; ranks that share a core hold each other up/);
  assert.match(whereRuns(TWO_CORES, 2, "free"), /free, as chosen; each rank has its own/);
  assert.match(whereRuns(TWO_CORES, 2, "paced"), /paced, as chosen/);
});

test("GPUs are named where every rank has one, and described as too few otherwise", () => {
  const devices = [
    { kind: "cpu", cores: 16 },
    { kind: "cuda", name: "H100" },
    { kind: "cuda", name: "H100" },
  ];
  const choices = [
    { from: 1, to: 2, device: "cuda", mode: "free" },
    { from: 3, to: 16, device: "cpu", mode: "free" },
  ];
  assert.equal(
    whereRuns({ state: "ready", why: "", devices, choices }, 2, "auto"),
    "2 × H100 for 2 ranks: free, since each rank has its own.",
  );
  assert.match(
    whereRuns({ state: "ready", why: "", devices, choices }, 4, "auto"),
    /^Fewer GPUs \(2\) than ranks, so on the CPU. 16 CPU cores for 4 ranks: free/,
  );
});

test("chosen GPUs are shared where there are fewer than ranks, and a chosen CPU is named", () => {
  const devices = [
    { kind: "cpu", cores: 16 },
    { kind: "cuda", name: "H100" },
  ];
  const one: Devices = {
    state: "ready",
    why: "",
    devices,
    choices: [
      { from: 1, to: 1, device: "cuda", mode: "free" },
      { from: 2, to: 16, device: "cpu", mode: "free" },
    ],
  };
  assert.equal(
    whereRuns(one, 4, "auto", "cuda"),
    "1 × H100 shared by 4 ranks, threads of one process: free; ranks that share a GPU hold each other up.",
  );
  assert.match(whereRuns(one, 4, "paced", "cuda"), /: paced, as chosen/);
  assert.equal(whereRuns(one, 1, "auto", "cpu"), "16 CPU cores for 1 ranks: free, since each rank has its own.");
});

test("the cores of all hosts count together, and on a cluster no GPU is shared", () => {
  const devices = [
    { kind: "cpu", cores: 4, host: "a" },
    { kind: "cpu", cores: 8, host: "b" },
    { kind: "cuda", name: "GPU", host: "b" },
  ];
  const hosts: Devices = {
    state: "ready",
    why: "",
    engine: "ray",
    devices,
    choices: [{ from: 1, to: 12, device: "cpu", mode: "free" }],
  };
  assert.equal(whereRuns(hosts, 12, "auto", "cpu"), "12 CPU cores for 12 ranks: free, since each rank has its own.");
  assert.equal(
    whereRuns(hosts, 4, "auto", "cuda"),
    "On a cluster every rank has a GPU of its own; there are 1 for 4 ranks.",
  );
});

test("a runner that is not ready is starting or has a reason; one without devices gives no sentence", () => {
  assert.match(whereRuns({ ...TWO_CORES, state: "starting" }, 4, "auto"), /is starting/);
  assert.equal(
    whereRuns({ ...TWO_CORES, state: "down", why: "The runner does not start: no torch." }, 4, "auto"),
    "The runner does not start: no torch.",
  );
  assert.equal(whereRuns({ ...TWO_CORES, choices: [] }, 4, "auto"), "");
  assert.match(whereRuns(TWO_CORES, 65, "auto"), /65 ranks are more than/);
});

test("a calibrated plan has the run's costs instead of a model's, and the other schedules are unchanged", () => {
  const others = [{ ...DEFAULTS, family: "gpipe" }];
  const spec = { ...DEFAULTS, costs: { ...DEFAULTS.costs, F: [1.1, 1.2, 1.3, 1.4] } };
  const before = { spec: DEFAULTS, others, preset: { model: "x" }, view: { at: 3 } };
  const after = {
    ...before,
    ...calibrated(before, { spec, predicted: { makespan: 1 }, measured: { makespan: 1 }, error: 0 }),
  };
  assert.deepEqual(after, { spec, others, preset: null, view: { at: 3 } });
  assert.equal(after.others, others);
  const second = {
    ...before,
    ...calibrated(before, { spec, predicted: { makespan: 1 }, measured: { makespan: 1 }, error: 0 }, 1),
  };
  assert.deepEqual(
    [second.spec, second.others],
    [DEFAULTS, [spec]],
    "where the second schedule was run, that one has the costs",
  );
});

test("half a per cent is equal, more is longer or shorter", () => {
  assert.deepEqual([0.0049, -0.0049, 0.0051, -0.0051].map(verdict), ["equal", "equal", "longer", "shorter"]);
});
