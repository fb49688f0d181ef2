// The buttons along the top: compare, shortcuts, run.
import { byId, h, hasServer, show } from "../ui/dom.ts";
import { runLabel } from "../data/runs/run_place.ts";
import { moveTo } from "../data/spec_fields.ts";
import { t } from "../core/i18n/language.ts";
import { IDS } from "../core/state/schedules.ts";
import type { Plans } from "../data/plans.ts";
import type { Store } from "../data/store.ts";

/** The family to compare each with first. */
const COUNTERPARTS: Record<string, string> = {
  gpipe: "1f1b",
  "1f1b": "gpipe",
  interleaved: "1f1b",
  "interleaved-zb": "interleaved",
  "zb-h1": "1f1b",
  "zb-h2": "zb-h1",
  chimera: "1f1b",
  "chimera-auto": "dualpipe",
  dualpipe: "1f1b",
  dualpipev: "1f1b",
};
/** Those to add after it, in this order. */
const NEXT = ["zb-h1", "interleaved", "v-half", "dualpipev", "gpipe"];

type Parts = {
  store: Store;
  plans: Plans;
  controls: { edit: (at: number) => void };
  runs: { start: () => void; isLive: () => boolean; look: () => void }; // look: finds out whether one can start
  showShortcuts: () => void;
  openImport: () => void;
};

/** A label, and a shorter one for phones: the style sheet shows one of them. */
const inTwoWidths = (wide: string, narrow: string) => [h("span.wide", wide), h("span.narrow", narrow)];

export function createToolbar({ store, plans: { families }, controls, runs, showShortcuts, openImport }: Parts) {
  const compare = byId("compare-toggle") as HTMLButtonElement;
  const run = byId("run") as HTMLButtonElement;
  let shown = null as string | null; // the status in its present label
  let forbidden = ""; // why no run can be started

  /** Add a schedule below the others: the counterpart of the first, else one that is not there yet. */
  function addSchedule() {
    const { spec, others } = store.get();
    if (others.length === IDS.length - 1) return; // the button that says so keeps the focus
    const present = [spec, ...others].map((each) => each.family);
    const name = [COUNTERPARTS[spec.family] ?? "1f1b", ...NEXT].find((each) => !present.includes(each)) ?? "1f1b";
    const added = families.find((family) => family.name === name) ?? families[0];
    store.set({ others: [...others, moveTo(spec, null, added)] }, "push");
    controls.edit(others.length + 1);
  }

  compare.addEventListener("click", addSchedule);
  byId("open").addEventListener("click", openImport);
  byId("help").addEventListener("click", showShortcuts);
  for (const event of ["pointerenter", "focus"]) run.addEventListener(event, () => runs.look(), { once: true });
  run.addEventListener("click", () => {
    if (runs.isLive()) store.setView({ tab: "run" });
    else if (shown !== "starting") runs.start();
  });

  function sync() {
    const full = store.get().others.length === IDS.length - 1;
    compare.ariaDisabled = full ? "true" : null;
    compare.title = full ? t("At most four schedules fit on one screen") : t("Add a schedule to compare");
  }
  store.subscribe(sync);
  sync();
  show(run, hasServer);
  labelRun(null);
  run.title = runLabel();

  return {
    addSchedule,
    /** why: no run can be started, "" if one can. */
    forbidRun(why: string) {
      run.title = why || runLabel();
      forbidden = why;
      syncRun();
    },
    /** status: of the runs: "starting", "live", or null while nothing runs. */
    showRun(status: string | null) {
      if (status === shown) return;
      shown = status;
      labelRun(status);
      syncRun();
    },
  };

  /** It keeps the focus, and a click where no run can be started opens the tab with the reason. */
  function syncRun() {
    const unable = shown === "starting" || (forbidden !== "" && shown !== "live");
    run.ariaDisabled = unable ? "true" : null;
  }

  function labelRun(status: string | null) {
    if (status === "starting") run.replaceChildren(...inTwoWidths(t("Starting …"), "…"));
    else run.replaceChildren(...inTwoWidths(status ? t("Show the run") : runLabel(), t("Run")));
  }
}
