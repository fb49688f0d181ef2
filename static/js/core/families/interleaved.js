// Interleaved schedules: v chunks per device, micro-batches in groups. The same rows as
// backend/schedule/families/interleaved and grouped.
import { alternate, concatenate, eachRank, phases } from "./rows.js";
import { KIND_B as B, KIND_F as F, KIND_I as I, KIND_W as W } from "../schedule/ops.js";

/** @import {Spec} from "../schedule/types.js" */
/** @import {Phase, Row} from "./rows.js" */

/** The given g, else torch's rule: m spread over as many rounds as there are whole groups of p.
 * @param {Pick<Spec, "p" | "m" | "group">} spec */
export const groupSize = ({ p, m, group }) => group ?? Math.floor(m / Math.max(1, Math.floor(m / p)));

/** Half the devices, the group of GIS-H. @param {number} p */
export const halfGroup = (p) => Math.floor((p + 1) / 2);

/**
 * The chunk of each of the m*v forwards: chunk 0 for the g micro-batches of a group, then chunk 1 for the same g, ...
 * The backwards use the chunks in reverse.
 * @param {number} m @param {number} v @param {number} g @returns {Row}
 */
function chunkSequence(m, v, g) {
  const chunks = Array.from({ length: v }, (_, chunk) => chunk);
  const group = (/** @type {number} */ size) =>
    phases(...chunks.map((chunk) => /** @type {Phase} */ ([size, [chunk]])));
  return phases([Math.floor(m / g), group(g)], [1, group(m % g)]);
}

/** The codes of a kind of backward for a sequence of chunks. @param {number} kind @param {number} v
 * @param {Row} sequence */
const backwards = (kind, v, sequence) => sequence.map((chunk) => kind * v + v - 1 - chunk);

/** @param {number} v @param {Row} sequence */
const forwards = (v, sequence) => sequence.map((chunk) => F * v + chunk);

/** Interleaved 1F1B: rank r warms up with (v-1)g forwards for its own chunks and two for every rank after it.
 * @param {Spec} spec @returns {Row[]} */
export function interleaved(spec) {
  const { p, m, v } = spec;
  const g = groupSize(spec);
  const sequence = chunkSequence(m, v, g);
  const [forward, backward] = [forwards(v, sequence), backwards(B, v, sequence)];
  return eachRank(p, (r) => {
    const warmup = Math.min(m * v, (v - 1) * g + 2 * (p - 1 - r));
    const steady = m * v - warmup;
    return concatenate(
      forward.subarray(0, warmup), // warm-up
      alternate(forward.subarray(warmup), backward.subarray(0, steady)), // steady
      backward.subarray(steady), // cool-down
    );
  });
}

/** Breadth-first, every rank alike: each chunk's F of all micro-batches, then each chunk's B, chunks in reverse.
 * @param {Spec} spec @returns {Row[]} */
export function breadthFirst({ p, m, v }) {
  const chunks = Array.from({ length: v }, (_, chunk) => chunk);
  const row = phases(
    ...chunks.map((chunk) => /** @type {Phase} */ ([m, [F * v + chunk]])),
    ...chunks.map((chunk) => /** @type {Phase} */ ([m, [B * v + v - 1 - chunk]])),
  );
  return eachRank(p, () => row);
}

/** Interleaved zero bubble: rank r warms up with (v-1)g forwards and one for every rank after it; its W lags its I by
 * r. @param {Spec} spec @returns {Row[]} */
export function interleavedZb(spec) {
  const { p, m, v } = spec;
  const g = groupSize(spec);
  const sequence = chunkSequence(m, v, g);
  const [forward, inputs, weights] = [forwards(v, sequence), backwards(I, v, sequence), backwards(W, v, sequence)];
  const total = m * v;
  return eachRank(p, (r) => {
    const warmup = Math.min(total, (v - 1) * g + p - 1 - r);
    const [steady, lag] = [total - warmup, Math.min(r, total)];
    const [early, both] = [Math.min(lag, steady), Math.max(lag, steady)];
    return concatenate(
      forward.subarray(0, warmup),
      alternate(forward.subarray(warmup, warmup + early), inputs.subarray(0, early)),
      alternate(forward.subarray(warmup + early), inputs.subarray(early, steady), weights.subarray(0, steady - early)),
      inputs.subarray(steady, both), // W still lags when the forwards are over
      alternate(inputs.subarray(both), weights.subarray(both - lag, total - lag)),
      weights.subarray(total - lag),
    );
  });
}

/**
 * GIS: rank r warms up with (v-1)g forwards and one for every rank after it, then F, I, W in turn.
 * @param {Spec} spec @param {number} g p micro-batches in a group, or half as many in GIS-H @returns {Row[]}
 */
export function grouped({ p, m, v }, g) {
  const sequence = chunkSequence(m, v, g);
  const [forward, inputs, weights] = [forwards(v, sequence), backwards(I, v, sequence), backwards(W, v, sequence)];
  return eachRank(p, (r) => {
    const warmup = Math.min(m * v, (v - 1) * g + p - 1 - r);
    const steady = m * v - warmup;
    return concatenate(
      forward.subarray(0, warmup),
      alternate(forward.subarray(warmup), inputs.subarray(0, steady), weights.subarray(0, steady)),
      alternate(inputs.subarray(steady), weights.subarray(steady)),
    );
  });
}
