// What is said of a run where it stands beside others: its heading on the timeline, its link.
import { t, tr } from "../../core/i18n/language.js";
import { figures } from "../../core/schedule/metrics.js";
import { IMPORTED } from "../../core/schedule/spec_tables.js";
import { isOver } from "../../data/runs/client.js";
import { deviceName, modeName, unusual } from "./facts.js";
import { hostCount } from "./hosts.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Figures} from "../../core/schedule/metrics.js" */
/** @import {Run} from "../../data/runs/client.js" */
/** @import {Watched} from "../../data/runs/watched_run.js" */
/** @typedef {(spec: Spec) => string} Title  of a schedule */
/**
 * @typedef {{id: string, title: string, about: string, figures: Figures, held: number | null}} Measurement a measured
 *   lane in the plan's unit; held: the most bytes of activations on a rank
 */

/** @param {string} query of the schedule, with its "?" @param {string} id */
export const linkTo = (query, id) => `${query ? `${query}&` : "?"}run=${id}&tab=run`;

/** @param {Run} run */
function headOf(run) {
  const over = isOver(run);
  const elsewhere = run.mode === "imported";
  const verdict = run.verified ? t("verified") : elsewhere ? t("not verified here") : t("not verified");
  const badge = !over ? t("live") : run.status === "finished" ? verdict : tr(run.status);
  return { title: nameOf(run), badge, tone: !over ? "live" : run.verified ? "good" : elsewhere ? "" : "bad" };
}

/** A trace may be of a real run, or of times that this program worked out. @param {Run} run */
const nameOf = (run) => (run.device === "simulated" ? t("Imported trace") : t("Measured"));

/** How and on what it ran. @param {Run} run */
function aboutOf(run) {
  return [
    run.mode ? modeName(run.mode) : "",
    run.device ? deviceName(run.device) : "",
    hostCount(run),
    ...unusual(run),
    run.overlapped === false ? t("not overlapped") : "",
  ].filter(Boolean);
}

/** Whether a run is of this schedule, whatever its costs. @param {Spec} spec of the run @param {Spec} now */
export const isOf = (spec, now) =>
  spec.family === now.family && spec.p === now.p && spec.m === now.m && spec.v === now.v && spec.order === now.order;

/**
 * Which schedule was run, where it is none of those on the screen, or one of several.
 * @param {Run} run
 * @param {Spec[]} shown
 * @param {Title} title
 */
function whichOf({ spec }, shown, title) {
  const [now] = shown;
  if (shown.length === 1 && isOf(spec, now)) return "";
  const sizes = shown.every(({ p, m }) => p === spec.p && m === spec.m) ? "" : `p ${spec.p} m ${spec.m}`;
  if (spec.family !== IMPORTED)
    return [title(spec), sizes || (shown.some((each) => isOf(spec, each)) ? "" : `p ${spec.p} m ${spec.m}`)]
      .filter(Boolean)
      .join(" ");
  return sizes ? `${t("its own order")}, ${sizes}` : t("its own order");
}

/** @param {Run} run @param {Title} title */
export const titleOf = (run, title) =>
  run.mode === "imported" ? t("Imported trace") : t("{title}, measured", { title: title(run.spec) });

/**
 * The headings over the measured lanes.
 * @param {Watched[]} all
 * @param {Spec[]} shown the schedules on the screen
 * @param {Title} title
 */
export function headsOf(all, shown, title) {
  return all.flatMap(({ run, lane, name }) => {
    if (!run || !lane) return [];
    const seen = figures(lane.schedule, lane.times);
    return [
      {
        id: name,
        ...headOf(run),
        sizes: [whichOf(run, shown, title), ...aboutOf(run)].filter(Boolean).join(" · "),
        bubble: seen.bubble.global.ofTotal,
        makespan: Math.round(seen.makespan * 100) / 100,
        many: true,
      },
    ];
  });
}

/** The measured lanes that are whole. @param {Watched[]} all @param {Title} title @returns {Measurement[]} */
export const measuredOf = (all, title) =>
  all.flatMap(({ run, lane, name }) =>
    run && lane && !lane.live && run.status === "finished"
      ? [
          {
            id: name,
            title: titleOf(run, title),
            about: aboutOf(run).join(" · "),
            figures: figures(lane.schedule, lane.times),
            held: mostHeld(run),
          },
        ]
      : [],
  );

/** The most bytes of activations that a rank of a run held; null where it was not measured. @param {Run} run */
export const mostHeld = ({ activations }) => (activations ? Math.max(...activations.peak_bytes) : null);
