// Which p, m, v and group a family takes, with the nearest legal value: the same rules and sentences as the server's
// (the `legal` of each family in backend/schedule/families).
import { GENERATED } from "./families.js";
import { withChunks } from "../schedule/per_chunk.js";
import { groupSize, halfGroup } from "./interleaved.js";

/** @import {Spec, SpecError} from "../schedule/types.js" */
/** @import {Param} from "../i18n/language.js" */

/**
 * @param {string} field @param {number} value @param {number | null} nearest @param {string} code
 * @param {string} template the server's English, with holes @param {Record<string, Param>} params
 * @returns {SpecError}
 */
const error = (field, value, nearest, code, template, params) => ({
  field,
  value,
  nearest,
  code: `schedule.${code}`,
  params,
  message: template.replace(/\{(\w+)\}/g, (_, name) => String(params[name])),
});

/** The reason why a family cannot build a spec, null where it can. @param {Spec} spec @returns {SpecError | null} */
export function refusal(spec) {
  const { family, v } = spec;
  const { title, v: range } = GENERATED[family];
  const [least, , most] = range;
  if (v >= least && v <= most) return (RULES[family] ?? (() => null))(spec);
  const nearest = v < least ? least : most;
  if (least === most)
    return error("v", v, nearest, "family_takes_v_exactly", "{family} takes v exactly {v}", {
      family: title,
      v: least,
    });
  const params = { family: title, least, most };
  return error("v", v, nearest, "family_takes_v_from", "{family} takes v from {least} to {most}", params);
}

/** @type {Record<string, (spec: Spec) => SpecError | null>} */
const RULES = {
  interleaved: (spec) => groups(spec, spec.p - 1),
  "interleaved-zb": (spec) => groups(spec, Math.floor(spec.p / 2)), // half the warm-up of interleaved 1F1B
  gis: (spec) => wholeGroups(spec, spec.p),
  "gis-h": (spec) => wholeGroups(spec, halfGroup(spec.p)),
  chimera: wholeUnits,
  dualpipe: evenAndMany,
  dualpipev: ({ p, m }) =>
    m < 2 * p
      ? error(
          "m",
          m,
          2 * p,
          "dualpipev_needs_more_micro_batches",
          "DualPipeV needs at least 2p = {least} micro-batches",
          { least: 2 * p },
        )
      : null,
};

/** Chimera: p is even, and m a multiple of it. @param {Spec} spec */
function wholeUnits({ p, m }) {
  if (p % 2)
    return error(
      "p",
      p,
      p + 1,
      "chimera_needs_even_p",
      "Chimera needs an even number of devices; p = {nearest} is the nearest",
      { nearest: p + 1 },
    );
  if (m % p === 0) return null;
  const nearest = Math.max(p, halfToEven(m / p) * p);
  return error(
    "m",
    m,
    nearest,
    "chimera_needs_whole_units",
    "Chimera takes p micro-batches at a time, half of them in each direction; m = {nearest} is the nearest",
    { nearest },
  );
}

/** DualPipe: p is even, m is even, and m >= 2p. @param {Spec} spec */
function evenAndMany({ p, m }) {
  const odd = "DualPipe needs an even number of ";
  if (p % 2)
    return error("p", p, p + 1, "dualpipe_needs_even_p", `${odd}devices; p = {nearest} is the nearest`, {
      nearest: p + 1,
    });
  if (m < 2 * p)
    return error(
      "m",
      m,
      2 * p,
      "dualpipe_needs_more_micro_batches",
      "DualPipe needs at least 2p = {least} micro-batches",
      { least: 2 * p },
    );
  if (m % 2)
    return error("m", m, m + 1, "dualpipe_needs_even_m", `${odd}micro-batches; {nearest} is the nearest`, {
      nearest: m + 1,
    });
  return null;
}

/** m is a multiple of g. @param {Spec} spec @param {number} g */
function wholeGroups({ m }, g) {
  if (m % g === 0) return null;
  const nearest = Math.max(g, halfToEven(m / g) * g);
  return error(
    "m",
    m,
    nearest,
    "whole_groups_needed",
    "micro-batches go in groups of {group}; m = {nearest} is the nearest that is whole groups",
    { group: g, nearest },
  );
}

/** As Python rounds: a half to the even number. @param {number} x */
const halfToEven = (x) => (x % 1 === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** Every group has `least` micro-batches, or there is one chunk or one group; smaller ones deadlock. With torch's own
 * group size, m must be whole groups. @param {Spec} spec @param {number} least */
function groups(spec, least) {
  const { p, m, v } = spec;
  const g = groupSize(spec);
  if (g > m) return error("group", g, m, "group_larger_than_m", "group must be at most m = {m}", { m });
  if (runs(spec, m, least)) return null;
  if (g < least && spec.group !== null) {
    const nearest = Math.min(least, m);
    return error(
      "group",
      g,
      nearest,
      "groups_deadlock",
      "groups of {group} deadlock on {p} devices with v = {v}; {nearest} is the least that works",
      { group: g, p, v, nearest },
    );
  }
  const nearest = nearestThatRuns(spec, least);
  return error(
    "m",
    m,
    nearest,
    "groups_leave_a_rest",
    "groups of {group} leave {rest} of m = {m} micro-batches over; m = {nearest} is the nearest that works",
    { group: g, rest: m % g, m, nearest },
  );
}

/** @param {Spec} spec @param {number} least */
function nearestThatRuns(spec, least) {
  for (let d = 1; d <= spec.m; d++) {
    for (const m of [spec.m - d, spec.m + d]) if (m > 0 && runs(spec, m, least)) return m;
  }
  return null;
}

/** @param {Spec} spec @param {number} m @param {number} least */
function runs(spec, m, least) {
  const g = groupSize({ ...spec, m });
  const rest = m % g;
  if (spec.group === null) return rest === 0;
  return spec.v === 1 || g === m || (least <= g && g < m && (rest === 0 || rest >= least));
}

const MOST_STEPS = 8;

/**
 * The legal spec next to one: refused fields take the nearest legal values, one after the other. Null where there is
 * none. @param {Spec} spec @returns {Spec | null}
 */
export function legalNear(spec) {
  let near = spec;
  for (let step = 0; step < MOST_STEPS; step++) {
    const problem = refusal(near);
    if (!problem) return near;
    if (problem.nearest === null) return null;
    const { field, nearest } = problem;
    near = field === "v" ? withChunks(near, Number(nearest)) : { ...near, [field]: nearest };
  }
  return null;
}
