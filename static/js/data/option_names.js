// Names in the reader's language: of the choices of options, and of the groups of families.
import { t, tr } from "../core/i18n/language.js";

/** @import {Family, Modes} from "../core/schedule/types.js" */

/** @param {Record<string, string>} names @param {string} value */
const named = (names, value) => (Object.hasOwn(names, value) ? names[value] : value);

/** @param {string} value */
export const vocabularyName = (value) =>
  named(
    {
      plain: t("plain"),
      redistribute: t("redistribute"),
      "parallel-1": t("parallel-1"),
      "parallel-2": t("parallel-2"),
      interlaced: t("interlaced"),
    },
    value,
  );

/** Modes of recomputation or of offload: "full", or of each chunk "2×full/none". @param {Modes} modes */
export function modesName(modes) {
  const names = { none: t("none"), selective: t("selective"), full: t("full") };
  if (typeof modes === "string") return named(names, modes);
  /** @type {[string, number][]} */
  const runs = [];
  for (const mode of modes) {
    const last = runs[runs.length - 1];
    if (last?.[0] === mode) last[1]++;
    else runs.push([mode, 1]);
  }
  return runs.map(([mode, count]) => (count > 1 ? `${count}×` : "") + named(names, mode)).join("/");
}

/**
 * Families by group, both in the order of the list.
 * @param {Family[]} families
 * @returns {{title: string, families: Family[]}[]}
 */
export function familyGroups(families) {
  /** @type {Map<string, Family[]>} */
  const groups = new Map();
  for (const family of families) {
    const title = tr(family.group);
    groups.set(title, [...(groups.get(title) ?? []), family]);
  }
  return [...groups].map(([title, members]) => ({ title, families: members }));
}
