// The figures of a simulated step in an engineer's units: seconds, tokens, FLOP utilisation, bytes on each device. The
// chunks of a device are counted as equally large. The same as backend/schedule/hardware/step_units.py. Knows no DOM.
import { peakMemory, holding } from "../../core/schedule/memory.ts";
import { valuesOf } from "../../core/schedule/per_chunk.ts";
import { ASYNCHRONOUS, BARRIERS } from "../../core/schedule/spec_tables.ts";
import type { Priced } from "./api.ts";
import type { Schedule, Spec, Times } from "../../core/schedule/types.ts";

/** A plan, as far as needed. */
type Drawn = { schedule: Schedule | null; shown: Spec | null; times: Times | null };
/** In bytes. */
export type DeviceMemory = {
  ranks: number[];
  rank: number; // the one that needs the most
  held: number; // micro-batches' activations that it holds at its peak
  parts: [string, number][]; // of it
  most: number;
  limit: number;
  fits: boolean;
  states: number[]; // of each rank without activations
  activations: number[]; // of one micro-batch on each rank
  caps: number[]; // activations for which each rank has room, in units of one micro-batch's on a device
};
export type StepUnits = {
  seconds: number;
  tokens: number; // in a step, of all replicas
  mfu: number; // the model's FLOP over what the devices could compute in that time
  devices: number;
  memory: DeviceMemory;
};

const STATES = ["weights", "gradients", "optimizer"];
const INFERENCE = ["weights"];
const FORWARD = 3; // the FLOP of a layer's forward, backward included, over those of the forward

/** Null where the costs are not those of the schedule (yet). */
export function stepUnits(priced: Priced | undefined, { schedule, shown, times }: Drawn): StepUnits | null {
  if (!priced || !schedule || !shown || !times) return null;
  if (priced.bytes.stages.parameters.length !== schedule.placement.stages) return null;
  const { setting, flop } = priced;
  const { model, machine, tp, data } = setting;
  const seconds = times.makespan / 1000;
  const withOutput = setting.heads || shown.vocabulary !== "plain";
  const whole = shown.m * (flop.layers + (withOutput ? flop.output : 0));
  const work = shown.forward_only ? whole / FORWARD : whole;
  return {
    seconds,
    tokens: model.micro_batch * model.sequence * shown.m * data,
    mfu: work / (seconds * shown.p * tp * machine.flops),
    devices: shown.p * tp * data,
    memory: deviceMemory(priced, schedule, shown, times),
  };
}

function deviceMemory(
  { bytes, setting, options }: Priced,
  schedule: Schedule,
  shown: Spec,
  times: Times,
): DeviceMemory {
  const { p, placement } = schedule;
  const kept = valuesOf<number>(shown.recompute, bytes.kept_by_recompute);
  // a stashed weight version, in micro-batches' activations
  const weights = shown.weights ?? (ASYNCHRONOUS.includes(shown.family) ? options.weights : 0);
  const peaks = peakMemory(schedule, times, { ...holding(shown), kept, weights });
  const sizes = Array.from({ length: p }, (_, rank) => sizesOf(bytes.stages, placement, rank));
  const tables = Array.from({ length: p }, (_, rank) => tablesOf(bytes.table, shown, placement, rank, setting.heads));
  const names = shown.forward_only ? INFERENCE : STATES;
  const each = names.map((name) => bytes.per_parameter[name]);
  const state = each.reduce((sum, x) => sum + x, 0);
  const states = sizes.map(({ parameters }, rank) => state * (parameters + tables[rank]));
  const ranks = sizes.map(({ activations }, rank) => states[rank] + peaks[rank] * activations);
  const most = Math.max(...ranks);
  const rank = ranks.indexOf(most);
  const { activations, parameters } = sizes[rank];
  return {
    ranks,
    rank,
    held: peaks[rank],
    parts: [
      ...names.map((name, at) => [name, each[at] * (parameters + tables[rank])] as [string, number]),
      ["activations", peaks[rank] * activations],
    ],
    most,
    limit: bytes.limit,
    fits: most <= bytes.limit,
    states,
    activations: sizes.map((size) => size.activations),
    caps: sizes.map((size, r) =>
      size.activations > 0 ? Math.max(0, bytes.limit - states[r]) / size.activations : Infinity,
    ),
  };
}

/** Activations of a micro-batch and parameters of the stages on a rank. */
function sizesOf(
  stages: { activations: number[]; parameters: number[] },
  { chunks, stage, streams }: Schedule["placement"],
  rank: number,
) {
  let [activations, parameters] = [0, 0];
  for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++) {
    activations += stages.activations[stage[slot]];
    parameters += stages.parameters[stage[slot]];
  }
  return { activations: activations / streams, parameters };
}

/** Parameters of the embedding and the output layer on a rank, where they are not counted with its stages. */
function tablesOf(
  table: number,
  { vocabulary, p }: Spec,
  { chunks, stage, stages }: Schedule["placement"],
  rank: number,
  heads: boolean,
) {
  if (BARRIERS[vocabulary]) return (2 * table) / p;
  if (vocabulary !== "redistribute" || heads) return 0;
  let ends = 0;
  for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++)
    if (stage[slot] === 0 || stage[slot] === stages - 1) ends++;
  return table * ends;
}
