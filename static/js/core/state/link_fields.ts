// Each field of a spec as text in a query, and back. Checks forms and ranges of single fields; link.ts puts them
// together.

import { t } from "../i18n/language.ts";
import {
  BARRIERS,
  COST_KEYS,
  FAMILY_NAMES,
  MOST_STAGES,
  OFFLOAD,
  OFFLOAD_OF_CHUNK,
  RECEIVES,
  RECOMPUTE,
  RECOMPUTE_AT,
  STREAMS,
} from "../schedule/spec_tables.ts";
import { DEALS, INJECTIONS, sizesOf } from "../schedule/sizes.ts";
import { countsOf, isLayout, readLayout } from "./megatron_layout.ts";
import type { Spec } from "../schedule/types.ts";

/** The value, or what the text should have been. */
export type Read = { value: unknown } | { wanted: string };

// The m.* keys of a link are no fields of a spec: link_preset.ts has them.

export const NONE = "none";
const LONGEST_KEY = 24; // letters

/** Returns NaN for anything but a plain finite number of 0 or more. */
function plain(text: string): number {
  const x = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(x) ? x : NaN;
}

export const numberWith =
  (accept: (x: number) => boolean, wanted: () => string): ((text: string) => Read) =>
  (text) => {
    const value = plain(text);
    return accept(value) ? { value } : { wanted: wanted() };
  };

/** Reads none as null. */
export const orNone =
  (read: (text: string) => Read): ((text: string) => Read) =>
  (text) => {
    if (text === NONE) return { value: null };
    const got = read(text);
    return "wanted" in got ? { wanted: t("{wanted}, or {none}", { wanted: got.wanted, none: NONE }) } : got;
  };

const optional = (read: (text: string) => Read) => {
  const readGiven = orNone(read);
  return (text: string) => readGiven(text === "" ? NONE : text);
};

/** "1.5,62*1,1.5". */
function costs(text: string): Read {
  const wanted = () => t("a number of 0 or more, or a list with one for each stage");
  if (!isList(text)) return numberWith((x) => x >= 0, wanted)(text);
  const list = entriesOf(text)?.map(plain);
  return list?.every((x) => x >= 0) ? { value: list } : { wanted: wanted() };
}

const isList = (text: string) => text.includes(",") || text.includes("*");

/** The entries of a list, k*x as k times x; null for a text that is none, or too long. */
export function entriesOf(text: string): string[] | null {
  const list: string[] = [];
  for (const part of text.split(",")) {
    const [count, value] = part.includes("*") ? part.split("*") : ["1", part];
    const times = plain(count);
    if (!(Number.isInteger(times) && times >= 1 && list.length + times <= MOST_STAGES)) return null;
    for (let k = 0; k < times; k++) list.push(value);
  }
  return list;
}

export const wholeNumber = numberWith(
  (x) => Number.isInteger(x) && x >= 1,
  () => t("a whole number of 1 or more"),
);
const wholeFromZero = numberWith(
  (x) => Number.isInteger(x),
  () => t("a whole number of 0 or more"),
);
export const atLeastZero = numberWith(
  (x) => x >= 0,
  () => t("a number of 0 or more"),
);

/**
 * A family's own name for any of its names, such as a title; others unchanged. backend/schedule/family_names.py reads
 * them alike.
 */
export const familyNamed = (text: string) => FAMILY_NAMES[text.toLowerCase().replace(/[ _-]/g, "")] ?? text;

function truth(text: string): Read {
  return /^(true|1|false|0)$/.test(text) ? { value: text === "true" || text === "1" } : { wanted: t("true or false") };
}

function oneOf(words: string[]): (text: string) => Read {
  return (text) => (words.includes(text) ? { value: text } : { wanted: words.join(", ") });
}

/** One of the words, or a list with one for each chunk. */
const modes =
  (words: string[], ofChunk: string[]): ((text: string) => Read) =>
  (text) => {
    if (!isList(text) && words.includes(text)) return { value: text };
    const list = isList(text) ? entriesOf(text) : null;
    if (list?.every((each) => ofChunk.includes(each))) return { value: list };
    return {
      wanted: t("{words}, or a list of {each} with one for each chunk", {
        words: words.join(", "),
        each: ofChunk.join(", "),
      }),
    };
  };

const READERS: Record<string, (text: string) => Read> = {
  family: (text) => {
    const name = familyNamed(text);
    return /^[a-z0-9][a-z0-9-]{0,39}$/.test(name)
      ? { value: name }
      : { wanted: t("the name of a family, such as 1f1b") };
  },
  p: wholeNumber,
  m: wholeNumber,
  v: wholeNumber,
  group: optional(wholeNumber),
  memory: optional(
    numberWith(
      (x) => x > 0,
      () => t("a number greater than 0"),
    ),
  ),
  w_share: numberWith(
    (x) => x >= 0 && x <= 1,
    () => t("a number from 0 to 1"),
  ),
  lifo: truth,
  forward_only: truth,
  frozen: optional(frozenFrom),
  recompute: modes(Object.keys(RECOMPUTE), Object.keys(RECOMPUTE)),
  recompute_at: oneOf(RECOMPUTE_AT),
  spared: wholeFromZero,
  layers: optional(countsFrom),
  sizes: optional(sizesFrom),
  fixed: numberWith(
    (x) => x >= 0 && x <= 1,
    () => t("a number from 0 to 1"),
  ),
  injection: injectionFrom,
  replicas: wholeNumber,
  deal: oneOf(DEALS),
  replica: wholeFromZero,
  vocabulary: oneOf(Object.keys(BARRIERS)),
  offload: modes(OFFLOAD, OFFLOAD_OF_CHUNK),
  shared_link: truth,
  streams: oneOf(STREAMS),
  receives: oneOf(RECEIVES),
  weights: optional(atLeastZero),
  effort: optional(wholeNumber),
  seed: wholeFromZero,
  order: (text) =>
    text === NONE
      ? { value: null }
      : /^[A-Za-z0-9_-]{1,6000}$/.test(text)
        ? { value: text }
        : { wanted: t("the packed text of an imported order, all of it") },
  F: costs,
  I: costs,
  W: costs,
  comm: atLeastZero,
  wire: atLeastZero,
  FB: optional(atLeastZero),
  S: optional(atLeastZero),
  T: optional(atLeastZero),
  O: optional(atLeastZero),
  R: optional(atLeastZero),
};

/** name: one of SPEC_FIELDS. */
export const readSpecField = (name: string, text: string): Read => READERS[name](text.trim());

/** "2*9,10", whole numbers of 0 or more, or a layout of Megatron-LM. */
export function countsFrom(text: string): Read {
  if (isLayout(text)) {
    const layout = readLayout(text);
    return "wanted" in layout ? layout : { value: countsOf(layout) };
  }
  const got = costs(text);
  const list = "value" in got && (Array.isArray(got.value) ? got.value : [got.value]);
  return list && list.every((x) => Number.isInteger(x))
    ? { value: list }
    : { wanted: t("whole numbers, one for each stage") };
}

/** A rule, or one positive number for each micro-batch, also of one. */
function sizesFrom(text: string): Read {
  const wanted = t("a number for each micro-batch, lognormal:SIGMA:SEED or tokens:ALPHA:BETA:LENGTHS");
  if (/^[a-z]/.test(text)) return sizesOf(text, 1) ? { value: text } : { wanted };
  const list = entriesOf(text)?.map(plain);
  return list?.every((x) => x > 0) ? { value: list } : { wanted };
}

/** A word, or each micro-batch once. */
function injectionFrom(text: string): Read {
  if (INJECTIONS.includes(text)) return { value: text };
  const list = entriesOf(text)?.map(plain) ?? [];
  const isOrder = list.length > 0 && [...list].sort((a, b) => a - b).every((k, at) => k === at);
  return isOrder ? { value: list } : { wanted: t("given, mountain, or each micro-batch once") };
}

/** The number of first stages, or a list of stages, as these stages. */
function frozenFrom(text: string): Read {
  const got = countsFrom(text);
  if ("wanted" in got) return { wanted: t("the number of first stages that are not trained, or a list of stages") };
  const list = got.value as number[];
  if (!isList(text)) return list[0] <= MOST_STAGES ? { value: list[0] ? range(list[0]) : null } : frozenFrom("-");
  return { value: [...new Set(list)].sort((a, b) => a - b) };
}

const range = (count: number) => Array.from({ length: count }, (_, k) => k);

/** Equal neighbours as k*x where that is shorter; backend/address/query.py reads and writes the same. */
export function packed(list: (number | string)[]) {
  const out = [];
  for (let at = 0; at < list.length;) {
    let next = at + 1;
    while (next < list.length && list[next] === list[at]) next++;
    const one = String(list[at]);
    const run = `${next - at}*${one}`;
    const full = new Array(next - at).fill(one).join(",");
    out.push(run.length < full.length ? run : full);
    at = next;
  }
  // One entry alone would read as a plain number, which means something else than a list of one stage.
  return list.length === 1 ? `1*${list[0]}` : out.join(",");
}

/** name: one of SPEC_FIELDS. */
export function showSpecField(name: string, spec: Spec) {
  const fields = (COST_KEYS.includes(name) ? spec.costs : spec) as unknown as Record<string, unknown>;
  const value = fields[name];
  if (value === undefined && READERS[name] === truth) return "false"; // a run from before there was this field
  if (value === null || value === undefined) return NONE;
  return Array.isArray(value) ? packed(value) : String(value);
}

/**
 * The key that an unknown key was probably meant to be; null for a key that resembles none of ours, such as utm_source.
 * prefixes: of the other schedules, "b." and so on; viewKeys: which take no prefix.
 */
export function nearestKey(unknown: string, prefixes: string[], specKeys: string[], viewKeys: string[]): string | null {
  const prefix = prefixes.find((each) => unknown.startsWith(each)) ?? "";
  const word = unknown.slice(prefix.length);
  const known = prefix ? specKeys : [...specKeys, ...viewKeys];
  const same = known.find((key) => key.toLowerCase() === word.toLowerCase());
  if (same) return prefix + same;
  if (word.length < 3 || word.length > LONGEST_KEY) return null;
  const far = known.map((key) => (key.length < 3 ? Infinity : distance(word.toLowerCase(), key.toLowerCase())));
  const least = Math.min(...far);
  return least <= (word.length < 5 ? 1 : 2) ? prefix + known[far.indexOf(least)] : null;
}

/** How many letters to insert, remove or replace to make one word of the other. */
function distance(one: string, other: string) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j] + (one[i] === other[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[other.length];
}
