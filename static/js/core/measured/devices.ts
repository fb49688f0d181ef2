// Which devices a run would use, and why: a sentence from what the runner has reported.
import { t, tr } from "../i18n/language.ts";

/** Memory in bytes. */
export type Device = {
  kind: string;
  cores?: number;
  name?: string;
  memory?: number | null;
  index?: number;
  capability?: string | null;
  host?: string;
};
/** The default device and mode of runs with from .. to ranks. */
export type Choice = { from: number; to: number; device: string; mode: string };
export type Devices = {
  state: string;
  why: string;
  devices: Device[];
  choices: Choice[];
  engine?: string; // local or ray, once the runner has reported it
};

/** Why nothing can be run here at all: what is to be installed; "" where that is not so, or not known yet. */
export const lacking = (known: Devices | null) => (known?.state === "missing" ? tr(known.why) : "");

/** The default of a run with this many ranks; nothing until the runner has reported it. */
export const choiceFor = ({ choices }: Devices, p: number) => choices.find(({ from, to }) => from <= p && p <= to);

/** The most ranks that a run has here, if that is fewer than `p`; otherwise, and until it is known, null. */
export function fewerRanks(known: Devices | null, p: number) {
  if (known?.state !== "ready" || !known.choices.length || choiceFor(known, p)) return null;
  return Math.max(...known.choices.map(({ to }) => to));
}

/** The cores of all hosts, at least 1. */
export const coresOf = ({ devices }: Devices) =>
  Math.max(
    1,
    devices.reduce((sum, each) => sum + (each.kind === "cpu" ? (each.cores ?? 0) : 0), 0),
  );

export const gpusOf = ({ devices }: Devices) => devices.filter(({ kind }) => kind === "cuda");

/**
 * p: ranks of the run; mode: that is asked for: auto, paced or free; device: that is asked for: auto, cpu or cuda;
 * Returns "" if the runner did not report it.
 */
export function whereRuns(known: Devices, p: number, mode: string, device = "auto"): string {
  const { state, why, choices } = known;
  if (state === "down" && why) return tr(why);
  if (state !== "ready") return t("The runner is starting; a run waits for it.");
  const choice = choiceFor(known, p);
  if (!choice) return choices.length ? t("{p} ranks are more than the runner here takes.", { p }) : "";
  const gpus = device === "cpu" ? [] : gpusOf(known);
  if (known.engine === "ray" && device === "cuda" && gpus.length < p) {
    return t("On a cluster every rank has a GPU of its own; there are {gpus} for {p} ranks.", { gpus: gpus.length, p });
  }
  if (gpus.length && gpus.length < p && (device === "cuda" || choice.device === "cuda")) {
    return t("{gpus} × {name} shared by {p} ranks, threads of one process: {mode}", {
      gpus: gpus.length,
      name: gpus[0].name ?? "GPU",
      p,
      mode: shared(mode),
    });
  }
  if (choice.device === "cuda" && device !== "cpu") {
    return t("{gpus} × {name} for {p} ranks: {mode}", {
      gpus: gpus.length,
      name: gpus[0]?.name ?? "GPU",
      p,
      mode: reason(mode, true),
    });
  }
  const cores = coresOf(known);
  const have =
    cores === 1
      ? t("1 CPU core for {p} ranks: {mode}", { p, mode: reason(mode, p <= cores) })
      : t("{cores} CPU cores for {p} ranks: {mode}", { cores, p, mode: reason(mode, p <= cores) });
  return gpus.length
    ? t("Fewer GPUs ({gpus}) than ranks, so on the CPU.", { gpus: gpus.length }) + t(" ") + have
    : have;
}

/** mode: of ranks that share a GPU. */
function shared(mode: string) {
  if (mode === "free") return t("free, as chosen; ranks that share a GPU hold each other up.");
  return mode === "paced"
    ? t("paced, as chosen; each op is held to its planned time.")
    : t("paced, since ranks that share a GPU would hold each other up.");
}

/** own: every rank has a core or GPU of its own. */
function reason(mode: string, own: boolean) {
  if (mode === "paced") return t("paced, as chosen; each op is held to its planned time.");
  if (mode === "free")
    return own
      ? t("free, as chosen; each rank has its own.")
      : t("free, as chosen; ranks that share a core hold each other up.");
  return own
    ? t("free, since each rank has its own.")
    : t("paced, since ranks that share a core would hold each other up.");
}
