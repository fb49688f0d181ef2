// The comparison as data: what is asked of the server, the columns of the table, and how rows are put in order.
import { getJson } from "../../data/api.ts";
import { withoutDerived } from "../../data/costs/derive.ts";
import { bytesText, fitText, rateText } from "../../data/costs/quantities.ts";
import { stepText } from "../../data/costs/time_unit.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { formatNumber, formatPercent } from "../../core/i18n/numbers.ts";
import { specQuery } from "../../core/state/link.ts";
import { presetEntries, type Preset } from "../../core/state/link_preset.ts";
import type { Family, Spec, Text } from "../../core/schedule/types.ts";

type Share = { of_total: number; of_ideal: number };
export type Claimed = {
  text: string;
  value: number | null; // null where only growth is claimed, O(...)
  simulated: number;
  differs: Text | null;
};
export type Row = {
  family: string;
  title: string;
  year: number;
  used_by: Text;
  technique: Text;
  backward: "full" | "split" | "both";
  complexity: Text;
  spec: Spec;
  adjusted: Text | null;
  makespan: number;
  longest_stage: number;
  bubble: { global: Share; span: Share };
  messages: number;
  bytes_per_message_units: number;
  peak_in_flight: number;
  peak_memory: { ranks: number[]; max: number };
  parameters: { ranks: number[]; max: number; why: string };
  claim: { bubble?: Claimed; memory: Claimed } | null;
  units: Units | null;
};
/** With a model and a machine. */
type Units = {
  seconds: number; // of the pipeline
  tail: number; // seconds of what follows its last backward
  tokens_per_second: number;
  mfu: number;
  devices: number;
  span: { tokens_per_second: number }; // over the busiest device's window
  memory: { most: number; rank: number; limit: number; fits: boolean };
};
export type Comparison = { rows: Row[]; notes: Text[] };
export type Column = {
  id: string;
  name: string;
  hint: string; // shown on hover, and for screen readers
  of: (row: Row) => number | string;
  show: (row: Row) => string;
  best?: boolean; // the least is marked
  most?: boolean; // the greatest is marked instead
  claim?: (row: Row) => Claimed | null; // shown beside it
  say?: (x: number) => string; // formats the claim's value
  why?: (row: Row) => string | null; // shown on hover
};

/** Whether a row needs more memory than the limit that is set. */
export const overLimit = (row: Row) => row.spec.memory !== null && row.peak_memory.max > row.spec.memory + 1e-9;

const backward = () => ({ full: t("full (B)"), split: t("split (I, W)"), both: t("both") });

const column =
  (write: (x: number) => string) =>
  (id: string, name: string, hint: string, of: (row: Row) => number): Column => ({
    ...{ id, name, hint, of, best: true },
    show: (row) => write(of(row)),
  });
const share = column(formatPercent);
const amount = column(formatNumber);

const words = (id: string, name: string, hint: string, of: (row: Row) => string): Column => ({
  ...{ id, name, hint, of, show: of },
});

/** What a model and a machine add. */
const unitColumns = (): Column[] => [
  {
    ...amount(
      "tokens",
      t("tokens / s"),
      t("tokens of all replicas in a second"),
      (row) => row.units?.tokens_per_second ?? 0,
    ),
    show: (row) => (row.units ? rateText(row.units.tokens_per_second) : "–"),
    most: true,
  },
  {
    ...amount(
      "tokens-span",
      t("tokens / s, busiest device"),
      t("tokens of all replicas in a second of the busiest device's window, outside of which steps may overlap"),
      (row) => row.units?.span.tokens_per_second ?? 0,
    ),
    show: (row) => (row.units ? rateText(row.units.span.tokens_per_second) : "–"),
    most: true,
  },
  {
    ...share(
      "mfu",
      t("MFU"),
      t("model FLOP utilisation: the model's FLOP over what the devices could compute, without recomputation"),
      (row) => row.units?.mfu ?? 0,
    ),
    most: true,
  },
  {
    ...amount(
      "device-memory",
      t("memory"),
      t("weights, gradients, optimizer and activations on the device with the most"),
      (row) => row.units?.memory.most ?? 0,
    ),
    show: (row) => (row.units ? bytesText(row.units.memory.most) : "–"),
    why: (row) => (row.units && !row.units.memory.fits ? `${row.title}: ${fitText(row.units.memory)}.` : null),
  },
  words("fits", t("fits"), t("whether every device has enough memory"), (row) =>
    row.units ? (row.units.memory.fits ? t("yes") : t("no")) : "–",
  ),
];

/** What is compared, in the reader's language. */
export const columns = (withUnits = false): Column[] => [
  ...(withUnits ? unitColumns() : []),
  share(
    "global",
    t("bubble"),
    t("idle share of the step, from the first start to the last end"),
    (row) => row.bubble.global.of_total,
  ),
  share(
    "ideal",
    t("idle ÷ work"),
    t("idle time over work, from the first start to the last end"),
    (row) => row.bubble.global.of_ideal,
  ),
  {
    ...share(
      "span",
      t("bubble, busiest device"),
      t("idle share of the busiest device's window, from its own first start to its last end"),
      (row) => row.bubble.span.of_total,
    ),
    claim: (row) => row.claim?.bubble ?? null,
    say: formatPercent,
  },
  share(
    "span-ideal",
    t("its idle ÷ work"),
    t("idle time over work in the busiest device's window"),
    (row) => row.bubble.span.of_ideal,
  ),
  {
    ...amount("makespan", t("step time"), t("first start to last end"), (row) => row.makespan),
    show: (row) => stepText(row.makespan),
  },
  {
    ...amount(
      "stage",
      t("busiest device's window"),
      t("from the busiest device's own first start to its last end"),
      (row) => row.longest_stage,
    ),
    show: (row) => stepText(row.longest_stage),
  },
  {
    ...amount(
      "memory",
      t("peak memory"),
      t("on the device with the most, in one micro-batch's activations"),
      (row) => row.peak_memory.max,
    ),
    claim: (row) => row.claim?.memory ?? null,
    say: formatNumber,
    why: (row) =>
      overLimit(row)
        ? t("{family} holds {held}, over the limit of {limit}.", {
            family: row.title,
            held: formatNumber(row.peak_memory.max),
            limit: formatNumber(row.spec.memory ?? 0),
          })
        : null,
  },
  {
    ...amount(
      "flight",
      t("in flight"),
      t("chunks whose activations the worst device holds at once; a chunk is a v-th of a device's share"),
      (row) => row.peak_in_flight,
    ),
    best: false,
  },
  {
    ...amount(
      "weights",
      t("weights"),
      t("copies of its own share of the parameters that the worst device holds"),
      (row) => row.parameters.max,
    ),
    show: (row) => `${row.parameters.max}×`,
    best: false,
    why: (row) => (row.parameters.max > 1 ? t("Weights: {why}.", { why: tr(row.parameters.why) }) : null),
  },
  {
    ...amount(
      "messages",
      t("messages"),
      t("between devices in a step; each carries one micro-batch's activation, so bytes grow alike"),
      (row) => row.messages,
    ),
    best: false,
  },
  words("technique", t("technique"), t("what it does"), (row) => tr(row.technique)),
  words("backward", t("backward"), t("I and W in one (B) or apart"), (row) => backward()[row.backward]),
  words("complexity", t("order"), t("how its order is described"), (row) => tr(row.complexity)),
  words("used", t("used by"), t("who trains with it"), (row) => tr(row.used_by)),
  words("year", t("year"), t("first published"), (row) => String(row.year)),
];

/**
 * The address of the comparison at this setting; v only where the family on the screen leaves a choice of it. With a
 * model and a machine each family has the costs of its own stages.
 */
export function comparisonUrl(
  spec: Spec,
  defaults: Spec,
  family: Family | null,
  chosen: string[] | null, // null: all
  preset: Preset | null = null,
) {
  const query = new URLSearchParams(specQuery(withoutDerived(preset, spec, defaults), defaults));
  for (const [key, text] of presetEntries(preset, true)) query.set(`m.${key}`, text);
  query.delete("family");
  query.delete("order"); // the others cannot take it
  if (!family || family.v.min === family.v.max) query.delete("v");
  if (chosen) query.set("families", chosen.join(","));
  return `/api/compare?${query}`;
}

export const fetchComparison = (url: string): Promise<Comparison> => getJson(url);

/** In the order of a column, ties as they were. */
export function inOrder(rows: Row[], id: string | null, way: 1 | -1): Row[] {
  if (id === "schedule") return [...rows].sort((a, b) => way * a.title.localeCompare(b.title));
  const wanted = columns(true).find((each) => each.id === id);
  if (!wanted) return rows;
  return [...rows].sort((a, b) => {
    const [x, y] = [wanted.of(a), wanted.of(b)];
    return way * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
  });
}

/** The least of a column among rows of the same work, to six digits; NaN where there is nothing to choose between. */
export function leastOf(rows: Row[], wanted: Column, spec: Spec) {
  const values = rows
    .filter((row) => row.spec.p === spec.p && row.spec.m === spec.m)
    .map((row) => Number(wanted.of(row)));
  const least = wanted.most ? Math.max(...values) : Math.min(...values);
  return wanted.best && values.some((value) => !alike(value, least)) ? least : NaN;
}

export const alike = (a: number, b: number) => Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));

/** Whether the rows have figures in seconds and bytes. */
export const withUnits = ({ rows }: Comparison) => rows.some(({ units }) => units !== null);
