// Tests of the devices and pace chosen for a run, with the reason, and of plans calibrated by a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calibrated, verdict } from "../../../static/js/core/measured/calibration.ts";
import { lacking, whereRuns } from "../../../static/js/core/measured/devices.ts";
import type { Choice, Device, Devices } from "../../../static/js/core/measured/devices.ts";
import { DEFAULTS } from "../support/helpers.ts";

const ready = (devices: Device[], choices: Choice[]): Devices => ({ state: "ready", why: "", devices, choices });
const choice = (from: number, to: number, device: string, mode: string): Choice => ({ from, to, device, mode });
const cpu = (cores: number, host?: string): Device => ({ kind: "cpu", cores, host });
const gpu = (name: string, host?: string): Device => ({ kind: "cuda", name, host });

const TWO_CORES = ready([cpu(2)], [choice(1, 2, "cpu", "free"), choice(3, 64, "cpu", "paced")]);
const TWO_GPUS = ready(
  [cpu(16), gpu("H100"), gpu("H100")],
  [choice(1, 2, "cuda", "free"), choice(3, 64, "cuda", "paced")],
);
const ONE_GPU = ready([cpu(16), gpu("H100")], [choice(1, 1, "cuda", "free"), choice(2, 64, "cuda", "paced")]);
const CLUSTER: Devices = {
  ...ready([cpu(4, "a"), cpu(8, "b"), gpu("GPU", "b")], [choice(1, 12, "cpu", "free")]),
  engine: "ray",
};
const MISSING = { ...ready([], []), state: "missing", why: "torch is not installed." };
const DOWN = { ...TWO_CORES, state: "down", why: "The runner does not start: no torch." };

/** What holds; devices, ranks, chosen mode and device; the sentence, or a part of it. */
const sentences: [string, [Devices, number, string, string?], string][] = [
  [
    "more ranks than cores are paced, and the sentence has both numbers and the reason",
    [TWO_CORES, 8, "auto"],
    "2 CPU cores for 8 ranks: paced, since ranks that share a core would hold each other up.",
  ],
  ["each rank may have a core", [TWO_CORES, 2, "auto"], "2 CPU cores for 2 ranks: free, since each rank has its own."],
  ["a chosen pace has its cost", [TWO_CORES, 8, "free"], "free, as chosen; ranks that share a core hold each other up"],
  ["a chosen pace may cost nothing", [TWO_CORES, 2, "free"], "free, as chosen; each rank has its own"],
  ["a chosen pace is described as chosen", [TWO_CORES, 2, "paced"], "paced, as chosen"],
  ["GPUs are named", [TWO_GPUS, 2, "auto"], "2 × H100 for 2 ranks: free, since each rank has its own."],
  [
    "GPUs are shared where there are fewer than ranks",
    [TWO_GPUS, 4, "auto"],
    "2 × H100 shared by 4 ranks, threads of one process: paced, since ranks that share a GPU would hold each other up.",
  ],
  [
    "shared GPUs may be free",
    [ONE_GPU, 4, "free", "cuda"],
    ": free, as chosen; ranks that share a GPU hold each other up",
  ],
  [
    "on a cluster GPUs may be fewer than ranks",
    [CLUSTER, 4, "auto"],
    "Fewer GPUs (1) than ranks, so on the CPU. 12 CPU cores for 4 ranks: free",
  ],
  ["shared GPUs may be paced", [ONE_GPU, 4, "paced", "cuda"], ": paced, as chosen"],
  [
    "a chosen CPU is named",
    [ONE_GPU, 1, "auto", "cpu"],
    "16 CPU cores for 1 ranks: free, since each rank has its own.",
  ],
  ["the cores of all hosts count", [CLUSTER, 12, "auto", "cpu"], "12 CPU cores for 12 ranks: free, since"],
  [
    "on a cluster no GPU is shared",
    [CLUSTER, 4, "auto", "cuda"],
    "On a cluster every rank has a GPU of its own; there are 1 for 4 ranks.",
  ],
  ["a runner may be starting", [{ ...TWO_CORES, state: "starting" }, 4, "auto"], "is starting"],
  ["a runner that is down has a reason", [DOWN, 4, "auto"], "The runner does not start: no torch."],
  ["a run has a limit of ranks", [TWO_CORES, 65, "auto"], "65 ranks are more than"],
];
for (const [name, asked, sentence] of sentences)
  test(`where a run would be: ${name}`, () => assert.ok(whereRuns(...asked).includes(sentence), whereRuns(...asked)));

test("nothing is missing where a runner is ready, starting or down, or has said nothing yet", () =>
  assert.deepEqual([TWO_CORES, DOWN, null, MISSING].map(lacking), ["", "", "", "torch is not installed."]));

test("a runner without devices gives no sentence", () =>
  assert.equal(whereRuns({ ...TWO_CORES, choices: [] }, 4, "auto"), ""));

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
