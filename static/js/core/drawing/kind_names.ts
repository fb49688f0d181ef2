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

/** What lighter colours mean in schedules that are shown together. */
export function shadeNames(schedules: { chunks: number; placement: { streams: number } }[]) {
  const lighter = schedules.filter(({ chunks }) => chunks > 1);
  return [
    ...(lighter.some(({ placement }) => placement.streams === 1) ? [t("lighter: later chunk")] : []),
    ...(lighter.some(({ placement }) => placement.streams > 1) ? [t("lighter: the other direction")] : []),
  ];
}
