// How a run is named beside others: the words of its mode, device and hosts, its heading on the timeline, its link.
import { t, tr } from "../../core/i18n/language.js";
import { figures } from "../../core/schedule/metrics.js";
import { IMPORTED } from "../../core/schedule/spec_tables.js";
import { isOver } from "./client.js";

/** @import {Spec} from "../../core/schedule/types.js" */
/** @import {Figures} from "../../core/schedule/metrics.js" */
/** @import {Run} from "./client.js" */
/** @import {WatchedRun} from "./watched_run.js" */
/** @typedef {(spec: Spec) => string} Title  of a schedule */
/**
 * @typedef {{id: string, title: string, about: string, figures: Figures, held: number | null}} Measurement a measured
 *   lane in the plan's unit; held: the most bytes of activations on a rank
 */

/** @param {string} query of the schedule, with its "?" @param {string} id */
export const linkTo = (query, id) => `${query ? `${query}&` : "?"}run=${id}&tab=run`;

/** @param {string} mode of a run */
export function modeName(mode) {
  return { paced: t("paced"), free: t("free"), imported: t("imported") }[mode] ?? mode;
}

/** @param {string} device of a run */
export function deviceName(device) {
  return { elsewhere: t("elsewhere"), simulated: t("simulated") }[device] ?? device;
}

/** The options of a run that differ from their defaults. @param {Pick<Run, "asked">} run */
export function unusual({ asked }) {
  if (!asked) return [];
  return [
    asked.dtype === "float32" ? "" : asked.dtype,
    asked.steps > 1 ? t("{n} steps", { n: asked.steps }) : "",
    asked.seed ? t("seed {n}", { n: asked.seed }) : "",
  ].filter(Boolean);
}

/** How many hosts a run was on, where they are several. @param {Pick<Run, "hosts">} run */
export function hostCount({ hosts }) {
  const n = new Set(hosts ?? []).size;
  return n > 1 ? t("{n} hosts", { n }) : "";
}

/** Why a run failed, in the reader's language. @param {Run} run */
export const failureText = ({ failure }) =>
  failure ? tr(failure.code === "unspecified" ? failure.message : failure) : t("no reason given");

/** A run has the schedule's own sizes and order, whatever its costs. @param {Spec} spec of the run @param {Spec} now */
export const isOf = (spec, now) =>
  spec.family === now.family && spec.p === now.p && spec.m === now.m && spec.v === now.v && spec.order === now.order;

/** @param {Run} run @param {Title} title */
export const titleOf = (run, title) =>
  run.mode === "imported" ? t("Imported trace") : t("{title}, measured", { title: title(run.spec) });

/**
 * The headings over the measured lanes.
 * @param {WatchedRun[]} all
 * @param {Spec[]} shown the schedules on the screen
 * @param {Title} title
 */
export function headingsOf(all, shown, title) {
  return all.flatMap(({ run, lane, laneId }) => {
    if (!run || !lane) return [];
    const measured = figures(lane.schedule, lane.times);
    return [
      {
        id: laneId,
        ...verdictOf(run),
        sizes: [whichOf(run, shown, title), ...aboutOf(run)].filter(Boolean).join(" · "),
        bubble: measured.bubble.global.ofTotal,
        makespan: Math.round(measured.makespan * 100) / 100,
        many: true,
      },
    ];
  });
}

/** The measured lanes that are complete, for the comparison. @param {WatchedRun[]} all @param {Title} title
 * @returns {Measurement[]} */
export const measurementsOf = (all, title) =>
  all.flatMap(({ run, lane, laneId }) =>
    run && lane && !lane.live && run.status === "finished"
      ? [
          {
            id: laneId,
            title: titleOf(run, title),
            about: aboutOf(run).join(" · "),
            figures: figures(lane.schedule, lane.times),
            held: peakBytes(run),
          },
        ]
      : [],
  );

/** The peak of activations in bytes on a rank; null where it was not measured. @param {Pick<Run, "activations">} run */
export const peakBytes = ({ activations }) => (activations ? Math.max(...activations.peak_bytes) : null);

/** @param {Run} run */
function verdictOf(run) {
  const over = isOver(run);
  const imported = run.mode === "imported";
  const verdict = run.verified ? t("verified") : imported ? t("not verified here") : t("not verified");
  const badge = !over ? t("live") : run.status === "finished" ? verdict : tr(run.status);
  return { title: nameOf(run), badge, tone: !over ? "live" : run.verified ? "good" : imported ? "" : "bad" };
}

/** A trace may be of a real run, or of simulated times. @param {Run} run */
const nameOf = (run) => (run.device === "simulated" ? t("Imported trace") : t("Measured"));

/** Mode, device, hosts and options. @param {Run} run */
function aboutOf(run) {
  return [
    run.mode ? modeName(run.mode) : "",
    run.device ? deviceName(run.device) : "",
    hostCount(run),
    ...unusual(run),
    run.overlapped === false ? t("not overlapped") : "",
  ].filter(Boolean);
}

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
