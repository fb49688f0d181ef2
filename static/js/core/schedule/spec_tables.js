// Tables that the page and the server share.
// Written from the server's by `python -m tests.support.page_tables`.

/**
 * Fields of a spec, in the order of the query.
 * @type {string[]}
 */
export const SPEC_FIELDS = [
  "family",
  "p",
  "m",
  "v",
  "group",
  "memory",
  "w_share",
  "lifo",
  "forward_only",
  "recompute",
  "layers",
  "vocabulary",
  "offload",
  "shared_link",
  "weights",
  "effort",
  "seed",
  "F",
  "I",
  "W",
  "comm",
  "FB",
  "S",
  "T",
  "O",
  "order",
];

/**
 * Fields of a spec's costs.
 * @type {string[]}
 */
export const COST_KEYS = ["F", "I", "W", "comm", "FB", "S", "T", "O"];

/**
 * The family of an order that is in the link itself.
 * @type {string}
 */
export const IMPORTED = "imported";

/**
 * Families by any of their names, in lower case without spaces, hyphens and underscores.
 * @type {Record<string, string>}
 */
export const FAMILY_NAMES = {
  "gpipe": "gpipe",
  "afab": "gpipe",
  "schedulegpipe": "gpipe",
  "1f1b": "1f1b",
  "onefoneb": "1f1b",
  "dapple": "1f1b",
  "pipedreamflush": "1f1b",
  "schedule1f1b": "1f1b",
  "pipedream": "pipedream",
  "interleaved": "interleaved",
  "interleaved1f1b": "interleaved",
  "1f1binterleaved": "interleaved",
  "scheduleinterleaved1f1b": "interleaved",
  "interleavedbfs": "interleaved-bfs",
  "loopedbreadthfirst": "interleaved-bfs",
  "breadthfirst": "interleaved-bfs",
  "loopedbfs": "interleaved-bfs",
  "scheduleloopedbfs": "interleaved-bfs",
  "interleavedzb": "interleaved-zb",
  "interleavedzerobubble": "interleaved-zb",
  "scheduleinterleavedzerobubble": "interleaved-zb",
  "zbh1": "zb-h1",
  "zerobubbleh1": "zb-h1",
  "zbh2": "zb-h2",
  "zerobubbleh2": "zb-h2",
  "zbauto": "zb-auto",
  "vmin": "v-min",
  "vhalf": "v-half",
  "vzb": "v-zb",
  "zbv": "v-zb",
  "zbvzerobubble": "v-zb",
  "schedulezbvzerobubble": "v-zb",
  "vauto": "v-auto",
  "chimera": "chimera",
  "dualpipe": "dualpipe",
  "dualpipev": "dualpipev",
  "scheduledualpipev": "dualpipev",
  "chimeraauto": "chimera-auto",
  "gis": "gis",
  "gish": "gis-h",
  "imported": "imported",
  "importedorder": "imported",
};

/**
 * Families whose every backward updates the weights.
 * @type {string[]}
 */
export const ASYNCHRONOUS = ["pipedream"];

/**
 * Entries of the longest list: one per stage.
 * @type {number}
 */
export const MOST_STAGES = 65536;

/**
 * Recomputation: the part of F that runs again with I, the part of its activations held until then.
 * @type {Record<string, {extra: number, kept: number}>}
 */
export const RECOMPUTE = {
  "none": {"extra": 0.0, "kept": 1.0},
  "selective": {"extra": 0.02702702702702703, "kept": 0.2982456140350877},
  "full": {"extra": 1.0, "kept": 0.058823529411764705},
};

/**
 * Barriers per micro-batch around S and T, by the place of the output layer.
 * @type {Record<string, number>}
 */
export const BARRIERS = {
  "plain": 0,
  "redistribute": 0,
  "parallel-1": 2,
  "parallel-2": 1,
  "interlaced": 2,
};

/**
 * Modes of offload.
 * @type {string[]}
 */
export const OFFLOAD = ["none", "selective", "full"];

/**
 * Modes of offload of one chunk.
 * @type {string[]}
 */
export const OFFLOAD_OF_CHUNK = ["none", "full"];

/**
 * Names that models had before, which old links have.
 * @type {Record<string, string>}
 */
export const MODEL_ALIASES = {
  "llama3-7b": "llama3-8b",
  "llama3-405b": "llama3.1-405b",
  "deepseek-v3-671b": "deepseek-v3",
};

/**
 * Fields of a model or a machine: the server's name, the link's key, the form of its value.
 * @type {[string, string, string][]}
 */
export const PRESET_FIELDS = [
  ["layers", "layers", "layers"],
  ["hidden", "hidden", "whole"],
  ["attention_heads", "attn", "whole"],
  ["kv_heads", "kv", "whole?"],
  ["ffn", "ffn", "whole?"],
  ["head_width", "width", "whole?"],
  ["vocabulary", "vocab", "whole"],
  ["parameters", "active", "positive?"],
  ["stored", "stored", "positive?"],
  ["gated", "gated", "truth"],
  ["flash", "flash", "truth"],
  ["flops", "flops", "positive"],
  ["memory", "memory", "positive"],
  ["hbm_bandwidth", "hbm", "positive"],
  ["intra_bandwidth", "intra", "positive"],
  ["inter_bandwidth", "inter", "positive"],
  ["host_bandwidth", "host", "positive"],
  ["intra_latency", "intra_s", "atLeastZero"],
  ["inter_latency", "inter_s", "atLeastZero"],
  ["per_node", "node", "whole"],
];
