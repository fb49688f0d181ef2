// Names in the reader's language: of the choices of options, and of the groups of families.
import { t, tr } from "../core/i18n/language.js";

/** @import {Family} from "../core/schedule/types.js" */

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

/** @param {string} value */
export const offloadName = (value) => named({ none: t("none"), selective: t("selective"), full: t("full") }, value);

/** @param {string} value */
export const recomputeName = (value) => named({ none: t("none"), selective: t("selective"), full: t("full") }, value);

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
