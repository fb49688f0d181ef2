// The figures of a simulated step in an engineer's units: seconds, tokens, FLOP utilisation, and bytes on each device,
// whose chunks have the sizes of their stages. The same as backend/schedule/hardware/step_units.py. Knows no DOM.
import { keptByChunk, peakMemory, holding } from "../../core/schedule/memory.ts";
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
  held: number[]; // micro-batches' activations that each rank holds at its peak
  parts: { name: string; ranks: number[] }[]; // of the memory of each rank
  most: number;
  limit: number;
  fits: boolean;
  states: number[]; // of each rank without activations
  activations: number[]; // of one micro-batch on each rank
  caps: number[]; // activations for which each rank has room, in units of one micro-batch's on a device
};
export type StepUnits = {
  seconds: number; // of the pipeline
  tail: number; // seconds of what follows its last backward
  rate: number; // tokens per second, with what follows the last backward
  tokens: number; // in a step, of all replicas
  mfu: number; // the model's FLOP over what the devices could compute in that time, with all scores of the attention
  mfuCausal: number; // without the scores above the diagonal
  devices: number;
  memory: DeviceMemory;
};

const STATES = ["weights", "gradients", "optimizer"];
const INFERENCE = ["weights"];
const FORWARD = 3; // the FLOP of a layer's forward, backward included, over those of the forward

/** Null where the costs are not those of the schedule (yet). */
export function stepUnits(priced: Priced | undefined, { schedule, shown, times }: Drawn): StepUnits | null {
  if (!priced || !schedule || !shown || !times) return null;
  if (priced.bytes.stages.weights.length !== schedule.placement.stages) return null;
  const { setting, flop } = priced;
  const { model, machine, tp, context, data } = setting;
  const seconds = times.makespan / 1000;
  const tail = shown.forward_only ? 0 : tailOf(priced, schedule.placement, shown) / 1000;
  const whole = seconds + tail;
  const tokens = model.micro_batch * model.sequence * shown.m * data;
  const withOutput = setting.heads || shown.vocabulary !== "plain";
  const work = flop.layers + (withOutput ? flop.output : 0);
  const parts = shown.m / (shown.forward_only ? FORWARD : 1);
  const peak = setting.fp8 ? machine.fp8_flops : machine.flops;
  const most = whole * shown.p * tp * context * peak;
  return {
    seconds,
    tail,
    tokens,
    rate: tokens / whole,
    mfu: (work * parts) / most,
    mfuCausal: ((work - flop.masked) * parts) / most,
    devices: shown.p * tp * context * data,
    memory: deviceMemory(priced, schedule, shown, times),
  };
}

/** The milliseconds behind the pipeline on the device whose stages take most. */
function tailOf({ tails, setting }: Priced, placement: Schedule["placement"], shown: Spec) {
  const { stages, table } = tails[placement.streams - 1];
  const each = Array.from(
    { length: shown.p },
    (_, rank) => onRank(stages, placement, rank) + tablesOf(table, shown, placement, rank, setting),
  );
  return Math.max(...each);
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
  // one layer of a chunk at a time, but all of it where no backward follows at once
  const restored = shown.recompute_at === "backward" ? Math.min(1, (p * shown.v) / setting.model.layers) : 1;
  const own = chunksOf(bytes, schedule, kept, shown.v);
  const peaks = peakMemory(schedule, times, { ...holding(shown), kept, weights, restored, ranks: own });
  const names = shown.forward_only ? INFERENCE : STATES;
  const everyRank = <T>(of: (rank: number) => T) => Array.from({ length: p }, (_, rank) => of(rank));
  const activations = everyRank((rank) => onRank(bytes.stages.activations, placement, rank) / placement.streams);
  const parts = names.map((name) =>
    everyRank(
      (rank) =>
        onRank(bytes.stages[name], placement, rank) + tablesOf(bytes.table[name], shown, placement, rank, setting),
    ),
  );
  const states = everyRank((rank) => parts.reduce((sum, part) => sum + part[rank], 0) + bytes.reserve);
  const logits = BARRIERS[shown.vocabulary] ? bytes.logits / p : 0;
  const held = everyRank((rank) => peaks[rank] * activations[rank] + logits);
  const ranks = everyRank((rank) => states[rank] + held[rank]);
  const most = Math.max(...ranks);
  const rank = ranks.indexOf(most);
  return {
    ranks,
    rank,
    held: Array.from(peaks),
    parts: [
      ...names.map((name, at) => ({ name, ranks: parts[at] })),
      { name: "activations", ranks: held },
      { name: "reserve", ranks: everyRank(() => bytes.reserve) },
    ],
    most,
    limit: bytes.limit,
    fits: most <= bytes.limit,
    states,
    activations,
    caps: activations.map((size, r) => (size > 0 ? Math.max(0, bytes.limit - states[r] - logits) / size : Infinity)),
  };
}

/** Of each rank the sizes of its chunks in a mean one's, and what recomputation keeps: of layers, all of the rest. */
function chunksOf(
  { stages }: Priced["bytes"],
  { p, placement }: Schedule,
  kept: number | number[],
  v: number,
): { size: number[]; kept: number[] }[] {
  const { chunks, streams } = placement;
  const byChunk = keptByChunk(kept, chunks);
  return Array.from({ length: p }, (_, rank) => {
    const own = Array.from(placement.stage.slice(rank * chunks, (rank + 1) * chunks));
    const mean = onRank(stages.activations, placement, rank) / (streams * v);
    return {
      size: own.map((stage) => (mean > 0 ? stages.activations[stage] / mean : 1)),
      kept: own.map((stage, chunk) => {
        const all = stages.activations[stage];
        return byChunk[chunk] + (1 - byChunk[chunk]) * (all > 0 ? stages.outputs[stage] / all : 0);
      }),
    };
  });
}

/** The sum of a size over the stages on a rank. */
function onRank(sizes: number[], { chunks, stage }: Schedule["placement"], rank: number) {
  let sum = 0;
  for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++) sum += sizes[stage[slot]];
  return sum;
}

/**
 * What the embedding and the output layer take on a rank beside what is counted with its stages; less than nothing
 * where it has both and they are one table.
 */
function tablesOf(
  [embedding, output]: number[],
  { vocabulary, p }: Spec,
  { chunks, stage, stages }: Schedule["placement"],
  rank: number,
  { heads, model: { tied } }: Priced["setting"],
) {
  const both = tied ? Math.min(embedding, output) : 0;
  if (BARRIERS[vocabulary]) return (embedding + output - both) / p;
  const own = stage.slice(rank * chunks, (rank + 1) * chunks);
  const [first, last] = [own.includes(0), own.includes(stages - 1)];
  const added = vocabulary === "redistribute" && !heads;
  const shared = first && last && (heads || added);
  return (added ? Number(first) * embedding + Number(last) * output : 0) - (shared ? both : 0);
}
