// Names of what a step loses time to.
import { t } from "../../core/i18n/language.ts";

const names = (): Record<string, string> => ({
  work: t("work"),
  fill_and_drain: t("fill and drain"),
  dependency: t("dependency"),
  imbalance: t("uneven stages"),
  worker: t("slow workers"),
  micro_batches: t("micro-batches that differ"),
  jitter: t("jitter"),
  transfer: t("messages"),
  link: t("slow links"),
  head_of_line: t("messages behind others"),
  overhead: t("launch overhead"),
  pause: t("pauses"),
  replicas: t("waiting for replicas"),
  tail: t("tail of the step"),
  unexplained: t("unexplained"),
  all: t("all together"),
});

export const causeName = (cause: string) => names()[cause] ?? cause;
