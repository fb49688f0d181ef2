// Tables that the page shares with the server; `python -m backend.web.page_tables` writes them at set-up.
// Each by its name: a bundle has only those that it uses.
import {
  asynchronous,
  barriers,
  cost_keys,
  families,
  family_names,
  frameworks,
  imported,
  limits,
  model_aliases,
  most_stages,
  offload,
  offload_of_chunk,
  preset_fields,
  receives,
  recompute,
  recompute_at,
  spec_fields,
  streams,
} from "../../../vendor/tables.json";
import type { Constructed } from "./types.ts";

/** Families whose orders are constructed, not searched, in the order of the picker. */
export const CONSTRUCTED_FAMILIES: Constructed[] = families as any;

/** The largest sizes, and the most ops of an order. */
export const LIMITS: Record<string, number> = limits;

/** Fields of a spec, in the order of the query. */
export const SPEC_FIELDS: string[] = spec_fields;

/** Fields of a spec's costs. */
export const COST_KEYS: string[] = cost_keys;

/** The family of an order that is in the link itself. */
export const IMPORTED: string = imported;

/** Families by any of their names, in lower case without spaces, hyphens and underscores. */
export const FAMILY_NAMES: Record<string, string> = Object.assign(Object.create(null), family_names);

/** Families whose every backward updates the weights. */
export const ASYNCHRONOUS: string[] = asynchronous;

/** Entries of the longest list: one per stage. */
export const MOST_STAGES: number = most_stages;

/** Recomputation: the part of F that runs again with I, the part of its activations held until then. */
export const RECOMPUTE: Record<string, { extra: number; kept: number }> = recompute;

/** When that runs again. */
export const RECOMPUTE_AT: string[] = recompute_at;

/** Barriers per micro-batch around S and T, by the place of the output layer. */
export const BARRIERS: Record<string, number> = barriers;

/** Modes of offload. */
export const OFFLOAD: string[] = offload;

/** Modes of offload of one chunk. */
export const OFFLOAD_OF_CHUNK: string[] = offload_of_chunk;

/** Which messages of a rank share a stream, and where receives are posted. */
export const STREAMS: string[] = streams;
export const RECEIVES: string[] = receives;

/** Names that models had before, which old links have. */
export const MODEL_ALIASES: Record<string, string> = model_aliases;

/** Fields of a model or a machine: the server's name, the link's key, the form of its value. */
export const PRESET_FIELDS: string[][] = preset_fields;

/** Names and titles of the frameworks that plans can be limited to. */
export const FRAMEWORKS: string[][] = frameworks;
