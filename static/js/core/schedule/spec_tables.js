// Tables that the page shares with the server; `python -m backend.web.page_tables` writes them at set-up.
import tables from "../../../vendor/tables.json" with { type: "json" };

/** @import {Constructed} from "./types.js" */

/** Families whose orders are constructed, not searched, in the order of the picker. @type {Constructed[]} */
export const CONSTRUCTED_FAMILIES = /** @type {any} */ (tables.families);

/** The largest sizes, and the most ops of an order. @type {Record<string, number>} */
export const LIMITS = tables.limits;

/** Fields of a spec, in the order of the query. @type {string[]} */
export const SPEC_FIELDS = tables.spec_fields;

/** Fields of a spec's costs. @type {string[]} */
export const COST_KEYS = tables.cost_keys;

/** The family of an order that is in the link itself. @type {string} */
export const IMPORTED = tables.imported;

/**
 * Families by any of their names, in lower case without spaces, hyphens and underscores.
 * @type {Record<string, string>}
 */
export const FAMILY_NAMES = tables.family_names;

/** Families whose every backward updates the weights. @type {string[]} */
export const ASYNCHRONOUS = tables.asynchronous;

/** Entries of the longest list: one per stage. @type {number} */
export const MOST_STAGES = tables.most_stages;

/**
 * Recomputation: the part of F that runs again with I, the part of its activations held until then.
 * @type {Record<string, {extra: number, kept: number}>}
 */
export const RECOMPUTE = tables.recompute;

/** Barriers per micro-batch around S and T, by the place of the output layer. @type {Record<string, number>} */
export const BARRIERS = tables.barriers;

/** Modes of offload. @type {string[]} */
export const OFFLOAD = tables.offload;

/** Modes of offload of one chunk. @type {string[]} */
export const OFFLOAD_OF_CHUNK = tables.offload_of_chunk;

/** Names that models had before, which old links have. @type {Record<string, string>} */
export const MODEL_ALIASES = tables.model_aliases;

/** Fields of a model or a machine: the server's name, the link's key, the form of its value. @type {string[][]} */
export const PRESET_FIELDS = tables.preset_fields;
