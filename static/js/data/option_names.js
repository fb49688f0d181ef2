// What the choices of options are called: a spec's words in English, and what they are in the reader's language.
import { t } from "../core/i18n/language.js";

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
