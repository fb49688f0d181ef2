// The kinds of op as a legend calls them.
import { t } from "../i18n/language.ts";

/** By kind. split: whether there are halves of backwards too, which its name then explains. */
export const kindNames = (split = true) => [
  t("F forward"),
  t("I input gradient"),
  t("W weight gradient"),
  split ? t("B full backward = I + W") : t("B backward"),
  t("F and B overlapped"),
  t("S output layer's shard"),
  t("T its gradients"),
];
