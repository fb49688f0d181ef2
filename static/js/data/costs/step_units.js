// The figures of a simulated step in an engineer's units: seconds, tokens, FLOP utilisation, bytes on each device. The
// chunks of a device are counted as equally large. The same as backend/schedule/hardware/step_units.py. Knows no DOM.
import { peakMemory, holding } from "../../core/schedule/memory.js";
import { valuesOf } from "../../core/schedule/per_chunk.js";
import { ASYNCHRONOUS, BARRIERS } from "../../core/schedule/spec_tables.js";

/** @import {Priced} from "./api.js" */
/** @import {Schedule, Spec, Times} from "../../core/schedule/types.js" */
/** @typedef {{schedule: Schedule | null, shown: Spec | null, times: Times | null}} Drawn  a plan, as far as needed */
/**
 * @typedef {object} DeviceMemory  in bytes
 * @property {number[]} ranks
 * @property {number} rank     the one that needs the most
 * @property {number} held     micro-batches' activations that it holds at its peak
 * @property {[string, number][]} parts of it
 * @property {number} most
 * @property {number} limit
 * @property {boolean} fits
 * @property {number[]} states       of each rank without activations
 * @property {number[]} activations  of one micro-batch on each rank
 * @property {number[]} caps   activations for which each rank has room, in units of one micro-batch's on a device
 */
/**
 * @typedef {object} StepUnits
 * @property {number} seconds
 * @property {number} tokens   in a step, of all replicas
 * @property {number} mfu      the model's FLOP over what the devices could compute in that time
 * @property {number} devices
 * @property {DeviceMemory} memory
 */

const STATES = ["weights", "gradients", "optimizer"];
const INFERENCE = ["weights"];
const FORWARD = 3; // the FLOP of a layer's forward, backward included, over those of the forward

/**
 * null where the costs are not those of the schedule (yet).
 * @param {Priced | undefined} priced
 * @param {Drawn} plan
 * @returns {StepUnits | null}
 */
export function stepUnits(priced, { schedule, shown, times }) {
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

/**
 * @param {Priced} priced
 * @param {Schedule} schedule
 * @param {Spec} shown
 * @param {Times} times
 * @returns {DeviceMemory}
 */
function deviceMemory({ bytes, setting, options }, schedule, shown, times) {
  const { p, placement } = schedule;
  const kept = valuesOf(shown.recompute, bytes.kept_by_recompute);
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
      ...names.map((name, at) => /** @type {[string, number]} */ ([name, each[at] * (parameters + tables[rank])])),
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

/**
 * Activations of a micro-batch and parameters of the stages on a rank.
 * @param {{activations: number[], parameters: number[]}} stages
 * @param {Schedule["placement"]} placement
 * @param {number} rank
 */
function sizesOf(stages, { chunks, stage, streams }, rank) {
  let [activations, parameters] = [0, 0];
  for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++) {
    activations += stages.activations[stage[slot]];
    parameters += stages.parameters[stage[slot]];
  }
  return { activations: activations / streams, parameters };
}

/**
 * Parameters of the embedding and the output layer on a rank, where they are not counted with its stages.
 * @param {number} table
 * @param {Spec} shown
 * @param {Schedule["placement"]} placement
 * @param {number} rank
 * @param {boolean} heads
 */
function tablesOf(table, { vocabulary, p }, { chunks, stage, stages }, rank, heads) {
  if (BARRIERS[vocabulary]) return (2 * table) / p;
  if (vocabulary !== "redistribute" || heads) return 0;
  let ends = 0;
  for (let slot = rank * chunks; slot < (rank + 1) * chunks; slot++)
    if (stage[slot] === 0 || stage[slot] === stages - 1) ends++;
  return table * ends;
}
