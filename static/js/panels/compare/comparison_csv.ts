// The comparison as CSV: plain numbers with their units in the heads, in English, so that a spreadsheet reads them.
import { stepSeconds } from "../../core/drawing/training_plans.ts";
import { withUnits, type Comparison, type Row } from "./comparison.ts";

type Field = [string, (row: Row) => string | number];

const FIELDS: Field[] = [
  ["family", (row) => row.family],
  ["p", (row) => row.spec.p],
  ["m", (row) => row.spec.m],
  ["v", (row) => row.spec.v],
  ["bubble_of_total", (row) => row.bubble.global.of_total],
  ["bubble_of_ideal", (row) => row.bubble.global.of_ideal],
  ["busiest_bubble_of_total", (row) => row.bubble.span.of_total],
  ["busiest_bubble_of_ideal", (row) => row.bubble.span.of_ideal],
  ["makespan", (row) => row.makespan],
  ["longest_stage", (row) => row.longest_stage],
  ["peak_memory_micro_batches", (row) => row.peak_memory.max],
  ["peak_in_flight_chunks", (row) => row.peak_in_flight],
  ["weight_copies", (row) => row.parameters.max],
  ["messages", (row) => row.messages],
];
const UNIT_FIELDS: Field[] = [
  ["step_s", (row) => (row.units ? stepSeconds(row.units) : "")],
  ["tokens_per_s", (row) => row.units?.tokens_per_second ?? ""],
  ["busiest_tokens_per_s", (row) => row.units?.span.tokens_per_second ?? ""],
  ["mfu", (row) => row.units?.mfu ?? ""],
  ["devices", (row) => row.units?.devices ?? ""],
  ["memory_bytes", (row) => row.units?.memory.most ?? ""],
  ["memory_limit_bytes", (row) => row.units?.memory.limit ?? ""],
  ["fits", (row) => (row.units ? String(row.units.memory.fits) : "")],
];

export function comparisonCsv(answer: Comparison) {
  const fields = withUnits(answer) ? [...FIELDS, ...UNIT_FIELDS] : FIELDS;
  const lines = [fields.map(([name]) => name), ...answer.rows.map((row) => fields.map(([, of]) => String(of(row))))];
  return `${lines.map((cells) => cells.join(",")).join("\n")}\n`;
}
