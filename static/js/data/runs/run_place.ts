// Where runs are executed, which the server writes into the page.
import { t } from "../../core/i18n/language.ts";

/** The label of the button that starts a run. */
export function runLabel() {
  const { runsOn = "here" } = document.documentElement.dataset;
  if (runsOn === "here") return t("Run on this computer");
  if (runsOn === "cluster") return t("Run on the Ray cluster");
  const [kind, name = ""] = runsOn.split(" ");
  return kind === "cluster" ? t("Run on cluster {name}", { name }) : t("Run on {name}", { name: runsOn });
}
