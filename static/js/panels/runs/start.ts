// Starts runs: of the schedule on the screen, or of all of them, one after the other on the same workers; and the words
// for a run that could not be started or shown.
import { Offline, Refusal } from "../../data/api.ts";
import { t, tr } from "../../core/i18n/language.ts";
import { startRun, type ChosenOptions } from "../../data/runs/client.ts";
import type { Spec } from "../../core/schedule/types.ts";

/** A schedule, one of several, that was refused. */
export type Refused = { spec: Spec; why: string };
type Parts = {
  options: () => ChosenOptions;
  busy: (starting: boolean) => void;
  started: (ids: string[]) => void; // these are queued, in this order
  failed: (problem: unknown) => void;
};
/** instead: the nearest legal value of an option, or of a field of the schedule. */
type ProblemText = { text: string; hint: string; instead: { [option: string]: unknown } | null };

export function createStarter({ options, busy, started, failed }: Parts) {
  let starting = false;
  let refused: Refused[] = [];

  /** Of several schedules, one that is refused does not keep the others from running. */
  async function startOne(spec: Spec, several: boolean) {
    try {
      return (await startRun(spec, options())).id;
    } catch (problem) {
      if (!several || !(problem instanceof Refusal)) throw problem;
      refused.push({ spec, why: tr(problem) });
      return null;
    }
  }

  return {
    /** The schedules of the last start that were refused. */
    refused: () => refused,
    async start(specs: Spec[]) {
      if (starting) return;
      starting = true;
      refused = [];
      busy(true);
      const ids: string[] = [];
      try {
        for (const spec of specs) {
          const id = await startOne(spec, specs.length > 1);
          if (id) ids.push(id);
        }
        if (!ids.length) throw new Error(refused[0].why);
        started(ids);
      } catch (problem) {
        failed(problem);
      } finally {
        starting = false;
        busy(false);
      }
    },
  };
}

/** options: of a run, by name; spec: its schedule. */
export function problemText(problem: unknown, options: object, spec: Spec): ProblemText {
  if (problem instanceof Offline) {
    return {
      text: t("The server does not answer, so the run cannot be shown."),
      hint: t("The plan above needs no server; try again in a moment."),
      instead: null,
    };
  }
  if (problem instanceof Refusal && problem.status === 404) {
    return {
      text: t("There is no run of that name here."),
      hint: t("Runs are stored for a while; an old link may outlive its run."),
      instead: null,
    };
  }
  if (!(problem instanceof Refusal)) {
    const text = problem instanceof Error ? problem.message : String(problem);
    return { text, hint: "", instead: null };
  }
  const { field, nearest } = problem.error;
  const known = field in options || field in spec || field in spec.costs;
  const instead = nearest !== undefined && nearest !== null && known ? { [field]: nearest } : null;
  return { text: tr(problem), hint: "", instead };
}
