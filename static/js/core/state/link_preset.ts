// The model and machine that the costs come from, as the keys m.* of a link, and back.
//
// m.model names the preset as a whole; every other key is there only where the reader chose something else than
// what the model and the server bring: m.machine, m.tp, m.data, m.zero, m.efficiency, m.heads, m.sequence,
// m.micro_batch, m.layers, and the numbers of the model, the machine and of how they are shared that differ from what
// they would be (PRESET_FIELDS).
// m.layers is the model's number of layers, or a list with those of each stage; the model then has their sum.
// m.off: some costs were then changed by hand; those are in the link, the others still follow from m.*.

import { t } from "../i18n/language.ts";
import { MODEL_ALIASES, PRESET_FIELDS } from "../schedule/spec_tables.ts";
import {
  NONE,
  atLeastZero,
  countsFrom,
  numberWith,
  orNone,
  packed,
  wholeNumber as whole,
  type Read,
} from "./link_fields.ts";
import { isLayout } from "./megatron_layout.ts";
import type { Problem } from "./link.ts";

/** By the server's names; null: it follows from the other fields. */
type Own = Record<string, number | boolean | null>;
/** null: what the server takes by itself. */
export type Preset = {
  model: string;
  machine: string | null;
  tp: number | null;
  data: number | null; // replicas
  zero: number | null; // the stage of ZeRO
  efficiency: number | null;
  heads: boolean | null; // embedding and output layer
  sequence: number | null;
  micro_batch: number | null;
  layers: number[] | null; // of each stage, where a balance moved them
  own: Own; // what else differs from the model and the machine that are named
};

const PREFIX = "m.";
const positive = numberWith(
  (x) => x > 0,
  () => t("a number above 0"),
);

const name = (text: string): Read =>
  /^[a-z0-9][a-z0-9._-]{0,47}$/i.test(text) ? { value: text } : { wanted: t("a name such as llama3-70b") };
/** A model by its present name. */
function modelName(text: string): Read {
  const got = name(text);
  return "wanted" in got ? got : { value: MODEL_ALIASES[text.toLowerCase()] ?? text };
}
const truth = (text: string): Read => (/^[01]$/.test(text) ? { value: text === "1" } : { wanted: t("1 or 0") });

/** A number alone is the model's layers, a list those of each stage. */
const layers = (text: string) => (/[,*]/.test(text) || isLayout(text) ? countsFrom(text) : whole(text));

const READERS: Record<string, (text: string) => Read> = {
  model: modelName,
  machine: name,
  tp: whole,
  data: whole,
  zero: numberWith(
    (x) => Number.isInteger(x) && x >= 0 && x <= 3,
    () => t("a whole number from 0 to 3"),
  ),
  efficiency: numberWith(
    (x) => x > 0 && x <= 1,
    () => t("a number above 0, up to 1"),
  ),
  heads: truth,
  sequence: whole,
  micro_batch: whole,
};

/** How each form of a value is read. */
const FORMS: Record<string, (text: string) => Read> = {
  layers,
  whole,
  positive,
  atLeastZero,
  truth,
  "whole?": orNone(whole),
  "positive?": orNone(positive),
};

export const plainPreset = (model: string): Preset => ({
  model,
  machine: null,
  tp: null,
  data: null,
  zero: null,
  efficiency: null,
  heads: null,
  sequence: null,
  micro_batch: null,
  layers: null,
  own: {},
});

/** Takes its keys out of what is given. Returns origin: where costs came from before some were changed by hand. */
export function readPreset(
  given: Map<string, string>,
  problems: Problem[],
): { preset: Preset | null; origin?: Preset } {
  const without = !given.has(`${PREFIX}model`);
  /** The value of a key, undefined where it has none that counts. */
  function take(key: string, read: (text: string) => Read) {
    const field = PREFIX + key;
    const text = given.get(field);
    if (text === undefined) return undefined;
    given.delete(field);
    const got = read(text.trim());
    if ("wanted" in got)
      problems.push({ field, value: text, message: t("{field} must be {wanted}", { field, wanted: got.wanted }) });
    else if (without)
      problems.push({
        field,
        value: text,
        message: t("{field} means nothing without {other}", { field, other: `${PREFIX}model` }),
      });
    else return got.value;
    return undefined;
  }
  const found: Record<string, any> = {};
  for (const [key, read] of Object.entries(READERS)) {
    const value = take(key, read);
    if (value !== undefined) found[key] = value;
  }
  const own: Own = {};
  for (const [field, key, form] of PRESET_FIELDS) {
    const value = take(key, FORMS[form]);
    if (Array.isArray(value)) found.layers = value;
    else if (value !== undefined) own[field] = value as number | boolean | null;
  }
  const off = take("off", truth) === true;
  if (!found.model) return { preset: null };
  const preset = { ...plainPreset(found.model), ...found, own };
  return off ? { preset: null, origin: preset } : { preset };
}

/** The shorter of 400000000000000 and 4e14, both read back exactly. */
function brief(x: number) {
  const plain = String(x);
  const power = x.toExponential().replace("e+", "e");
  return power.length < plain.length ? power : plain;
}

function written(value: unknown, short: boolean) {
  if (Array.isArray(value)) return packed(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  if (value === null) return NONE;
  return short && typeof value === "number" && !(Number.isInteger(value) && value < 2 ** 24)
    ? brief(value)
    : String(value);
}

/** As key and text, what differs from the plain preset; in the words of a link or of the server. */
export function presetEntries(preset: Preset | null, link: boolean): [string, string][] {
  if (!preset) return [];
  const parts: [string, string][] = [];
  for (const key of Object.keys(READERS)) {
    const value = preset[key as keyof Preset];
    if (value !== null) parts.push([key, written(value, link)]);
  }
  for (const [field, key] of PRESET_FIELDS) {
    const value = field === "layers" && preset.layers ? preset.layers : preset.own[field];
    if (value !== undefined) parts.push([link ? key : field, written(value, link)]);
  }
  return parts;
}

export function presetParts(preset: Preset | null, origin?: Preset): [string, string][] {
  const parts = presetEntries(preset ?? origin ?? null, true);
  if (!preset && origin) parts.push(["off", "1"]);
  return parts.map(([key, text]) => [PREFIX + key, text]);
}
