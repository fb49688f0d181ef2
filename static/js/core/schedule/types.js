// The shapes that the pure modules share.

/**
 * @typedef {{F: number|number[], I: number|number[], W: number|number[], comm: number, FB: number|null,
 *   S: number|null, T: number|null, O: number|number[]|null}} Costs
 *   S, T: a rank's shard of the output layer and its gradients; O: one copy to or from host memory.
 *   A number is a device's whole share of layers (an op takes 1/v of it); a list has one entry per stage.
 *
 * @typedef {string|string[]} Modes  one word for all chunks of a device, or one of each (per_chunk.js)
 *
 * @typedef {{family: string, p: number, m: number, v: number, group: number|null, memory: number|null,
 *   w_share: number, lifo: boolean, forward_only: boolean, recompute: Modes, layers: number[]|null,
 *   vocabulary: string, offload: Modes, shared_link: boolean, weights: number|null, effort: number|null,
 *   seed: number, order: string|null, costs: Costs}} Spec
 *
 * @typedef {"looped"|"v"|"bidirectional"} PlacementKind
 *
 * @typedef {{kind: PlacementKind, p: number, chunks: number, stages: number, streams: number,
 *   stage: Int32Array, stream: Int8Array, prev: Int32Array, next: Int32Array}} Placement
 *   Arrays by slot = rank * chunks + chunk; prev and next are the neighbouring slots in the same stream, -1 for none.
 *
 * @typedef {{spec: Spec, placement: Placement, p: number, m: number, n: number, v: number, chunks: number,
 *   codes: Uint8Array, offsets: Int32Array, micro: Int32Array[], count: number,
 *   barriers: number, copies: Copies|null, base?: boolean}} Schedule
 *   One byte per op; rank r is codes[offsets[r]:offsets[r+1]]. micro is [] when the micro-batches are implied.
 *   base: it lacks what the spec's options place by the costs (../options/apply_options.js).
 *
 * @typedef {{codes: Uint8Array, offsets: Int32Array, issued: Int32Array, count: number}} Copies
 *   What the copy lanes do: codes are kind * chunks + chunk, kind 0 offload, 1 reload; issued: how many compute ops its
 *   rank has done when a copy is issued. Flat indices of copies go on where those of the schedule's ops end: rank r's
 *   are offsets[r] to offsets[r+1], and offsets[0] is the schedule's count.
 *
 * @typedef {{start: Float64Array, end: Float64Array, makespan: number}} Times
 *   By flat op index. Arrays may be longer than the schedule. An op of a live run that has not been reported yet has
 *   start = end = Infinity, so a rank's ends always ascend.
 *
 * @typedef {number|string|[string, ...any[]]} Tree  a formula: a number, a name, or [op, operand, ...]
 * @typedef {Record<string, number>} Vars
 * @typedef {{formula: Tree, where: [Tree, string][], name?: string, quantity?: string, window?: string,
 *   source?: string, when?: Tree|null}} Law
 *
 * @typedef {import("../i18n/language.js").Message | string} Text  a sentence or label of the server, for tr()
 *
 * @typedef {{min: number, default: number, max: number}} ChunkRange
 *
 * @typedef {{rows: [Tree, string][], slots: [string, Tree][], let: [string, Tree][], group: Tree,
 *   mirrored: Tree, last_first: Tree}} Table  the rows of a family, see backend/schedule/families/table.py
 * @typedef {{due: Record<string, Tree>, period: number, lag: Tree, let: [string, Tree][]}} BlockTable
 *   the slots of F and I of micro-batch 0, as F0, I0, F1, I1
 * @typedef {{field: "p" | "m" | "group" | "memory", where: Tree, code: string, template: string,
 *   holes: Record<string, Tree>}} Rule  holds for every legal spec; else the field is refused
 * @typedef {{name: string, title: string, placement: PlacementKind, v: ChunkRange, fields: string[],
 *   backward: "full" | "split" | "both", asynchronous: boolean, shaped_by_costs: boolean, vocabulary: string[],
 *   ops: Tree|null, table: Table|null, block: BlockTable|null, legal: Rule[]}} Constructed
 *   a family whose orders the page constructs, from its table or, without one, from its block
 *
 * @typedef {{name: string, title: string, year: number, source: Text, used_by: Text, group: Text, summary: Text,
 *   backward: "full" | "split" | "both", complexity: Text, placement: string, fields: string[], v: ChunkRange,
 *   asynchronous: boolean, shaped_by_costs: boolean, block: BlockTable|null, legal: Rule[],
 *   searched: boolean, vocabulary: string[], laws: Law[]}} Family  as /api/families lists it
 * @typedef {{families: Family[], defaults: Spec}} Catalogue  the answer of /api/families
 *
 * @typedef {{field: string, value: unknown, message: string, code?: string, params?: Record<string, any>,
 *   limit?: unknown, nearest?: unknown}} SpecError  a refused request; nearest: the nearest legal value, null for none
 *
 * @typedef {{rank: number, index: number, i: number}} OpRef  index = position in the rank's row, i = flat index
 */

export {};
