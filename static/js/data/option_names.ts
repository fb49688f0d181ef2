// Names in the reader's language: of the choices of options, and of the groups of families.
import { t, tr } from "../core/i18n/language.ts";
import type { Family, Modes } from "../core/schedule/types.ts";

const named = (names: Record<string, string>, value: string) => (Object.hasOwn(names, value) ? names[value] : value);

export const vocabularyName = (value: string) =>
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

/** Modes of recomputation or of offload: "full", or of each chunk "2×full/none". */
export function modesName(modes: Modes) {
  const names = { none: t("none"), selective: t("selective"), full: t("full") };
  if (typeof modes === "string") return named(names, modes);
  const runs: [string, number][] = [];
  for (const mode of modes) {
    const last = runs[runs.length - 1];
    if (last?.[0] === mode) last[1]++;
    else runs.push([mode, 1]);
  }
  return runs.map(([mode, count]) => (count > 1 ? `${count}×` : "") + named(names, mode)).join("/");
}

/** When what is dropped is computed again. */
export const againName = (value: string) =>
  named({ backward: t("with the backward"), ahead: t("ahead of gradient"), bubble: t("in the bubble") }, value);

/** Families by group, both in the order of the list. */
export function familyGroups(families: Family[]): { title: string; families: Family[] }[] {
  const groups = new Map<string, Family[]>();
  for (const family of families) {
    const title = tr(family.group);
    groups.set(title, [...(groups.get(title) ?? []), family]);
  }
  return [...groups].map(([title, members]) => ({ title, families: members }));
}
