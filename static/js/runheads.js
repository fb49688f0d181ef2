// What is said of a run where it stands beside others: its heading on the timeline, its link.
import { t, tr } from "./pure/lang.js";
import { isOver } from "./runclient.js";
import { deviceName, modeName } from "./runpanel.js";

/** @import {Run} from "./runclient.js" */

/** @param {string} query of the schedule, with its "?" @param {string} id */
export const linkTo = (query, id) => `${query ? `${query}&` : "?"}run=${id}&tab=run`;

/** @param {Run} run */
export function headOf(run) {
  const over = isOver(run);
  const elsewhere = run.mode === "imported";
  const verdict = run.verified ? t("verified") : elsewhere ? t("not verified here") : t("not verified");
  const badge = !over ? t("live") : run.status === "finished" ? verdict : tr(run.status);
  return { title: nameOf(run), badge, tone: !over ? "live" : run.verified ? "good" : elsewhere ? "" : "bad" };
}

/** A trace may be of a real run, or of times that this program worked out. @param {Run} run */
const nameOf = (run) => (run.device === "simulated" ? t("Imported trace") : t("Measured"));

/** How and on what it ran. @param {Run} run */
export function aboutOf(run) {
  return [run.mode ? modeName(run.mode) : "", run.device ? deviceName(run.device) : "", run.overlapped === false ? t("not overlapped") : ""].filter(Boolean);
}
