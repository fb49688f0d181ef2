// The kinds of op as a legend calls them.
import { t } from "../i18n/language.ts";

/** By kind. */
export const kindNames = () => [
  t("F forward"),
  t("I input gradient"),
  t("W weight gradient"),
  t("B full backward = I + W"),
  t("F and B overlapped"),
  t("S output layer's shard"),
  t("T its gradients"),
];
