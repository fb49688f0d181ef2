// The orders that the page constructs itself: those of every family that is not searched, from the tables of the
// server. tests/js/families compares them with the server's, byte by byte.
import { backwardsFromTheLast, fromRows } from "./from_rows.ts";
import { fromBlock } from "./building_block.ts";
import { isLastFirst, rowsOf } from "./table.ts";
import { notePhases } from "../schedule/periodic.ts";
import { build } from "../schedule/placement.ts";
import { CONSTRUCTED_FAMILIES } from "../schedule/spec_tables.ts";
import type { Constructed, Schedule, Spec } from "../schedule/types.ts";

/** By name, in the order of the picker. */
export const CONSTRUCTED: Record<string, Constructed> = Object.fromEntries(
  CONSTRUCTED_FAMILIES.map((family) => [family.name, family]),
);

/** Build the order of a legal spec without its options, but for the forwards alone. */
export function construct(spec: Spec): Schedule {
  const { table, block, placement } = CONSTRUCTED[spec.family];
  const placed = build(placement, spec.p, placement === "bidirectional" ? 2 : spec.v);
  if (block && !table) return fromRows(placed, spec.m, spec.v, fromBlock(spec, block), spec);
  if (!table) throw new Error(`${spec.family} has neither a table nor a block`);
  const { rows, phases } = rowsOf(table, spec, placed);
  const order = fromRows(placed, spec.m, spec.v, rows, spec);
  if (isLastFirst(table, spec) && !spec.forward_only) return backwardsFromTheLast(order);
  return notePhases(order, phases);
}
