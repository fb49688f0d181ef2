// The attributes of <bubble-line>: what they say, or the first of them that is wrong, with the nearest legal value.
import { CONSTRUCTED } from "../core/families/construct.ts";
import { refusal } from "../core/families/legal.ts";
import { t, tr } from "../core/i18n/language.ts";
import { FAMILY_NAMES } from "../core/schedule/spec_tables.ts";
import type { Spec } from "../core/schedule/types.ts";

export type Control = "family" | "p" | "m" | "v" | "f" | "i" | "w" | "comm" | "play" | "table";
type Theme = "auto" | "light" | "dark";
export type Settings = { spec: Spec; theme: Theme; controls: Control[]; speed: number };
type Problem = { attribute: string; text: string };

export const ATTRIBUTES = [
  ...["family", "p", "m", "v", "group", "lifo", "f", "i", "w", "comm", "theme", "controls", "speed", "lang"],
];
export const CONTROLS: Control[] = ["family", "p", "m", "v", "f", "i", "w", "comm", "play", "table"];
const THEMES: Theme[] = ["auto", "light", "dark"];
export const LIMITS = { p: 128, m: 2048, v: 64, ops: 200_000 };
const MOST_COST = 1e6;
const LETTERS = { f: "F", i: "I", w: "W", comm: "comm" };

/** Thrown for a wrong attribute, and shown in the element. */
class Wrong extends Error {
  attribute: string;

  constructor(attribute: string, text: string) {
    super(text);
    this.attribute = attribute;
  }
}

/** Read the attributes of an element. */
export function settings(attribute: (name: string) => string | null): Settings | Problem {
  try {
    const family = familyOf(attribute("family"));
    const { v: range, fields } = CONSTRUCTED[family];
    const spec = sizes(attribute, family, range.default, fields);
    validate(spec);
    return {
      spec,
      theme: choice("theme", attribute("theme"), THEMES),
      controls: controlsOf(attribute("controls")),
      speed: number("speed", attribute("speed"), 1, 0.05, 20),
    };
  } catch (problem) {
    if (!(problem instanceof Wrong)) throw problem;
    return { attribute: problem.attribute, text: problem.message };
  }
}

function sizes(attribute: (name: string) => string | null, family: string, chunks: number, fields: string[]): Spec {
  const group = attribute("group");
  const lifo = attribute("lifo") !== null;
  for (const name of ["group", "lifo"]) {
    if (attribute(name) === null || fields.includes(name)) continue;
    throw new Wrong(
      name,
      t("{attribute}: {family} has no such attribute; leave it out.", {
        attribute: name,
        family: CONSTRUCTED[family].title,
      }),
    );
  }
  const costs = Object.entries(LETTERS).map(([name, letter]) => [
    letter,
    number(name, attribute(name), letter === "comm" ? 0 : 1, 0, MOST_COST),
  ]);
  return {
    ...{ family, group: group === null ? null : whole("group", group, 1, 1, LIMITS.m), lifo },
    p: whole("p", attribute("p"), 4, 1, LIMITS.p),
    m: whole("m", attribute("m"), 8, 1, LIMITS.m),
    v: whole("v", attribute("v"), chunks, 1, LIMITS.v),
    ...{ memory: null, w_share: 1, recompute: "none", layers: null, vocabulary: "plain", offload: "none" },
    ...{
      recompute_at: "backward",
      spared: 0,
      streams: "none",
      receives: "torch",
      shared_link: false,
      weights: null,
      effort: null,
      seed: 1,
      order: null,
      forward_only: false,
      frozen: null,
    },
    ...{ sizes: null, fixed: 0, injection: "given", replicas: 1, deal: "given", replica: 0 },
    costs: { ...Object.fromEntries(costs), FB: null, S: null, T: null, O: null, R: null, wire: 0 },
  };
}

/** Refuse what the family cannot build, and what is too large to be drawn. */
function validate(spec: Spec) {
  const problem = refusal(spec);
  if (problem) throw new Wrong(problem.field, `${quoted(problem.field, problem.value)}: ${tr(problem)}${t(".")}`);
  const most = Math.max(1, Math.floor(LIMITS.ops / (3 * spec.p * spec.v)));
  if (spec.m <= most) return;
  throw new Wrong(
    "m",
    t("{given}: too many ops to draw at this p and v; at most {nearest}.", {
      given: quoted("m", spec.m),
      nearest: most,
    }),
  );
}

/** As the attribute is written: p="0". */
const quoted = (name: string, value: unknown) => `${name}="${value}"`;

/** rest: where it is left out. */
function whole(name: string, text: string | null, rest: number, least: number, most: number) {
  if (text === null) return rest;
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
  const near = Number.isFinite(value) && text.trim() !== "" ? Math.min(most, Math.max(least, Math.round(value))) : rest;
  throw new Wrong(
    name,
    t("{given} is not a whole number from {least} to {most}; the nearest is {nearest}.", {
      given: quoted(name, text),
      least,
      most,
      nearest: near,
    }),
  );
}

function number(name: string, text: string | null, rest: number, least: number, most: number) {
  if (text === null) return rest;
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most) return value;
  const near = Number.isFinite(value) && text.trim() !== "" ? Math.min(most, Math.max(least, value)) : rest;
  throw new Wrong(
    name,
    t("{given} is not a number from {least} to {most}; the nearest is {nearest}.", {
      given: quoted(name, text),
      least,
      most,
      nearest: near,
    }),
  );
}

function choice<T extends string>(name: string, text: string | null, words: T[]): T {
  const found = words.find((each) => each === text?.trim().toLowerCase());
  if (found || text === null) return found ?? words[0];
  throw new Wrong(
    name,
    t("{given} is not one of {words}; the nearest is {nearest}.", {
      given: quoted(name, text),
      words: words.join(", "),
      nearest: nearestWord(text, words),
    }),
  );
}

/** Absent: playback. Empty or "all": everything. */
function controlsOf(text: string | null): Control[] {
  if (text === null) return ["play"];
  const words = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  if (!words.length || words.includes("all")) return CONTROLS.filter((each) => each !== "table");
  if (words.includes("none")) return [];
  return words.map((word) => choice("controls", word, CONTROLS));
}

function familyOf(text: string | null) {
  if (text === null) return "1f1b";
  const name = FAMILY_NAMES[text.toLowerCase().replace(/[\s_-]/g, "")];
  if (name && Object.hasOwn(CONSTRUCTED, name)) return name;
  const nearest =
    { "zb-auto": "zb-h1", "v-auto": "v-zb", "chimera-auto": "chimera" }[name] ??
    nearestWord(text, Object.keys(CONSTRUCTED));
  if (name)
    throw new Wrong(
      "family",
      t("{given} is searched or imported, which takes a server; the nearest is {nearest}.", {
        given: quoted("family", text),
        nearest,
      }),
    );
  throw new Wrong(
    "family",
    t("{given} is not one of {words}; the nearest is {nearest}.", {
      given: quoted("family", text),
      words: Object.keys(CONSTRUCTED).join(", "),
      nearest,
    }),
  );
}

/** The word with the fewest letters to change. */
export const nearestWord = <T extends string>(text: string, words: T[]) =>
  words.reduce((best, word) => (distance(text, word) < distance(text, best) ? word : best));

/** Levenshtein's distance. */
function distance(a: string, b: string) {
  let row = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (const [i, letter] of [...a.toLowerCase().slice(0, 40)].entries()) {
    const next = [i + 1];
    for (let k = 0; k < b.length; k++)
      next.push(Math.min(row[k] + (letter === b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1));
    row = next;
  }
  return row[b.length];
}
