// The families whose orders the page makes itself, for a file or a component that has no server. The server's orders
// remain the reference: tests/js/families/orders.test.js holds both alike.
import { chimera, dualPipe, dualPipeV } from "./bidirectional.js";
import { vHalf, vMin } from "./building_block.js";
import { backwardsFromTheLast, fromRows } from "./from_rows.js";
import { breadthFirst, grouped, halfGroup, interleaved, interleavedZb } from "./interleaved.js";
import { gpipe, handcrafted, oneFOneB, zbV } from "./one_f_one_b.js";
import { barriersOf } from "../schedule/effective_costs.js";
import { build } from "../schedule/placement.js";

/** @import {PlacementKind, Schedule, Spec} from "../schedule/types.js" */
/** @import {Row} from "./rows.js" */
/**
 * @typedef {{title: string, rows: (spec: Spec) => Row[], placement: PlacementKind, v: [number, number, number],
 *   fields: string[], fromTheLast: (spec: Spec) => boolean}} Generated
 *   v: least, natural and greatest; fields: which of group and lifo it takes; fromTheLast: whether backwards run from
 *   the last micro-batch to the first
 */

/**
 * @param {string} title @param {(spec: Spec) => Row[]} rows @param {Partial<Generated>} [more]
 * @returns {Generated}
 */
const family = (title, rows, more) => ({
  ...{ title, rows, placement: "looped", v: [1, 1, 1], fields: [], fromTheLast: () => false },
  ...more,
});

/** @type {{v: [number, number, number]}} */
const CHUNKED = { v: [1, 2, 64] };
/** @type {{v: [number, number, number], placement: PlacementKind}} */
const ON_A_V = { v: [2, 2, 2], placement: "v" };

/** By name, in the order of the picker. @type {Record<string, Generated>} */
export const GENERATED = {
  gpipe: family("GPipe", gpipe, { fields: ["lifo"], fromTheLast: ({ lifo }) => lifo }),
  "1f1b": family("1F1B", oneFOneB),
  pipedream: family("PipeDream", oneFOneB),
  interleaved: family("Interleaved 1F1B", interleaved, { ...CHUNKED, fields: ["group"] }),
  "interleaved-bfs": family("Looped breadth-first", breadthFirst, { ...CHUNKED, fromTheLast: () => true }),
  "interleaved-zb": family("Interleaved zero bubble", interleavedZb, { ...CHUNKED, fields: ["group"] }),
  "zb-h1": family("ZB-H1", (spec) => handcrafted(spec, 1)),
  "zb-h2": family("ZB-H2", (spec) => handcrafted(spec, 2)),
  "v-min": family("V-Min", vMin, ON_A_V),
  "v-half": family("V-Half", vHalf, ON_A_V),
  "v-zb": family("ZB-V", zbV, ON_A_V),
  chimera: family("Chimera", chimera, { placement: "bidirectional" }),
  dualpipe: family("DualPipe", dualPipe, { placement: "bidirectional" }),
  dualpipev: family("DualPipeV", dualPipeV, ON_A_V),
  gis: family("GIS", (spec) => grouped(spec, spec.p), CHUNKED),
  "gis-h": family("GIS-H", (spec) => grouped(spec, halfGroup(spec.p)), CHUNKED),
};

/** Families whose order follows from the costs. */
export const SHAPED_BY_COSTS = ["v-min", "v-half"];

/** Families without a forward-only schedule: their forwards wait for backwards, or run beside them. */
const NEED_BACKWARDS = ["pipedream", "v-min", "v-half", "chimera", "dualpipe", "dualpipev"];

/** Whether the page can make a spec's order: its family has a rule, and no option puts further ops into the order.
 * @param {Spec} spec */
export const isGenerated = (spec) =>
  Object.hasOwn(GENERATED, spec.family) &&
  barriersOf(spec) === 0 &&
  spec.offload === "none" &&
  !(spec.forward_only && NEED_BACKWARDS.includes(spec.family));

/** Make the order of a legal spec (legal.js). @param {Spec} spec @returns {Schedule} */
export function generate(spec) {
  const { rows, placement, fromTheLast } = GENERATED[spec.family];
  const chunks = placement === "bidirectional" ? 2 : spec.v;
  const placed = build(placement, spec.p, chunks);
  if (spec.forward_only) {
    const forwards = rows(spec).map((row) => row.filter((code) => code < chunks)); // F is the first kind
    return fromRows(placed, spec.m, spec.v, forwards, spec);
  }
  const made = fromRows(placed, spec.m, spec.v, rows(spec), spec);
  return fromTheLast(spec) ? backwardsFromTheLast(made) : made;
}
