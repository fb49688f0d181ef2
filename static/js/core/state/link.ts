// The whole view as a readable query and back: only what differs from the defaults.
//
// The other schedules' keys carry "b.", "c." and "d." and are relative to the first: ?family=1f1b&p=8&b.family=zb-h1
// compares both at p = 8. "none" is null. A list of costs is comma separated; k*x in it means x k times
// over. Keys that begin with "m." give the model and machine of the costs. A query of 300 characters or more
// is packed (z).

import { t } from "../i18n/language.ts";
import { IDS } from "./schedules.ts";
import { pairsOf, shortened } from "./long_link.ts";
import { withoutLayouts } from "./megatron_layout.ts";
import { presetParts, readPreset, type Preset } from "./link_preset.ts";
import { inWords } from "../schedule/per_chunk.ts";
import { COST_KEYS, IMPORTED, SPEC_FIELDS } from "../schedule/spec_tables.ts";
import { familyNamed, nearestKey, readSpecField, showSpecField } from "./link_fields.ts";
import { readArea } from "../timeline/area.ts";
import { readPlanLimits } from "./plan_limits.ts";
import { MOST_MARKS, MOST_PINS, readMarks, readPins } from "./marks.ts";
import type { Spec } from "../schedule/types.ts";

/** What of the page is in its address; null: as by default. */
export type ViewState = {
  t0: number | null; // begin and
  t1: number | null; // end of the zoom window
  at: number | null; // the playhead's time
  sel: string | null; // the selected op: "2F5", or "2F5@b" of another schedule
  theme: "auto" | "light" | "dark";
  tab: string | null; // the open tab of the drawer
  run: string | null; // the run shown
  families: string | null; // those compared: "1f1b,zb-h1", "-gpipe" for all but that, "none"
  mem: string | null; // memory strips: "1" shown, "0" hidden; by default where they matter
  chart: string | null; // "pareto", or with what goes up "pareto:bubble"; by default the first
  crit: string | null; // "1" draws the critical path
  micro: number | null; // the micro-batch that is followed
  lane: string | null; // "comm" shows messages under each row
  story: string | null; // the narration: "0" none, "ranks" also what each rank does; by default one line
  planned: string | null; // "1" shows where the plan had measured ops
  late: string | null; // "1" colours measured ops by how late they were
  area: string | null; // a selected area, "12-30@0-3" (area.ts)
  marks: string | null; // times, "3,10.5"
  pin: string | null; // pinned ranks, "0,7" or "b.3"
  gb: number | null; // memory of a device in GB for training plans; by default the machine's
  plan: string | null; // what training plans are limited to (plan_limits.ts)
  colours: string | null; // "paper"
  hatch: string | null; // "1" hatches the kinds
  lang: string | null; // the language; by default the browser's
};
export type State = {
  spec: Spec;
  others: Spec[];
  preset: Preset | null; // where the costs come from
  origin?: Preset; // where they came from before some were changed by hand
  view: ViewState;
};
export type Problem = { field: string; value: string; message: string };
/** v of a family when the query names none. */
type NaturalV = Record<string, number>;

/** Memory of a device in GB, as `gb` of /api/plans. */
export const [LEAST_GB, MOST_GB] = [0.001, 1e6];
const PREFIXES = IDS.slice(1).map((id) => `${id}.`);

/** The zoom to the seven digits that a screen can show; the playhead to as many as tell which ops have begun there. */
const rounded = (name: string, time: number) => Number(time.toPrecision(name === "at" ? 10 : 7));

function readTime(text: string): number | null {
  const time = /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  return Number.isFinite(time) ? time : null;
}

export function readGigabytes(text: string): number | null {
  const gigabytes = readTime(text);
  return gigabytes !== null && gigabytes >= LEAST_GB && gigabytes <= MOST_GB ? gigabytes : null;
}

const readCount = (text: string): number | null => (/^\d{1,7}$/.test(text) ? Number(text) : null);

const matching =
  (form: RegExp): ((text: string) => string | null) =>
  (text) =>
    form.test(text) ? text : null;

const readFamilies = matching(/^-?[a-z0-9][a-z0-9-]{0,39}(,[a-z0-9][a-z0-9-]{0,39}){0,63}$/);

/** Each view key, in the order of a link: its reader (null for a bad value) and a description of legal values. */
const VIEW_FIELDS: Record<keyof ViewState, [(text: string) => unknown, () => string]> = {
  t0: [readTime, () => t("a time of 0 or more")],
  t1: [readTime, () => t("a time of 0 or more")],
  at: [readTime, () => t("a time of 0 or more")],
  sel: [matching(/^[0-9A-Za-z_();@]{3,60}$/), () => t("an op such as 2F5 or 2F5@b")],
  theme: [matching(/^(auto|light|dark)$/), () => t("auto, light or dark")],
  tab: [matching(/^[a-z][a-z0-9-]{0,23}$/), () => t("the name of a tab")],
  run: [
    matching(/^[\w-]{1,64}(,[\w-]{1,64}){0,3}$/),
    () => t("the id of a run, or of up to four, with commas between"),
  ],
  families: [
    (text) => {
      const names = text.replace(/^-/, "").split(",").map(familyNamed).join(",");
      return readFamilies(text.startsWith("-") ? `-${names}` : names);
    },
    () => t("names of families such as 1f1b,zb-h1, or -gpipe for all but that one"),
  ],
  mem: [matching(/^[01]$/), () => t("1 for memory strips or 0 for none")],
  chart: [
    matching(/^[a-z][a-z0-9-]{0,23}(:[a-z0-9-]{1,24})?$/),
    () => t("the name of a chart such as pareto or pareto:bubble"),
  ],
  crit: [matching(/^1$/), () => t("1 for the critical path")],
  micro: [readCount, () => t("the number of a micro-batch")],
  lane: [matching(/^comm$/), () => t("comm for the lanes of messages")],
  story: [matching(/^(0|ranks)$/), () => t("0 for no narration, or ranks for what each rank does")],
  planned: [matching(/^1$/), () => t("1 for where the plan had measured ops")],
  late: [matching(/^1$/), () => t("1 for measured ops coloured by how late they were")],
  area: [(text) => (readArea(text) ? text : null), () => t("a time range and ranks such as 12-30@0-3")],
  marks: [
    (text) => (readMarks(text) ? text : null),
    () => t("at most {most} times such as 3,10.5", { most: MOST_MARKS }),
  ],
  pin: [(text) => (readPins(text) ? text : null), () => t("at most {most} ranks such as 0,7", { most: MOST_PINS })],
  gb: [readGigabytes, () => t("a memory in GB from {least} to {most}", { least: LEAST_GB, most: MOST_GB })],
  plan: [
    (text) => (readPlanLimits(text) ? text : null),
    () => t("limits of training plans such as {example}", { example: "gpus:64;batch:1024;framework:megatron" }),
  ],
  colours: [matching(/^paper$/), () => t("paper for colours as papers print them")],
  hatch: [matching(/^1$/), () => t("1 for hatching of the kinds")],
  lang: [matching(/^(en|zh)$/), () => t("en or zh")],
};
const VIEW_KEYS = Object.keys(VIEW_FIELDS) as (keyof ViewState)[];
const PLAIN_VIEW = { ...Object.fromEntries(VIEW_KEYS.map((key) => [key, null])), theme: "auto" } as ViewState;

/** The keys of a query, each once. */
function entries(search: string, problems: Problem[]) {
  const found = new Map<string, string>();
  const { plain, packed, broken } = pairsOf(search);
  if (broken !== null)
    problems.push({
      field: "z",
      value: broken,
      message: t("z must be a packed view, all of it; a part of this link is missing"),
    });
  for (const [key, value] of plain) {
    if (found.has(key))
      problems.push({ field: key, value, message: t("{field} is given twice; the first one counts", { field: key }) });
    else found.set(key, value);
  }
  for (const [key, value] of packed) if (!found.has(key)) found.set(key, value);
  return found;
}

const naturalV = (family: string, base: Spec, natural: NaturalV) =>
  family === IMPORTED ? 1 : (natural[family] ?? base.v);

function readSpec(
  given: Map<string, string>,
  prefix: string,
  base: Spec,
  natural: NaturalV,
  problems: Problem[],
): Spec {
  const spec: Spec = { ...base, costs: { ...base.costs } };
  for (const name of SPEC_FIELDS) {
    // After the family and before v: a family brings its own natural v, and an imported order is one schedule's own.
    if (name === "v" && spec.family !== base.family)
      Object.assign(spec, { v: naturalV(spec.family, base, natural), order: null });
    const text = given.get(prefix + name);
    if (text === undefined) continue;
    given.delete(prefix + name);
    const read = readSpecField(name, text);
    if ("wanted" in read) {
      problems.push({
        field: prefix + name,
        value: text,
        message: t("{field} must be {wanted}", { field: prefix + name, wanted: read.wanted }),
      });
    } else if (COST_KEYS.includes(name)) Object.assign(spec.costs, { [name]: read.value });
    else Object.assign(spec, { [name]: read.value });
  }
  return inWords(spec);
}

function readView(given: Map<string, string>, problems: Problem[]): ViewState {
  const view: Record<string, unknown> = { ...PLAIN_VIEW };
  for (const [name, [read, wanted]] of Object.entries(VIEW_FIELDS)) {
    const text = given.get(name);
    if (text === undefined) continue;
    given.delete(name);
    const value = read(text);
    if (value === null)
      problems.push({
        field: name,
        value: text,
        message: t("{field} must be {wanted}", { field: name, wanted: wanted() }),
      });
    else view[name] = value;
  }
  const { t0, t1 } = view as ViewState;
  if (t0 !== null && t1 !== null && t1 <= t0) {
    problems.push({ field: "t1", value: String(t1), message: t("t1 must be greater than t0, which is {t0}", { t0 }) });
    view.t0 = view.t1 = null;
  }
  return view as ViewState;
}

/**
 * Never throws: a bad value is reported and its default taken. An unknown key is kept aside in unknown; it is reported
 * only if it looks like one of ours, because sites and mail programs append their own (utm_source, fbclid).
 */
export function parse(
  search: string,
  defaults: Spec,
  natural: NaturalV = {},
): { state: State; problems: Problem[]; unknown: Record<string, string> } {
  const problems: Problem[] = [];
  const given = entries(search, problems);
  withoutLayouts(given);
  const spec = readSpec(given, "", defaults, natural, problems);
  const named = PREFIXES.filter((prefix) => SPEC_FIELDS.some((name) => given.has(prefix + name)));
  const others = named.map((prefix) => readSpec(given, prefix, spec, natural, problems));
  const source = readPreset(given, problems);
  const view = readView(given, problems);
  for (const [field, value] of given) {
    const close = nearestKey(field, PREFIXES, SPEC_FIELDS, VIEW_KEYS);
    if (close !== null)
      problems.push({
        field,
        value,
        message: t("{field} is no key of a link; did you mean {close}?", { field, close }),
      });
    else if (/^[bcdm]\./.test(field))
      problems.push({ field, value, message: t("{field} is no part of a link; it is ignored", { field }) });
  }
  return { state: { spec, others, ...source, view }, problems, unknown: Object.fromEntries(given) };
}

/** The view keys that say how the page looks, not what it shows. */
export const APPEARANCE: string[] = ["theme", "colours", "hatch", "lang"];

/** Whether a view differs from another one, by default the plain one, in its appearance at most. */
export const isPlainView = (view: ViewState, other = PLAIN_VIEW) =>
  VIEW_KEYS.every((key) => APPEARANCE.includes(key) || view[key] === other[key]);

/** Whether a key of a query is one of ours. */
export const isLinkKey = (key: string) =>
  key === "z" || key in VIEW_FIELDS || SPEC_FIELDS.includes(key) || /^[bcdm]\./.test(key);

/** Escapes what a query cannot hold and leaves what people can read. */
const escape = (text: string) =>
  encodeURIComponent(text).replace(/%(2C|3B|3A|40)/g, (code) => decodeURIComponent(code));

/** What a spec differs in from another, as query parts. */
function specParts(spec: Spec, base: Spec, prefix: string, natural: NaturalV): string[] {
  const from = spec.family === base.family ? base : { ...base, v: naturalV(spec.family, base, natural), order: null };
  return SPEC_FIELDS.flatMap((name) => {
    const now = showSpecField(name, spec);
    return now === showSpecField(name, from) ? [] : [`${prefix}${name}=${escape(now)}`];
  });
}

/** The query of a state: "" for the defaults, "?..." otherwise; packed where it would be long. */
export function format({ spec, others, preset, origin, view }: State, defaults: Spec, natural: NaturalV = {}): string {
  const parts = specParts(spec, defaults, "", natural);
  others.forEach((other, at) => {
    const differs = specParts(other, spec, PREFIXES[at], natural);
    // Without any key there would be no such schedule, so an equal one names its family.
    parts.push(...(differs.length ? differs : [`${PREFIXES[at]}family=${escape(other.family)}`]));
  });
  parts.push(...presetParts(preset, origin).map(([key, text]) => `${key}=${escape(text)}`));
  for (const name of VIEW_KEYS) {
    const value = view[name];
    if (value === null || value === PLAIN_VIEW[name]) continue;
    parts.push(`${name}=${escape(typeof value === "number" ? String(rounded(name, value)) : value)}`);
  }
  return shortened(parts.length ? `?${parts.join("&")}` : "");
}

/**
 * The query for /api/schedule: family, p, m and v always, because the server has its own natural v. Returns
 * "?family=...".
 */
export function specQuery(spec: Spec, defaults: Spec): string {
  const always = ["family", "p", "m", "v"];
  const names = SPEC_FIELDS.filter(
    (name) => always.includes(name) || showSpecField(name, spec) !== showSpecField(name, defaults),
  );
  return `?${names.map((name) => `${name}=${escape(showSpecField(name, spec))}`).join("&")}`;
}
