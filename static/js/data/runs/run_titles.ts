// How a run is named beside others: the words of its mode, device and hosts, its heading on the timeline, its link.
import { t, tr } from "../../core/i18n/language.ts";
import { figures, type Figures } from "../../core/schedule/metrics.ts";
import { IMPORTED } from "../../core/schedule/spec_tables.ts";
import { sentence } from "../../ui/dom.ts";
import { isOver, type Run } from "./client.ts";
import type { Spec } from "../../core/schedule/types.ts";
import type { WatchedRun } from "./watched_run.ts";

/** Of a schedule. */
export type Title = (spec: Spec) => string;
/** A measured lane in the plan's unit. */
export type Measurement = {
  id: string;
  title: string;
  about: string;
  figures: Figures;
  held: number | null; // the most bytes of activations on a rank
};

/** query: of the schedule, with its "?". */
export const linkTo = (query: string, id: string) => `${query ? `${query}&` : "?"}run=${id}&tab=run`;

/** mode: of a run. */
export function modeName(mode: string) {
  return { paced: t("paced"), free: t("free"), imported: t("imported") }[mode] ?? mode;
}

/** device: of a run. */
export function deviceName(device: string) {
  return { elsewhere: t("elsewhere"), simulated: t("simulated") }[device] ?? device;
}

/** The options of a run that differ from their defaults. */
export function unusual({ asked }: Pick<Run, "asked">) {
  if (!asked) return [];
  return [
    asked.dtype === "float32" ? "" : asked.dtype,
    asked.steps > 1 ? t("{n} steps", { n: asked.steps }) : "",
    asked.seed ? t("seed {n}", { n: asked.seed }) : "",
  ].filter(Boolean);
}

/** How many hosts a run was on, where they are several. */
export function hostCount({ hosts }: Pick<Run, "hosts">) {
  const n = new Set(hosts ?? []).size;
  return n > 1 ? t("{n} hosts", { n }) : "";
}

/** Why a run failed, in the reader's language. */
export const failureText = ({ failure }: Run) =>
  failure ? tr(failure.code === "unspecified" ? failure.message : failure) : t("no reason given");

/** A run has the schedule's own sizes and order, whatever its costs. spec: of the run. */
export const isOf = (spec: Spec, now: Spec) =>
  spec.family === now.family && spec.p === now.p && spec.m === now.m && spec.v === now.v && spec.order === now.order;

/** "p 4 · m 8 · v 2". */
export const sizesText = ({ p, m, v }: Spec) => `p ${p} · m ${m}${v > 1 ? ` · v ${v}` : ""}`;

/** The name that a reader gave it, else what was run. title: of its schedule. */
export const nameOf = (run: Run, title: string) => run.name || (run.mode === "imported" ? t("Imported trace") : title);

/** What became of a run, in a word; more: why it failed. */
export function outcomeOf(run: Run) {
  const { status, mode, verified, failure, position } = run;
  if (status === "finished" && mode === "imported") return { word: t("not verified here"), tone: "" };
  if (status === "finished")
    return verified
      ? { word: `✓ ${t("verified")}`, tone: "good" }
      : { word: `✗ ${t("NOT equal to the reference")}`, tone: "bad" };
  if (status === "failed")
    return { word: `✗ ${t("failed")}`, tone: "bad", more: failure ? sentence(failureText(run)) : "" };
  if (status === "queued" && position) return { word: t("queued, number {n} in line", { n: position }), tone: "" };
  return { word: tr(status), tone: "" };
}

export const titleOf = (run: Run, title: Title) =>
  run.mode === "imported" ? t("Imported trace") : t("{title}, measured", { title: title(run.spec) });

/** The headings over the measured lanes. shown: the schedules on the screen. */
export function headingsOf(all: WatchedRun[], shown: Spec[], title: Title) {
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

/** The measured lanes that are complete, for the comparison. */
export const measurementsOf = (all: WatchedRun[], title: Title): Measurement[] =>
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

/** The peak of activations in bytes on a rank; null where it was not measured. */
export const peakBytes = ({ activations }: Pick<Run, "activations">) =>
  activations ? Math.max(...activations.peak_bytes) : null;

function verdictOf(run: Run) {
  const over = isOver(run);
  const imported = run.mode === "imported";
  const verdict = run.verified ? t("verified") : imported ? t("not verified here") : t("not verified");
  const badge = !over ? t("live") : run.status === "finished" ? verdict : tr(run.status);
  return { title: headingOf(run), badge, tone: !over ? "live" : run.verified ? "good" : imported ? "" : "bad" };
}

/** A trace may be of a real run, or of simulated times. */
const headingOf = (run: Run) => (run.device === "simulated" ? t("Imported trace") : t("Measured"));

/** Mode, device, hosts and options. */
function aboutOf(run: Run) {
  return [
    run.mode ? modeName(run.mode) : "",
    run.device ? deviceName(run.device) : "",
    hostCount(run),
    ...unusual(run),
    run.overlapped === false ? t("not overlapped") : "",
  ].filter(Boolean);
}

/** Which schedule was run, where it is none of those on the screen, or one of several. */
function whichOf({ spec }: Run, shown: Spec[], title: Title) {
  const [now] = shown;
  if (shown.length === 1 && isOf(spec, now)) return "";
  const sizes = shown.every(({ p, m }) => p === spec.p && m === spec.m) ? "" : `p ${spec.p} m ${spec.m}`;
  if (spec.family !== IMPORTED)
    return [title(spec), sizes || (shown.some((each) => isOf(spec, each)) ? "" : `p ${spec.p} m ${spec.m}`)]
      .filter(Boolean)
      .join(" ");
  return sizes ? `${t("its own order")}, ${sizes}` : t("its own order");
}
