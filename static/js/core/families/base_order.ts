// The order of a spec whose family is constructed, without what its options place in it by the costs
// (apply_options.ts): as backend/schedule/families/apply_options.py and options/vocabulary.py.
import { timedWithOptions } from "../options/apply_options.ts";
import { construct } from "./construct.ts";
import { fromRows } from "./from_rows.ts";
import { barriersOf, timing } from "../schedule/effective_costs.ts";
import { KIND_B, KIND_F, codesPerRank, kindOf, micros } from "../schedule/ops.ts";
import { build } from "../schedule/placement.ts";
import type { Schedule, Spec } from "../schedule/types.ts";

/** Build the order of a legal spec. */
export function baseOrder(spec: Spec): Schedule {
  const barriers = barriersOf(spec);
  if (spec.vocabulary === "interlaced") return { ...interlaced(spec), barriers };
  const order = barriers === 0 ? construct(spec) : ahead(spec, barriers);
  order.base = true;
  return order;
}

/** Build the order of a legal spec with everything that its options place in it. */
export function completeOrder(spec: Spec): Schedule {
  const { schedule } = timedWithOptions(baseOrder(spec), spec, timing(spec));
  schedule.base = false;
  return schedule;
}

/**
 * The order of a family with its forwards further ahead, by a micro-batch for each barrier, for which it is built for
 * as many more micro-batches: each backward takes the place of the one that much later.
 */
function ahead(spec: Spec, by: number) {
  const { m, costs } = spec;
  const plain = { ...costs, S: null, T: null };
  const longer = construct({ ...spec, m: m + by, vocabulary: "plain", costs: plain });
  const { codes, chunks, offsets, p, placement, v } = longer;
  const { first } = micros(longer);
  const rows = Array.from({ length: p }, (_, r) =>
    codes.subarray(offsets[r], offsets[r + 1]).filter((code, x) => {
      const k = first[offsets[r] + x] - (kindOf(code, chunks) === KIND_F ? 0 : by);
      return k >= 0 && k < m;
    }),
  );
  return fromRows(placement, m, v, rows, spec);
}

/**
 * 1F1B in lockstep (nnScaler, Lin et al. 2024): in every turn all ranks run S and T of one micro-batch together, then a
 * forward and a backward, every other rank the backward first.
 */
function interlaced(spec: Spec) {
  const { p, m } = spec;
  const S = codesPerRank(1) - 2;
  const isTurned = (r: number) => (p - 1 - r) % 2 === 0; // backward first
  let down = 0; // the turn of micro-batch 0's forward
  const downs = Array.from({ length: p }, (_, r) => (down += r === 0 || isTurned(r) ? 0 : 1));
  const loss = down + 1;
  const rows = downs.map((first, r) => {
    const up = loss + p - 1 - r;
    const row = new Uint8Array(4 * m);
    for (let turn = 0, at = 0; turn < up + m; turn++) {
      const pair = [
        [KIND_F, turn - first],
        [KIND_B, turn - up],
      ];
      const steps = [[S, turn - loss], [S + 1, turn - loss], ...(isTurned(r) ? pair.reverse() : pair)];
      for (const [code, k] of steps) if (k >= 0 && k < m) row[at++] = code;
    }
    return row;
  });
  return fromRows(build("looped", p, 1), m, 1, rows, spec);
}
