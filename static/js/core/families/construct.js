// The orders that the page constructs itself: those of every family that is not searched, from the tables of the
// server. tests/js/families compares them with the server's, byte by byte.
import { backwardsFromTheLast, fromRows } from "./from_rows.js";
import { fromBlock } from "./building_block.js";
import { isLastFirst, rowsOf } from "./table.js";
import { notePhases } from "../schedule/periodic.js";
import { build } from "../schedule/placement.js";
import { CONSTRUCTED_FAMILIES } from "../schedule/spec_tables.js";

/** @import {Constructed, Schedule, Spec} from "../schedule/types.js" */

/** By name, in the order of the picker. @type {Record<string, Constructed>} */
export const CONSTRUCTED = Object.fromEntries(CONSTRUCTED_FAMILIES.map((family) => [family.name, family]));

/** Build the order of a legal spec without its options, but for the forwards alone. @param {Spec} spec
 * @returns {Schedule} */
export function construct(spec) {
  const { table, block, placement } = CONSTRUCTED[spec.family];
  const placed = build(placement, spec.p, placement === "bidirectional" ? 2 : spec.v);
  if (block && !table) return fromRows(placed, spec.m, spec.v, fromBlock(spec, block), spec);
  if (!table) throw new Error(`${spec.family} has neither a table nor a block`);
  const { rows, phases } = rowsOf(table, spec, placed);
  const order = fromRows(placed, spec.m, spec.v, rows, spec);
  if (isLastFirst(table, spec) && !spec.forward_only) return backwardsFromTheLast(order);
  return notePhases(order, phases);
}
