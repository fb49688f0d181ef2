// Each field of a spec as text in a query, and back. Checks forms and ranges of single fields; link.js puts them
// together.

import { t } from "../i18n/language.js";
import {
  BARRIERS,
  COST_KEYS,
  FAMILY_NAMES,
  MOST_STAGES,
  OFFLOAD,
  OFFLOAD_OF_CHUNK,
  RECOMPUTE,
} from "../schedule/spec_tables.js";

/** @import {Spec} from "../schedule/types.js" */
/** @typedef {{value: unknown}|{wanted: string}} Read  the value, or what the text should have been */

// The m.* keys of a link are no fields of a spec: link_preset.js has them.

const NONE = "none";
const LONGEST_KEY = 24; // letters

/** @param {string} text @returns {number} NaN for anything but a plain finite number of 0 or more */
function plain(text) {
  const x = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(x) ? x : NaN;
}

/** @param {(x: number) => boolean} accept @param {() => string} wanted @returns {(text: string) => Read} */
export const numberWith = (accept, wanted) => (text) => {
  const value = plain(text);
  return accept(value) ? { value } : { wanted: wanted() };
};

/** @param {(text: string) => Read} read @returns {(text: string) => Read} */
const optional = (read) => (text) => {
  if (text === NONE || text === "") return { value: null };
  const got = read(text);
  return "wanted" in got ? { wanted: t("{wanted}, or {none}", { wanted: got.wanted, none: NONE }) } : got;
};

/** "1.5,62*1,1.5" @param {string} text @returns {Read} */
function costs(text) {
  const wanted = () => t("a number of 0 or more, or a list with one for each stage");
  if (!isList(text)) return numberWith((x) => x >= 0, wanted)(text);
  const list = entriesOf(text)?.map(plain);
  return list?.every((x) => x >= 0) ? { value: list } : { wanted: wanted() };
}

/** @param {string} text */
const isList = (text) => text.includes(",") || text.includes("*");

/** The entries of a list, k*x as k times x; null for a text that is none, or too long. @param {string} text
 * @returns {string[] | null} */
function entriesOf(text) {
  /** @type {string[]} */
  const list = [];
  for (const part of text.split(",")) {
    const [count, value] = part.includes("*") ? part.split("*") : ["1", part];
    const times = plain(count);
    if (!(Number.isInteger(times) && times >= 1 && list.length + times <= MOST_STAGES)) return null;
    for (let k = 0; k < times; k++) list.push(value);
  }
  return list;
}

const wholeNumber = numberWith(
  (x) => Number.isInteger(x) && x >= 1,
  () => t("a whole number of 1 or more"),
);
const atLeastZero = numberWith(
  (x) => x >= 0,
  () => t("a number of 0 or more"),
);

/**
 * A family's own name for any of its names, such as a title; others unchanged. backend/schedule/family_names.py reads
 * them alike.
 * @param {string} text
 */
export const familyNamed = (text) => FAMILY_NAMES[text.toLowerCase().replace(/[ _-]/g, "")] ?? text;

/** @param {string} text @returns {Read} */
function truth(text) {
  return /^(true|1|false|0)$/.test(text) ? { value: text === "true" || text === "1" } : { wanted: t("true or false") };
}

/** @param {string[]} words @returns {(text: string) => Read} */
function oneOf(words) {
  return (text) => (words.includes(text) ? { value: text } : { wanted: words.join(", ") });
}

/** One of the words, or a list with one for each chunk. @param {string[]} words @param {string[]} ofChunk
 * @returns {(text: string) => Read} */
const modes = (words, ofChunk) => (text) => {
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

/** @type {Record<string, (text: string) => Read>} */
const READERS = {
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
  recompute: modes(Object.keys(RECOMPUTE), Object.keys(RECOMPUTE)),
  layers: optional(countsFrom),
  vocabulary: oneOf(Object.keys(BARRIERS)),
  offload: modes(OFFLOAD, OFFLOAD_OF_CHUNK),
  shared_link: truth,
  weights: optional(atLeastZero),
  effort: optional(wholeNumber),
  seed: numberWith(
    (x) => Number.isInteger(x),
    () => t("a whole number of 0 or more"),
  ),
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
  FB: optional(atLeastZero),
  S: optional(atLeastZero),
  T: optional(atLeastZero),
  O: optional(atLeastZero),
};

/** @param {string} name one of SPEC_FIELDS @param {string} text @returns {Read} */
export const readSpecField = (name, text) => READERS[name](text.trim());

/** "2*9,10", whole numbers of 0 or more. @param {string} text @returns {Read} */
export function countsFrom(text) {
  const got = costs(text);
  const list = "value" in got && (Array.isArray(got.value) ? got.value : [got.value]);
  return list && list.every((x) => Number.isInteger(x))
    ? { value: list }
    : { wanted: t("whole numbers, one for each stage") };
}

/**
 * Equal neighbours as k*x where that is shorter; backend/address/query.py reads and writes the same.
 * @param {(number|string)[]} list
 */
export function packed(list) {
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

/** @param {string} name one of SPEC_FIELDS @param {Spec} spec */
export function showSpecField(name, spec) {
  const fields = /** @type {Record<string, unknown>} */ (
    /** @type {unknown} */ (COST_KEYS.includes(name) ? spec.costs : spec)
  );
  const value = fields[name];
  if (value === undefined && READERS[name] === truth) return "false"; // a run from before there was this field
  if (value === null || value === undefined) return NONE;
  return Array.isArray(value) ? packed(value) : String(value);
}

/**
 * The key that an unknown key was probably meant to be; null for a key that resembles none of ours, such as utm_source.
 * @param {string} unknown
 * @param {string[]} prefixes of the other schedules, "b." and so on
 * @param {string[]} specKeys
 * @param {string[]} viewKeys which take no prefix
 * @returns {string | null}
 */
export function nearestKey(unknown, prefixes, specKeys, viewKeys) {
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

/**
 * How many letters to insert, remove or replace to make one word of the other.
 * @param {string} one
 * @param {string} other
 */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j] + (one[i] === other[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[other.length];
}
