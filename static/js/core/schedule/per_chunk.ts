// Modes of an option: one word for all chunks of a device, or one word per chunk, first chunk first. A list that means
// the same as a word is replaced by it. Recomputation and offload are chosen this way. The same as
// backend/schedule/options/per_chunk.py.

import type { Modes, Spec } from "./types.ts";

export const PER_CHUNK = ["recompute", "offload"];
const HALF = "selective"; // of offload

/** Offload of each chunk, none or full; "selective" is the first half, rounded up. */
export function offloadOfChunks(offload: Modes, chunks: number): string[] {
  if (typeof offload !== "string") return offload;
  if (offload !== HALF) return new Array(chunks).fill(offload);
  return Array.from({ length: chunks }, (_, chunk) => (chunk < (chunks + 1) >> 1 ? "full" : "none"));
}

/**
 * The word that means the same as a mode of each chunk; the modes themselves if there is none. name: recompute or
 * offload.
 */
export function inOneWord(name: string, modes: string[]): Modes {
  if (modes.every((mode) => mode === modes[0])) return modes[0];
  const half = name === "offload" && offloadOfChunks(HALF, modes.length).every((mode, chunk) => mode === modes[chunk]);
  return half ? HALF : modes;
}

/** The spec with its modes as words where there are such words. */
export function inWords(spec: Spec): Spec {
  const { recompute, offload, v } = spec;
  const word = (name: string, modes: Modes) =>
    typeof modes === "string" || modes.length !== v ? modes : inOneWord(name, modes);
  return { ...spec, recompute: word("recompute", recompute), offload: word("offload", offload) };
}

/** The mode of each stage. */
export const ofStages = (modes: Modes, stages: number): string[] =>
  Array.from({ length: stages }, (_, stage) =>
    typeof modes === "string" ? modes : modes[Math.floor((stage * modes.length) / stages)],
  );

/**
 * The modes of the same parts of the model if each device has v chunks; the first one's of a larger part. name:
 * recompute or offload.
 */
export const overChunks = (name: string, modes: Modes, v: number): Modes =>
  typeof modes === "string" ? modes : inOneWord(name, ofStages(modes, v));

/** The spec with v chunks on a device, the same parts of the model in the same modes. */
export const withChunks = (spec: Spec, v: number): Spec => ({
  ...spec,
  v,
  recompute: overChunks("recompute", spec.recompute, v),
  offload: overChunks("offload", spec.offload, v),
});

/** What a table has for a word, or for the word of each chunk. */
export const valuesOf = <T>(modes: Modes, table: Record<string, T>): T | T[] =>
  typeof modes === "string" ? table[modes] : modes.map((mode) => table[mode]);
